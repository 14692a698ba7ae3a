#include <algorithm>
#include <cmath>

#include "scene/gltf_accessor.h"
#include "scene/gltf_parts.h"
#include "scene/mesh_geometry.h"

namespace tandem::scene::gltf {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1}
                               << 36;  // all attributes; a file can name the same accessor any number of times

/// The attributes of one primitive, read with their counts checked against POSITION's.
class AttributeReader {
 public:
  AttributeReader(const Document& document, const tinygltf::Primitive& primitive, const std::string& where)
      : document_(document), primitive_(primitive), where_(where) {}

  bool has(const char* name) const { return primitive_.attributes.contains(name); }
  size_t count(const char* name) const { return accessor(name).count; }
  bool isVec3(const char* name) const { return accessor(name).type == TINYGLTF_TYPE_VEC3; }

  /// Fills `out`; leaves it empty where the primitive has no such attribute.
  template <class Vec>
  std::optional<Refusal> read(const char* name, std::vector<Vec>& out, Integers integers = Integers::AsSaid) const {
    if (!has(name)) return std::nullopt;
    const std::string path = fmt::format("{}.attributes.{}", where_, name);
    const int index = primitive_.attributes.at(name);
    if (count(name) != count("POSITION")) {
      return document_.no("{}: accessors[{}].count is {}, POSITION's count is {}", path, index, count(name),
                          count("POSITION"));
    }
    auto values = readVectors<Vec>(document_, index, path, integers);
    if (!values) return values.refusal();
    out = std::move(*values);
    return std::nullopt;
  }

 private:
  const tinygltf::Accessor& accessor(const char* name) const {
    return document_.model.accessors[static_cast<size_t>(primitive_.attributes.at(name))];
  }

  const Document& document_;
  const tinygltf::Primitive& primitive_;
  const std::string& where_;
};

std::optional<Refusal> readColours(const AttributeReader& reader, std::vector<vec4>& colours) {
  if (!reader.has("COLOR_0")) return std::nullopt;
  if (!reader.isVec3("COLOR_0")) return reader.read("COLOR_0", colours, Integers::Normalised);
  std::vector<vec3> rgb;
  if (auto refusal = reader.read("COLOR_0", rgb, Integers::Normalised)) return refusal;
  colours.reserve(rgb.size());
  for (const vec3 c : rgb) colours.push_back(vec4(c, 1.0f));
  return std::nullopt;
}

Expected<Mesh> readAttributes(const Document& document, const tinygltf::Primitive& primitive,
                              const std::string& where) {
  const AttributeReader reader(document, primitive, where);
  Mesh mesh;
  if (auto refusal = reader.read("POSITION", mesh.positions)) return *refusal;
  if (auto refusal = reader.read("NORMAL", mesh.normals)) return *refusal;
  // Without normals the given tangents belong to nothing (glTF 2.0 section 3.7.2.1).
  if (!mesh.normals.empty()) {
    if (auto refusal = reader.read("TANGENT", mesh.tangents)) return *refusal;
  }
  if (auto refusal = reader.read("TEXCOORD_0", mesh.uv0)) return *refusal;
  if (auto refusal = reader.read("TEXCOORD_1", mesh.uv1)) return *refusal;
  if (auto refusal = readColours(reader, mesh.colors)) return *refusal;
  return mesh;
}

/// Values that are not numbers become 0. Returns how many there were.
template <class Vec>
size_t replaceNonFinite(std::vector<Vec>& values) {
  size_t count = 0;
  for (Vec& value : values) {
    for (int i = 0; i < Vec::length(); ++i) {
      if (std::isfinite(value[i])) continue;
      value[i] = 0.0f;
      ++count;
    }
  }
  return count;
}

void repairValues(Document& document, Mesh& mesh, const std::string& where) {
  if (replaceNonFinite(mesh.uv0) > 0)
    document.warnings.add("TEXCOORD_0 holds values that are not finite: 0 was used", where);
  if (replaceNonFinite(mesh.uv1) > 0)
    document.warnings.add("TEXCOORD_1 holds values that are not finite: 0 was used", where);
  if (replaceNonFinite(mesh.colors) > 0)
    document.warnings.add("COLOR_0 holds values that are not finite: 0 was used", where);
  for (vec4& colour : mesh.colors) colour = glm::max(colour, vec4(0.0f));
}

/// Normals always, tangents where a normal map asks for them.
void finishFrames(Document& document, Mesh& mesh, const Material* material, const std::string& where) {
  if (mesh.normals.empty()) {
    makeFlatNormals(mesh);
  } else if (repairNormals(mesh) > 0) {
    document.warnings.add("NORMAL holds vectors that cannot be normalised: the triangles' own were used", where);
  }
  if (material == nullptr || material->normalTexture.texture == kNone) {
    mesh.tangents.clear();
    return;
  }
  const bool given = !mesh.tangents.empty();
  if (!given) makeTangents(mesh, material->normalTexture);
  if (repairTangents(mesh) > 0 && given) {
    document.warnings.add("TANGENT holds vectors that cannot be used: others were made up", where);
  }
}

void noteMissingUvs(Document& document, const Mesh& mesh, const Material& material, const std::string& where) {
  for (const TextureUse* use : {&material.baseColorTexture, &material.metallicRoughnessTexture, &material.normalTexture,
                                &material.emissiveTexture, &material.specularTexture, &material.specularColorTexture}) {
    if (use->texture == kNone || !(use->uvSet == 0 ? mesh.uv0 : mesh.uv1).empty()) continue;
    document.warnings.add(fmt::format("a textured mesh has no TEXCOORD_{}: one texel colours all of it", use->uvSet),
                          where);
  }
}

