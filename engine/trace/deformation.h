// Meshes whose shape changes from frame to frame (skins, morph targets), as far as the CPU deals with them: trees whose
// topology stays and whose boxes follow (refit), bounds for the tree of instances, matrices and weights of a frame.
//
// A tree's topology is built once, over the shape at the scene's time 0, whatever frame is rendered, so that a captured
// frame depends on scene, settings, frame number and seed alone. Hits do not depend on topology, except for which one
// of several at the same distance is found. All functions are free of state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scene/animation.h"
#include "scene/scene.h"
#include "shaders/shared/deform.h"
#include "trace/compute_bvh.h"

namespace tandem::trace {

/// In which order a tree's nodes take their boxes from their children: by height, those above leaves alone first.
struct RefitOrder {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> levels;  // where each height begins in `nodes`, and the end
  uint32_t tail = 0;             // from this height on no height has more than kRefitTailNodes
};

/// So many nodes a single work group takes at once as quickly as several would.
inline constexpr uint32_t kRefitTailNodes = 1024;

/// `nodes`: as buildMeshTree makes them, children after their parents.
RefitOrder refitOrder(std::span<const shared::BvhNode> nodes);

/// A mesh at a node.
struct DeformingMesh {
  uint32_t mesh = 0;
  uint32_t node = 0;
  bool skinned = false;  // vertices go straight to the world; else to the node's space
  MeshTree tree;
  RefitOrder order;
  std::vector<Bounds> jointBoxes;   // of the resting vertices that each joint pulls at; without a skin, of all
  std::vector<Bounds> targetBoxes;  // of each morph target's offsets, and of none
  uint32_t firstJoint = 0;          // in FrameDeformation::joints, of the first of three times
  uint32_t jointCount = 0;
  uint32_t firstWeight = 0;  // in FrameDeformation::weights
};

/// All but the tree and what follows from it.
DeformingMesh makeDeformingMesh(const scene::Scene& scene, uint32_t node, uint32_t mesh);

/// The shape over which its tree is built: that at time 0, and at rest where that is out of reach.
std::vector<vec3> topologyPositions(const scene::Scene& scene, const DeformingMesh& mesh, const scene::Pose& atZero);

/// Of all deforming meshes in one frame: times are the centre of the shutter, its opening, its closing.
struct FrameDeformation {
  std::vector<shared::JointMatrix> joints;  // per worn skin [3][joints]
  std::vector<float> weights;               // per mesh [3][targets]
  std::vector<Bounds> bounds;               // per mesh, in the space of its vertices, at the centre
  std::vector<uint8_t> moving;              // per mesh: whether the times differ
  std::vector<uint8_t> mirrored;            // per mesh: whether the skin turns it inside out
};

/// Sets firstJoint, jointCount and firstWeight of all: where poseDeformation will put what is theirs.
void placeInFrame(const scene::Scene& scene, std::span<DeformingMesh> meshes);

FrameDeformation poseDeformation(const scene::Scene& scene, std::span<const DeformingMesh> meshes,
                                 const scene::Pose& centre, const scene::Pose& open, const scene::Pose& close);

/// A box around the mesh with these matrices and weights: every vertex is a weighted mean of where its joints bring it,
/// so that the boxes of joints hold all of it. Wider than the truth, never smaller; cut off at kLargestCoordinate,
/// beyond which nothing is drawn.
Bounds deformedBounds(const DeformingMesh& mesh, std::span<const shared::JointMatrix> joints,
                      std::span<const float> weights);

}  // namespace tandem::trace
