// Skins and morph targets: glTF 2.0 sections 3.7.2.2 and 3.7.3.
#include <algorithm>
#include <cmath>
#include <glm/gtc/type_ptr.hpp>
#include <span>

#include "scene/gltf_accessor.h"
#include "scene/gltf_parts.h"

namespace tandem::scene::gltf {

namespace {

/// JOINTS_n and WEIGHTS_n of a primitive.
struct Influences {
  std::vector<vec4> joints;
  std::vector<vec4> weights;
};

Expected<std::vector<vec4>> readAttribute(const Document& document, const tinygltf::Primitive& primitive,
                                          const std::string& where, const std::string& name, Integers integers) {
  const std::string path = fmt::format("{}.attributes.{}", where, name);
  const int index = primitive.attributes.at(name);
  const tinygltf::Accessor& accessor = document.model.accessors[static_cast<size_t>(index)];
  const size_t vertices = document.model.accessors[static_cast<size_t>(primitive.attributes.at("POSITION"))].count;
  if (accessor.count != vertices) {
    return document.no("{}: accessors[{}].count is {}, POSITION's count is {}", path, index, accessor.count, vertices);
  }
  return readVectors<vec4>(document, index, path, integers);
}

/// Nothing where there are none, or only half of them.
Expected<std::optional<Influences>> readInfluences(Document& document, const tinygltf::Primitive& primitive,
                                                   const std::string& where, int set) {
  const std::string jointsName = fmt::format("JOINTS_{}", set), weightsName = fmt::format("WEIGHTS_{}", set);
  const bool hasJoints = primitive.attributes.contains(jointsName);
  const bool hasWeights = primitive.attributes.contains(weightsName);
  if (hasJoints != hasWeights) {
    document.warnings.add(fmt::format("{} and {} belong together: one alone was ignored", jointsName, weightsName),
                          where);
  }
  if (!hasJoints || !hasWeights) return std::optional<Influences>();
  const int index = primitive.attributes.at(jointsName);
  const tinygltf::Accessor& accessor = document.model.accessors[static_cast<size_t>(index)];
  if ((accessor.componentType != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE &&
       accessor.componentType != TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT) ||
      accessor.normalized) {
    return document.no("{}.attributes.{}: accessors[{}] must hold plain unsigned integers of 8 or 16 bits", where,
                       jointsName, index);
  }
  auto joints = readAttribute(document, primitive, where, jointsName, Integers::AsSaid);
  if (!joints) return joints.refusal();
  auto weights = readAttribute(document, primitive, where, weightsName, Integers::Normalised);
  if (!weights) return weights.refusal();
  return std::optional(Influences{std::move(*joints), std::move(*weights)});
}

/// What is wrong with the weights of some vertices.
struct WeightFaults {
  size_t broken = 0;  // not finite or negative
  size_t none = 0;    // sum up to nothing
};

/// Makes a vertex's weights sum to 1. Joints that do not pull become the skin's first, which every skin has.
void normaliseVertex(std::span<uint16_t> joints, std::span<float> weights, WeightFaults& faults) {
  double sum = 0.0;
  for (float& weight : weights) {
    if (!(weight >= 0.0f) || !std::isfinite(weight)) {
      weight = 0.0f;
      ++faults.broken;
    }
    sum += static_cast<double>(weight);
  }
  if (!(sum > 0.0)) {
    ++faults.none;
    weights[0] = 1.0f;
    joints[0] = 0;
    sum = 1.0;
  }
  for (size_t k = 0; k < weights.size(); ++k) {
    weights[k] = static_cast<float>(static_cast<double>(weights[k]) / sum);
    if (weights[k] == 0.0f) joints[k] = 0;
  }
}

void append(const Influences& from, size_t vertex, size_t place, SkinBinding& binding) {
  for (int k = 0; k < 4; ++k) {
    const size_t at = vertex * binding.influences + place + static_cast<size_t>(k);
    binding.joints[at] = static_cast<uint16_t>(from.joints[vertex][k]);
    binding.weights[at] = from.weights[vertex][k];
  }
}

bool isFinite(vec3 v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

/// What a target changes, vertex by vertex, as far as the mesh has something to change.
class TargetReader {
 public:
  TargetReader(Document& document, const Mesh& mesh, const std::string& where)
      : document_(document), mesh_(mesh), where_(where) {}

  std::optional<Refusal> read(const std::map<std::string, int>& target, uint32_t number) {
    std::vector<vec3> positions, normals, tangents;
    for (const auto& [name, accessor] : target) {
      std::vector<vec3>* into = name == "POSITION" ? &positions : name == "NORMAL" ? &normals : &tangents;
      if (name != "POSITION" && name != "NORMAL" && name != "TANGENT") {
        document_.warnings.add(fmt::format("morph targets of {} are not supported: ignored", printable(name)), where_);
        continue;
      }
      if ((name == "NORMAL" && mesh_.normals.empty()) || (name == "TANGENT" && mesh_.tangents.empty())) continue;
      auto read = readVectors<vec3>(document_, accessor, fmt::format("{}.targets[{}].{}", where_, number, name));
      if (!read) return read.refusal();
      *into = std::move(*read);
    }
    for (size_t v = 0; v < mesh_.positions.size(); ++v) add(v, number, positions, normals, tangents);
    return std::nullopt;
  }

  /// Sorted by vertex; of one vertex in the order in which the targets were read.
  MorphTargets finish(uint32_t count) {
    if (broken_ > 0) document_.warnings.add("morph targets hold values that are not finite: 0 was used", where_);
    MorphTargets morphs;
    morphs.count = count;
    morphs.starts.assign(mesh_.positions.size() + 1, 0);
    for (const Entry& entry : entries_) ++morphs.starts[entry.vertex + 1];
    for (size_t v = 0; v < mesh_.positions.size(); ++v) morphs.starts[v + 1] += morphs.starts[v];
    morphs.deltas.resize(entries_.size());
    std::vector<uint32_t> next(morphs.starts.begin(), morphs.starts.end() - 1);
    for (const Entry& entry : entries_) morphs.deltas[next[entry.vertex]++] = entry.delta;
    return morphs;
  }

 private:
  struct Entry {
    uint32_t vertex;
    shared::MorphDelta delta;
  };

  vec3 valueOf(const std::vector<vec3>& values, size_t vertex) {
    if (values.empty()) return vec3(0.0f);
    if (isFinite(values[vertex])) return values[vertex];
    ++broken_;
    return vec3(0.0f);
  }

  void add(size_t vertex, uint32_t target, const std::vector<vec3>& positions, const std::vector<vec3>& normals,
           const std::vector<vec3>& tangents) {
    const shared::MorphDelta delta{target, valueOf(positions, vertex), valueOf(normals, vertex),
                                   valueOf(tangents, vertex)};
    const vec3 zero(0.0f);
    if (delta.position == zero && delta.normal == zero && delta.tangent == zero) return;
    entries_.push_back({static_cast<uint32_t>(vertex), delta});
  }

  Document& document_;
  const Mesh& mesh_;
  const std::string& where_;
  std::vector<Entry> entries_;
  size_t broken_ = 0;
};

/// Inverse bind matrices of a skin; identities where the file gives none.
Expected<std::vector<mat4>> readInverseBind(Document& document, size_t index) {
  const tinygltf::Skin& skin = document.model.skins[index];
  std::vector<mat4> matrices(skin.joints.size(), mat4(1.0f));
  if (skin.inverseBindMatrices < 0) return matrices;
  const tinygltf::Accessor& accessor = document.model.accessors[static_cast<size_t>(skin.inverseBindMatrices)];
  if (accessor.type != TINYGLTF_TYPE_MAT4 || accessor.componentType != TINYGLTF_COMPONENT_TYPE_FLOAT) {
    return document.no("skins[{}].inverseBindMatrices: accessors[{}] must hold MAT4 of floats", index,
                       skin.inverseBindMatrices);
  }
  const auto floats = readFloats(document, skin.inverseBindMatrices);
  if (!floats) return floats.refusal();
  for (size_t j = 0; j < matrices.size(); ++j) {
    bool finite = true;
    for (size_t k = 0; k < 16; ++k) finite = finite && std::isfinite((*floats)[16 * j + k]);
    if (!finite) {
      document.warnings.add("inverseBindMatrices holds values that are not finite: the joint got none",
                            fmt::format("skins[{}]", index));
      continue;
    }
    matrices[j] = glm::make_mat4(floats->data() + 16 * j);
    for (int column = 0; column < 4; ++column) matrices[j][column][3] = column == 3 ? 1.0f : 0.0f;
  }
  return matrices;
}

Expected<Skin> readSkin(Document& document, size_t index, const std::vector<uint32_t>& sceneNode) {
  const tinygltf::Skin& source = document.model.skins[index];
  Skin skin;
  skin.name = printable(source.name);
  auto matrices = readInverseBind(document, index);
  if (!matrices) return matrices.refusal();
  skin.inverseBind = std::move(*matrices);
  for (const int joint : source.joints) {
    const uint32_t node = sceneNode[static_cast<size_t>(joint)];
    if (node == kNone) {
      document.warnings.add("a skin's joint is not in the shown scene: what it moves stays at rest",
                            fmt::format("skins[{}].joints: {}", index, joint));
    }
    skin.joints.push_back(node);
  }
  return skin;
}

}  // namespace

std::optional<Refusal> readBinding(Document& document, const tinygltf::Primitive& primitive, const std::string& where,
                                   SkinBinding& binding) {
  auto first = readInfluences(document, primitive, where, 0);
  if (!first) return first.refusal();
  if (!*first) return std::nullopt;
  auto second = readInfluences(document, primitive, where, 1);
  if (!second) return second.refusal();
  if (primitive.attributes.contains("JOINTS_2"))
    document.warnings.add("more than eight joints pull at a vertex: eight were used", where);
  const size_t vertices = (*first)->joints.size();
  binding.influences = *second ? 8 : 4;
  binding.joints.resize(vertices * binding.influences);
  binding.weights.resize(vertices * binding.influences);
  WeightFaults faults;
  for (size_t v = 0; v < vertices; ++v) {
    append(**first, v, 0, binding);
    if (*second) append(**second, v, 4, binding);
    const size_t at = v * binding.influences;
    normaliseVertex(std::span(binding.joints).subspan(at, binding.influences),
                    std::span(binding.weights).subspan(at, binding.influences), faults);
  }
  for (const uint16_t joint : binding.joints) binding.leastJoints = std::max(binding.leastJoints, joint + 1u);
  if (faults.broken > 0)
    document.warnings.add("WEIGHTS_0 or WEIGHTS_1 holds values that are negative or not finite: 0 was used", where);
  if (faults.none > 0)
    document.warnings.add("WEIGHTS_0 of a vertex are all 0: it follows the skin's first joint", where);
  return std::nullopt;
}

std::optional<Refusal> readMorphs(Document& document, const tinygltf::Primitive& primitive, const std::string& where,
                                  uint64_t& budget, Mesh& mesh) {
  if (primitive.targets.empty()) return std::nullopt;
  const uint64_t most = uint64_t{primitive.targets.size()} * mesh.positions.size();
  if (most > budget) {
    return document.no("{}.targets: {} targets of {} vertices are more than can be read", where,
                       primitive.targets.size(), mesh.positions.size());
  }
  budget -= most;
  TargetReader reader(document, mesh, where);
  for (size_t t = 0; t < primitive.targets.size(); ++t) {
    for (const auto& [name, accessor] : primitive.targets[t]) {
      const size_t count = document.model.accessors[static_cast<size_t>(accessor)].count;
      if (count == mesh.positions.size()) continue;
      return document.no("{}.targets[{}].{}: accessors[{}].count is {}, POSITION's count is {}", where, t,
                         printable(name), accessor, count, mesh.positions.size());
    }
    if (auto refusal = reader.read(primitive.targets[t], static_cast<uint32_t>(t))) return refusal;
  }
  mesh.morphs = reader.finish(static_cast<uint32_t>(primitive.targets.size()));
  return std::nullopt;
}

std::optional<Refusal> buildSkins(Document& document, Scene& scene, const std::vector<uint32_t>& sceneNode) {
  scene.skins.resize(document.model.skins.size());
  std::vector<bool> read(scene.skins.size(), false);
  for (Node& node : scene.nodes) {
    if (node.skin == kNone) continue;
    const std::string where = fmt::format("skins[{}]", node.skin);
    if (!read[node.skin]) {
      auto skin = readSkin(document, node.skin, sceneNode);
      if (!skin) return skin.refusal();
      scene.skins[node.skin] = std::move(*skin);
      read[node.skin] = true;
    }
    for (const uint32_t mesh : node.meshes) {
      const SkinBinding& binding = scene.meshes[mesh].binding;
      if (binding.influences == 0) {
        document.warnings.add("a node has a skin and its mesh has no JOINTS_0 and WEIGHTS_0: drawn without", where);
      } else if (binding.leastJoints > scene.skins[node.skin].joints.size()) {
        return document.no("JOINTS_0 of mesh '{}': {} is out of range, {}.joints has {}", scene.meshes[mesh].name,
                           binding.leastJoints - 1, where, scene.skins[node.skin].joints.size());
      }
    }
  }
  return std::nullopt;
}

std::vector<float> morphWeightsOf(Document& document, const tinygltf::Node& node, const std::string& where,
                                  size_t targets) {
  const auto mesh = static_cast<size_t>(node.mesh);
  const bool own = !node.weights.empty();
  const std::vector<double>& given = own ? node.weights : document.model.meshes[mesh].weights;
  if (!given.empty() && given.size() != targets) {
    document.warnings.add(
        "the number of weights is not that of the morph targets: those that are missing are 0",
        fmt::format("{}: {} weights, {} targets", own ? where + ".weights" : fmt::format("meshes[{}].weights", mesh),
                    given.size(), targets));
  }
  std::vector<float> weights(targets, 0.0f);
  for (size_t t = 0; t < std::min(targets, given.size()); ++t)
    weights[t] = static_cast<float>(std::clamp(given[t], -3.0e38, 3.0e38));
  return weights;
}

}  // namespace tandem::scene::gltf
