#include "scene/deform.h"

#include <algorithm>

#include "scene/mesh_geometry.h"

namespace tandem::scene {

namespace {

/// What one vertex's morph targets add.
struct Offsets {
  vec3 position{0.0f};
  vec3 normal{0.0f};
  vec3 tangent{0.0f};
};

Offsets offsetsOf(const MorphTargets& morphs, size_t vertex, std::span<const float> weights) {
  Offsets sum;
  for (uint32_t i = morphs.starts[vertex]; i < morphs.starts[vertex + 1]; ++i) {
    const shared::MorphDelta& delta = morphs.deltas[i];
    const float weight = weights[delta.target];
    sum.position += weight * delta.position;
    sum.normal += weight * delta.normal;
    sum.tangent += weight * delta.tangent;
  }
  return sum;
}

/// The mean of the matrices that pull at a vertex.
mat4 skinMatrix(const SkinBinding& binding, size_t vertex, std::span<const mat4> joints) {
  mat4 sum(0.0f);
  for (size_t k = 0; k < binding.influences; ++k) {
    const size_t at = vertex * binding.influences + k;
    if (binding.weights[at] > 0.0f) sum += binding.weights[at] * joints[binding.joints[at]];
  }
  return sum;
}

/// Unit length; `otherwise` where that cannot be.
vec3 unit(vec3 v, vec3 otherwise) {
  const float length = glm::length(v);
  return length > 0.0f && length < 1e30f ? v / length : otherwise;
}

/// Normals turn with the cofactors of a matrix: its transposed inverse, up to a factor that may be 0 or negative.
vec3 turnNormal(const mat3& m, vec3 n) {
  return glm::cross(m[1], m[2]) * n.x + glm::cross(m[2], m[0]) * n.y + glm::cross(m[0], m[1]) * n.z;
}

/// What deforms a mesh at a node in a pose.
struct Pull {
  std::vector<mat4> joints;
  std::vector<float> weights;
};

Pull pullOf(const Scene& scene, uint32_t node, uint32_t mesh, const Pose& pose) {
  Pull pull;
  if (isSkinned(scene, node, mesh)) pull.joints = jointMatrices(scene.skins[scene.nodes[node].skin], pose);
  pull.weights = morphWeights(pose, node, scene.meshes[mesh].morphs.count);
  return pull;
}

void deformVertex(const Mesh& rest, const Pull& pull, size_t i, Mesh& out) {
  Offsets offsets;
  if (rest.morphs.count > 0) offsets = offsetsOf(rest.morphs, i, pull.weights);
  const mat4 m = pull.joints.empty() ? mat4(1.0f) : skinMatrix(rest.binding, i, pull.joints);
  out.positions[i] = vec3(m * vec4(rest.positions[i] + offsets.position, 1.0f));
  out.normals[i] = unit(turnNormal(mat3(m), rest.normals[i] + offsets.normal), rest.normals[i]);
  if (rest.tangents.empty()) return;
  const vec3 along = mat3(m) * (vec3(rest.tangents[i]) + offsets.tangent);
  out.tangents[i] = vec4(unit(along, vec3(rest.tangents[i])), rest.tangents[i].w);
}

}  // namespace

bool isSkinned(const Scene& scene, uint32_t node, uint32_t mesh) {
  return scene.nodes[node].skin != kNone && scene.meshes[mesh].binding.influences > 0;
}

bool deforms(const Scene& scene, uint32_t node, uint32_t mesh) {
  if (isSkinned(scene, node, mesh)) return true;
  if (scene.meshes[mesh].morphs.count == 0) return false;
  const std::vector<float>& weights = scene.nodes[node].weights;
  if (std::ranges::any_of(weights, [](float w) { return w != 0.0f; })) return true;
  return std::ranges::any_of(scene.animations, [&](const Animation& animation) {
    return std::ranges::any_of(animation.channels, [&](const Channel& channel) {
      return channel.node == node && channel.path == AnimatedPath::Weights;
    });
  });
}

std::vector<mat4> jointMatrices(const Skin& skin, const Pose& pose) {
  std::vector<mat4> matrices;
  matrices.reserve(skin.joints.size());
  for (size_t j = 0; j < skin.joints.size(); ++j) {
    const mat4 world = skin.joints[j] == kNone ? mat4(1.0f) : pose.world[skin.joints[j]];
    matrices.push_back(world * skin.inverseBind[j]);
  }
  return matrices;
}

std::vector<float> morphWeights(const Pose& pose, uint32_t node, uint32_t count) {
  std::vector<float> weights;
  if (!pose.weights.empty()) weights = pose.weights[node];
  weights.resize(count, 0.0f);
  return weights;
}

std::vector<vec3> deformedPositions(const Scene& scene, uint32_t node, uint32_t mesh, const Pose& pose) {
  const Mesh& rest = scene.meshes[mesh];
  const Pull pull = pullOf(scene, node, mesh, pose);
  std::vector<vec3> positions = rest.positions;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (rest.morphs.count > 0) positions[i] += offsetsOf(rest.morphs, i, pull.weights).position;
    if (!pull.joints.empty()) positions[i] = vec3(skinMatrix(rest.binding, i, pull.joints) * vec4(positions[i], 1.0f));
  }
  return positions;
}

Mesh deformedMesh(const Scene& scene, uint32_t node, uint32_t mesh, const Pose& pose) {
  const Mesh& rest = scene.meshes[mesh];
  const Pull pull = pullOf(scene, node, mesh, pose);
  Mesh out = rest;
  out.binding = {};
  out.morphs = {};
  for (size_t i = 0; i < rest.positions.size(); ++i) deformVertex(rest, pull, i, out);
  if (rest.flat) makeFlatNormals(out);
  return out;
}

}  // namespace tandem::scene
