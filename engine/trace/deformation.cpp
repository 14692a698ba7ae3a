#include "trace/deformation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "scene/deform.h"

namespace tandem::trace {

namespace {

bool isLeaf(uint32_t reference) { return (reference & shared::kLeafBit) != 0; }

shared::JointMatrix rowsOf(const mat4& m) {
  const auto row = [&](int i) { return vec4(m[0][i], m[1][i], m[2][i], m[3][i]); };
  return {row(0), row(1), row(2)};
}

vec3 moved(const shared::JointMatrix& m, vec3 point) {
  const vec4 p(point, 1.0f);
  return {glm::dot(m.row0, p), glm::dot(m.row1, p), glm::dot(m.row2, p)};
}

/// Boxes of the resting vertices, by the joints that pull at them.
std::vector<Bounds> jointBoxes(const scene::Mesh& mesh, size_t joints) {
  std::vector<Bounds> boxes(std::max<size_t>(joints, 1));
  for (size_t v = 0; v < mesh.positions.size(); v++) {
    if (joints == 0) {
      boxes[0].add(mesh.positions[v]);
      continue;
    }
    for (size_t k = v * mesh.binding.influences; k < (v + 1) * mesh.binding.influences; k++) {
      if (mesh.binding.weights[k] > 0.0f) boxes[mesh.binding.joints[k]].add(mesh.positions[v]);
    }
  }
  return boxes;
}

std::vector<Bounds> targetBoxes(const scene::MorphTargets& morphs) {
  std::vector<Bounds> boxes(morphs.count);
  for (Bounds& box : boxes) box.add(vec3(0.0f));  // vertices that a target leaves alone
  for (const shared::MorphDelta& delta : morphs.deltas) boxes[delta.target].add(delta.position);
  return boxes;
}

/// A box with the offsets of all targets added.
Bounds pulled(const Bounds& box, const std::vector<Bounds>& targets, std::span<const float> weights) {
  Bounds sum = box;
  for (size_t t = 0; t < targets.size(); t++) {
    const vec3 a = weights[t] * targets[t].min, b = weights[t] * targets[t].max;
    sum.min += glm::min(a, b);
    sum.max += glm::max(a, b);
  }
  return sum;
}

/// Adds a box's corners, moved. What is no number counts as everywhere.
void addMoved(const Bounds& box, const shared::JointMatrix& m, Bounds& all) {
  for (int corner = 0; corner < 8; corner++) {
    const vec3 p = moved(m, {corner & 1 ? box.max.x : box.min.x, corner & 2 ? box.max.y : box.min.y,
                             corner & 4 ? box.max.z : box.min.z});
    if (std::isfinite(p.x + p.y + p.z)) {
      all.add(p);
    } else {
      all.add(vec3(kLargestCoordinate));
      all.add(vec3(-kLargestCoordinate));
    }
  }
}

bool sameTimes(const auto* values, size_t count) {
  const auto equal = [](const auto& a, const auto& b) {
    if constexpr (requires { a.row0; }) {
      return a.row0 == b.row0 && a.row1 == b.row1 && a.row2 == b.row2;
    } else {
      return a == b;
    }
  };
  return std::equal(values, values + count, values + count, equal) &&
         std::equal(values, values + count, values + 2 * count, equal);
}

/// Whether a matrix turns what it moves inside out.
bool turnsOver(const shared::JointMatrix& m) {
  return glm::dot(glm::cross(vec3(m.row0), vec3(m.row1)), vec3(m.row2)) < 0.0f;
}

}  // namespace

RefitOrder refitOrder(std::span<const shared::BvhNode> nodes) {
  std::vector<uint32_t> heights(nodes.size(), 0);
  std::vector<uint32_t> counts;
  for (size_t i = nodes.size(); i-- > 0;) {  // children first
    for (const uint32_t child : {nodes[i].child0, nodes[i].child1}) {
      if (!isLeaf(child)) heights[i] = std::max(heights[i], heights[child] + 1);
    }
    if (heights[i] >= counts.size()) counts.resize(heights[i] + 1, 0);
    counts[heights[i]]++;
  }
  RefitOrder order;
  order.levels.assign(1, 0);
  for (const uint32_t count : counts) order.levels.push_back(order.levels.back() + count);
  order.nodes.resize(nodes.size());
  std::vector<uint32_t> next(order.levels.begin(), order.levels.end() - 1);
  for (uint32_t i = 0; i < nodes.size(); i++) order.nodes[next[heights[i]]++] = i;
  for (uint32_t level = 0; level < counts.size(); level++) {
    if (counts[level] > kRefitTailNodes) order.tail = level + 1;
  }
  return order;
}

DeformingMesh makeDeformingMesh(const scene::Scene& scene, uint32_t node, uint32_t mesh) {
  DeformingMesh deforming;
  deforming.mesh = mesh;
  deforming.node = node;
  deforming.skinned = scene::isSkinned(scene, node, mesh);
  if (deforming.skinned)
    deforming.jointCount = static_cast<uint32_t>(scene.skins[scene.nodes[node].skin].joints.size());
  deforming.jointBoxes = jointBoxes(scene.meshes[mesh], deforming.jointCount);
  deforming.targetBoxes = targetBoxes(scene.meshes[mesh].morphs);
  return deforming;
}

std::vector<vec3> topologyPositions(const scene::Scene& scene, const DeformingMesh& mesh, const scene::Pose& atZero) {
  std::vector<vec3> positions = scene::deformedPositions(scene, mesh.node, mesh.mesh, atZero);
  const std::vector<vec3>& rest = scene.meshes[mesh.mesh].positions;
  for (size_t i = 0; i < positions.size(); i++) {
    if (!buildable({positions[i], positions[i]})) positions[i] = rest[i];
  }
  return positions;
}

void placeInFrame(const scene::Scene& scene, std::span<DeformingMesh> meshes) {
  std::map<uint32_t, uint32_t> firstOfSkin;
  uint32_t joints = 0, weights = 0;
  for (DeformingMesh& mesh : meshes) {
    if (mesh.skinned) {
      const auto [place, isNew] = firstOfSkin.try_emplace(scene.nodes[mesh.node].skin, joints);
      mesh.firstJoint = place->second;
      if (isNew) joints += 3 * mesh.jointCount;
    }
    mesh.firstWeight = weights;
    weights += 3 * static_cast<uint32_t>(mesh.targetBoxes.size());
  }
}

FrameDeformation poseDeformation(const scene::Scene& scene, std::span<const DeformingMesh> meshes,
                                 const scene::Pose& centre, const scene::Pose& open, const scene::Pose& close) {
  FrameDeformation frame;
  for (const DeformingMesh& mesh : meshes) {
    const auto targets = static_cast<uint32_t>(mesh.targetBoxes.size());
    const bool newSkin = mesh.skinned && mesh.firstJoint == frame.joints.size();
    for (const scene::Pose* pose : {&centre, &open, &close}) {
      if (newSkin) {
        for (const mat4& m : scene::jointMatrices(scene.skins[scene.nodes[mesh.node].skin], *pose))
          frame.joints.push_back(rowsOf(m));
      }
      const std::vector<float> weights = scene::morphWeights(*pose, mesh.node, targets);
      frame.weights.insert(frame.weights.end(), weights.begin(), weights.end());
    }
    const std::span joints = std::span(frame.joints).subspan(mesh.firstJoint, mesh.jointCount);
    const std::span weights = std::span(frame.weights).subspan(mesh.firstWeight, targets);
    frame.bounds.push_back(deformedBounds(mesh, joints, weights));
    frame.moving.push_back(!sameTimes(joints.data(), joints.size()) || !sameTimes(weights.data(), targets));
    frame.mirrored.push_back(mesh.skinned && turnsOver(joints[0]));
  }
  return frame;
}

Bounds deformedBounds(const DeformingMesh& mesh, std::span<const shared::JointMatrix> joints,
                      std::span<const float> weights) {
  const shared::JointMatrix stays = rowsOf(mat4(1.0f));
  Bounds all;
  for (size_t j = 0; j < mesh.jointBoxes.size(); j++) {
    if (mesh.jointBoxes[j].empty()) continue;
    addMoved(pulled(mesh.jointBoxes[j], mesh.targetBoxes, weights), mesh.skinned ? joints[j] : stays, all);
  }
  if (all.empty()) return all;
  // What the device rounds otherwise.
  const vec3 largest = glm::max(glm::abs(all.min), glm::abs(all.max));
  const vec3 pad(1e-5f * std::max({largest.x, largest.y, largest.z}));
  const vec3 limit(kLargestCoordinate);
  return {glm::clamp(all.min - pad, -limit, limit), glm::clamp(all.max + pad, -limit, limit)};
}

}  // namespace tandem::trace
