#include "scene/mesh_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/gtc/type_precision.hpp>

namespace tandem::scene {

namespace {

using glm::dvec3;

bool isFinite(vec3 v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

bool isUsable(vec3 p) {
  constexpr float kFarthest = 1e18f;
  return std::abs(p.x) <= kFarthest && std::abs(p.y) <= kFarthest && std::abs(p.z) <= kFarthest;
}

/// In double: the squares of tiny triangles would vanish in float.
dvec3 areaNormal(const Mesh& mesh, size_t triangle) {
  const dvec3 a(mesh.positions[mesh.indices[3 * triangle]]);
  const dvec3 b(mesh.positions[mesh.indices[3 * triangle + 1]]);
  const dvec3 c(mesh.positions[mesh.indices[3 * triangle + 2]]);
  return glm::cross(b - a, c - a);
}

vec3 faceNormal(const Mesh& mesh, size_t triangle) { return vec3(glm::normalize(areaNormal(mesh, triangle))); }

/// Some unit vector at a right angle to a unit vector. Duff et al., "Building an Orthonormal Basis, Revisited", JCGT
/// 6(1), 2017.
vec3 anyTangent(vec3 n) {
  const float sign = std::copysign(1.0f, n.z);
  const float a = -1.0f / (sign + n.z);
  return vec3(1.0f + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x);
}

template <class T>
void unweld(std::vector<T>& attribute, const std::vector<uint32_t>& indices) {
  if (attribute.empty()) return;
  std::vector<T> corners;
  corners.reserve(indices.size());
  for (const uint32_t index : indices) corners.push_back(attribute[index]);
  attribute = std::move(corners);
}

void unweld(SkinBinding& binding, const std::vector<uint32_t>& indices) {
  if (binding.influences == 0) return;
  SkinBinding corners{binding.influences, {}, {}, binding.leastJoints};
  for (const uint32_t index : indices) {
    const auto first = static_cast<std::ptrdiff_t>(size_t{index} * binding.influences);
    const std::ptrdiff_t end = first + binding.influences;
    corners.joints.insert(corners.joints.end(), binding.joints.begin() + first, binding.joints.begin() + end);
    corners.weights.insert(corners.weights.end(), binding.weights.begin() + first, binding.weights.begin() + end);
  }
  binding = std::move(corners);
}

void unweld(MorphTargets& morphs, const std::vector<uint32_t>& indices) {
  if (morphs.count == 0) return;
  MorphTargets corners{morphs.count, {0}, {}};
  for (const uint32_t index : indices) {
    corners.deltas.insert(corners.deltas.end(), morphs.deltas.begin() + morphs.starts[index],
                          morphs.deltas.begin() + morphs.starts[index + 1]);
    corners.starts.push_back(static_cast<uint32_t>(corners.deltas.size()));
  }
  morphs = std::move(corners);
}

/// A texture coordinate as KHR_texture_transform moves it: uv' = T * R * S * uv.
vec2 moveUv(const TextureUse& use, vec2 uv) {
  const vec2 scaled = uv * use.scale;
  const float c = std::cos(use.rotation);
  const float s = std::sin(use.rotation);
  return use.offset + vec2(c * scaled.x + s * scaled.y, -s * scaled.x + c * scaled.y);
}

}  // namespace

size_t dropUnusableTriangles(Mesh& mesh) {
  const auto firstGood = std::find_if(mesh.positions.begin(), mesh.positions.end(), isUsable);
  const vec3 standIn = firstGood != mesh.positions.end() ? *firstGood : vec3(0.0f);
  size_t dropped = 0;
  size_t kept = 0;
  for (size_t i = 0; i < mesh.indices.size() / 3; ++i) {
    const std::array<uint32_t, 3> corners{mesh.indices[3 * i], mesh.indices[3 * i + 1], mesh.indices[3 * i + 2]};
    const bool usable =
        std::all_of(corners.begin(), corners.end(), [&](uint32_t c) { return isUsable(mesh.positions[c]); });
    if (!usable) ++dropped;
    if (!usable || areaNormal(mesh, i) == dvec3(0.0)) continue;
    std::copy(corners.begin(), corners.end(), mesh.indices.begin() + static_cast<std::ptrdiff_t>(3 * kept));
    ++kept;
  }
  mesh.indices.resize(3 * kept);
  for (vec3& position : mesh.positions) {
    if (!isUsable(position)) position = standIn;
  }
  return dropped;
}

void makeFlatNormals(Mesh& mesh) {
  unweld(mesh.positions, mesh.indices);
  unweld(mesh.tangents, mesh.indices);
  unweld(mesh.uv0, mesh.indices);
  unweld(mesh.uv1, mesh.indices);
  unweld(mesh.colors, mesh.indices);
  unweld(mesh.binding, mesh.indices);
  unweld(mesh.morphs, mesh.indices);
  mesh.flat = true;
  for (size_t i = 0; i < mesh.indices.size(); ++i) mesh.indices[i] = static_cast<uint32_t>(i);
  mesh.normals.clear();
  mesh.normals.reserve(mesh.indices.size());
  for (size_t i = 0; i < mesh.indices.size() / 3; ++i) mesh.normals.insert(mesh.normals.end(), 3, faceNormal(mesh, i));
}

size_t repairNormals(Mesh& mesh) {
  std::vector<bool> bad(mesh.normals.size(), false);
  size_t count = 0;
  for (size_t i = 0; i < mesh.normals.size(); ++i) {
    const float length = isFinite(mesh.normals[i]) ? glm::length(mesh.normals[i]) : 0.0f;
    if (length > 1e-20f && std::isfinite(length)) {
      mesh.normals[i] /= length;
    } else {
      bad[i] = true;
      mesh.normals[i] = vec3(0.0f);
      ++count;
    }
  }
  if (count == 0) return 0;
  for (size_t i = 0; i < mesh.indices.size(); ++i) {
    if (bad[mesh.indices[i]]) mesh.normals[mesh.indices[i]] += faceNormal(mesh, i / 3);
  }
  for (size_t i = 0; i < mesh.normals.size(); ++i) {
    if (!bad[i]) continue;
    const float length = glm::length(mesh.normals[i]);
    mesh.normals[i] = length > 1e-6f ? mesh.normals[i] / length : vec3(0.0f, 1.0f, 0.0f);
  }
  return count;
}

void makeTangents(Mesh& mesh, const TextureUse& use) {
  const std::vector<vec2>& uv = use.uvSet == 0 ? mesh.uv0 : mesh.uv1;
  mesh.tangents.assign(mesh.positions.size(), vec4(0.0f));
  if (uv.empty()) return;
  for (size_t i = 0; i < mesh.indices.size(); i += 3) {
    const uint32_t* corner = &mesh.indices[i];
    const vec3 e1 = mesh.positions[corner[1]] - mesh.positions[corner[0]];
    const vec3 e2 = mesh.positions[corner[2]] - mesh.positions[corner[0]];
    const vec2 origin = moveUv(use, uv[corner[0]]);
    const vec2 d1 = moveUv(use, uv[corner[1]]) - origin;
    const vec2 d2 = moveUv(use, uv[corner[2]]) - origin;
    const float determinant = d1.x * d2.y - d2.x * d1.y;
    const float sign = determinant < 0.0f ? -1.0f : 1.0f;
    const vec3 along = sign * (e1 * d2.y - e2 * d1.y);
    const float length = glm::length(along);
    if (!(length > 0.0f) || !std::isfinite(length) || determinant == 0.0f) continue;
    for (size_t k = 0; k < 3; ++k) {
      const vec3 p = mesh.positions[corner[k]];
      const vec3 a = glm::normalize(mesh.positions[corner[(k + 1) % 3]] - p);
      const vec3 b = glm::normalize(mesh.positions[corner[(k + 2) % 3]] - p);
      const float angle = std::acos(std::clamp(glm::dot(a, b), -1.0f, 1.0f));
      // glTF's v runs down the picture, its tangent space's bitangent up: cross(normal, tangent) * w points towards -v.
      if (std::isfinite(angle)) mesh.tangents[corner[k]] += angle * vec4(along / length, -sign);
    }
  }
}

size_t repairTangents(Mesh& mesh) {
  size_t count = 0;
  for (size_t i = 0; i < mesh.tangents.size(); ++i) {
    vec4& tangent = mesh.tangents[i];
    const vec3 normal = mesh.normals[i];
    const vec3 given = isFinite(vec3(tangent)) ? vec3(tangent) : vec3(0.0f);
    const float length = glm::length(given);
    const vec3 flat = length > 0.0f ? given / length - normal * glm::dot(normal, given / length) : vec3(0.0f);
    const float flatLength = glm::length(flat);
    const bool usable = std::isfinite(length) && flatLength > 1e-4f;
    if (!usable) ++count;
    tangent = vec4(usable ? flat / flatLength : anyTangent(normal), tangent.w < 0.0f ? -1.0f : 1.0f);
  }
  return count;
}

}  // namespace tandem::scene