uint64_t bytesOf(const Mesh& mesh) {
  return mesh.positions.size() * sizeof(vec3) + mesh.normals.size() * sizeof(vec3) +
         mesh.tangents.size() * sizeof(vec4) + (mesh.uv0.size() + mesh.uv1.size()) * sizeof(vec2) +
         mesh.colors.size() * sizeof(vec4) + mesh.indices.size() * sizeof(uint32_t) +
         mesh.binding.joints.size() * (sizeof(uint16_t) + sizeof(float)) +
         mesh.morphs.starts.size() * sizeof(uint32_t) + mesh.morphs.deltas.size() * sizeof(shared::MorphDelta);
}

/// Triangles of a strip or fan of `corners`; every second one of a strip is turned, so that all face the same way.
std::vector<uint32_t> toList(const std::vector<uint32_t>& corners, bool strip) {
  std::vector<uint32_t> list;
  for (size_t i = 0; i + 2 < corners.size(); ++i) {
    if (strip) {
      list.insert(list.end(), {corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]});
    } else {
      list.insert(list.end(), {corners[i + 1], corners[i + 2], corners[0]});
    }
  }
  return list;
}

}  // namespace

Expected<std::vector<uint32_t>> MeshTable::find(int mesh) {
  const auto found = meshes_.find(mesh);
  if (found != meshes_.end()) return found->second;
  const tinygltf::Mesh& source = document_.model.meshes[static_cast<size_t>(mesh)];
  std::vector<uint32_t> indices;
  for (size_t p = 0; p < source.primitives.size(); ++p) {
    const size_t first = scene_.meshes.size();
    if (auto refusal = add(source.primitives[p], fmt::format("meshes[{}].primitives[{}]", mesh, p), indices)) {
      return *refusal;
    }
    if (scene_.meshes.size() > first) scene_.meshes.back().name = printable(source.name);
  }
  meshes_[mesh] = indices;
  return indices;
}

std::optional<Refusal> MeshTable::add(const tinygltf::Primitive& primitive, const std::string& where,
                                      std::vector<uint32_t>& indices) {
  if (primitive.mode < 0 || primitive.mode > TINYGLTF_MODE_TRIANGLE_FAN) {
    return document_.no("{}.mode: {} is not a mode of glTF 2.0", where, primitive.mode);
  }
  if (primitive.mode < TINYGLTF_MODE_TRIANGLES) {
    document_.warnings.add("points and lines are not supported and were left out", where);
    return std::nullopt;
  }
  if (!primitive.attributes.contains("POSITION")) {
    document_.warnings.add("a primitive without POSITION was left out", where);
    return std::nullopt;
  }
  auto mesh = readAttributes(document_, primitive, where);
  if (!mesh) return mesh.refusal();
  const size_t vertices = mesh->positions.size();
  if (auto refusal = readBinding(document_, primitive, where, mesh->binding)) return refusal;
  if (auto refusal = readMorphs(document_, primitive, where, morphBudget_, *mesh)) return refusal;
  auto triangles = readTriangles(document_, primitive, where, vertices);
  if (!triangles) return triangles.refusal();
  mesh->indices = std::move(*triangles);
  if (dropUnusableTriangles(*mesh) > 0) {
    document_.warnings.add("POSITION is not finite or beyond 1e18 m: the triangles there were left out", where);
  }
  if (mesh->indices.empty()) return std::nullopt;

  repairValues(document_, *mesh, where);
  mesh->material = materials_.find(primitive.material);
  const Material* material = mesh->material == kNone ? nullptr : &scene_.materials[mesh->material];
  finishFrames(document_, *mesh, material, where);
  if (material != nullptr) noteMissingUvs(document_, *mesh, *material, where);
  bytes_ += bytesOf(*mesh);
  if (bytes_ > kMaxBytes) return document_.no("{}: the meshes need more than {} GiB", where, kMaxBytes >> 30);
  scene_.meshes.push_back(std::move(*mesh));
  indices.push_back(static_cast<uint32_t>(scene_.meshes.size() - 1));
  return std::nullopt;
}

Expected<std::vector<uint32_t>> readTriangles(Document& document, const tinygltf::Primitive& primitive,
                                              const std::string& where, size_t vertices) {
  std::vector<uint32_t> corners;
  if (primitive.indices >= 0) {
    const std::string path = where + ".indices";
    auto read = readIndices(document, primitive.indices, path);
    if (!read) return read.refusal();
    corners = std::move(*read);
    const uint32_t highest = *std::max_element(corners.begin(), corners.end());
    if (highest >= vertices) {
      return document.no("{}: {} is out of range, POSITION has {} elements", path, highest, vertices);
    }
  } else {
    corners.resize(vertices);
    for (size_t i = 0; i < vertices; ++i) corners[i] = static_cast<uint32_t>(i);
  }
  if (primitive.mode != TINYGLTF_MODE_TRIANGLES) {
    if (corners.size() < 3) document.warnings.add("indices or vertices are too few for a triangle", where);
    return toList(corners, primitive.mode == TINYGLTF_MODE_TRIANGLE_STRIP);
  }
  if (corners.size() % 3 != 0) {
    document.warnings.add("the number of indices or vertices is not a multiple of 3: the rest was left out", where);
    corners.resize(corners.size() / 3 * 3);
  }
  return corners;
}

}  // namespace tandem::scene::gltf
