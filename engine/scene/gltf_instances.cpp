#include <algorithm>

#include "scene/gltf_accessor.h"
#include "scene/gltf_parts.h"

namespace tandem::scene::gltf {

namespace {

constexpr size_t kMaxNodes = 1'000'000;  // a file can name the same accessor in any number of nodes

/// The accessor of an instance attribute; -1: absent.
int attributeOf(const tinygltf::Value& attributes, const char* name) {
  return attributes.Has(name) ? attributes.Get(name).GetNumberAsInt() : -1;
}

/// Reads an attribute; all of a node's have the same count. Leaves `out` empty where there is none.
template <class Vec>
std::optional<Refusal> readAttribute(Document& document, const tinygltf::Value& attributes, const char* name,
                                     const std::string& where, std::optional<size_t>& count, std::vector<Vec>& out) {
  const int accessor = attributeOf(attributes, name);
  if (accessor < 0) return std::nullopt;
  const std::string path = fmt::format("{}.{}", where, name);
  const size_t length = document.model.accessors[static_cast<size_t>(accessor)].count;
  if (length > kMaxNodes) return document.no("{}: {} instances are more than {}", path, length, kMaxNodes);
  if (count && *count != length) {
    return document.no("{}: accessors[{}].count is {}, another attribute's is {}", path, accessor, length, *count);
  }
  count = length;
  auto values = readVectors<Vec>(document, accessor, path);
  if (!values) return values.refusal();
  out = std::move(*values);
  return std::nullopt;
}

bool isFinite(vec4 v) { return glm::dot(v, v) < 1e37f; }

/// The transform of instance i; false if it makes no sense.
bool setInstance(const std::vector<vec3>& translations, const std::vector<vec4>& rotations,
                 const std::vector<vec3>& scales, size_t i, Node& node) {
  if (!translations.empty()) node.translation = translations[i];
  if (!scales.empty()) node.scale = scales[i];
  const vec4 r = rotations.empty() ? vec4(0, 0, 0, 1) : rotations[i];
  if (!isFinite(r) || !isFinite(vec4(node.translation, 0)) || !isFinite(vec4(node.scale, 0))) return false;
  const float length = glm::length(r);
  if (!(length > 1e-6f)) return false;
  node.rotation = quat(r.w / length, r.x / length, r.y / length, r.z / length);
  return true;
}

}  // namespace

std::optional<Refusal> addInstances(Document& document, const tinygltf::Node& from, const std::string& where,
                                    Scene& scene) {
  const auto extension = from.extensions.find("EXT_mesh_gpu_instancing");
  if (extension == from.extensions.end() || scene.nodes.back().meshes.empty()) return std::nullopt;
  if (scene.nodes.back().skin != kNone) {
    document.warnings.add("instances of a skinned mesh would all be in one place: it is drawn once", where);
    return std::nullopt;
  }
  const tinygltf::Value& attributes = extension->second.Get("attributes");
  const std::string path = where + ".extensions.EXT_mesh_gpu_instancing.attributes";
  std::optional<size_t> count;
  std::vector<vec3> translations;
  std::vector<vec4> rotations;
  std::vector<vec3> scales;
  if (auto no = readAttribute(document, attributes, "TRANSLATION", path, count, translations)) return no;
  if (auto no = readAttribute(document, attributes, "ROTATION", path, count, rotations)) return no;
  if (auto no = readAttribute(document, attributes, "SCALE", path, count, scales)) return no;
  if (!count) return std::nullopt;  // attributes of others only: the mesh is drawn once
  if (*count > kMaxNodes - std::min(kMaxNodes, scene.nodes.size()) ||
      *count > kMaxDrawn / scene.nodes.back().meshes.size()) {
    return document.no("{}: the scene has more than {} nodes and instances", path, kMaxNodes);
  }
  const auto parent = static_cast<uint32_t>(scene.nodes.size() - 1);
  const std::vector<uint32_t> meshes = std::move(scene.nodes.back().meshes);
  scene.nodes.back().meshes.clear();
  for (size_t i = 0; i < *count; ++i) {
    Node instance;
    instance.parent = parent;
    instance.meshes = meshes;
    instance.weights = scene.nodes[parent].weights;
    if (setInstance(translations, rotations, scales, i, instance)) {
      scene.nodes.push_back(std::move(instance));
    } else {
      document.warnings.add("instances whose transform is no number or has no direction were left out", path);
    }
  }
  return std::nullopt;
}

}  // namespace tandem::scene::gltf
