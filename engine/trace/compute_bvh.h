// The two-level bounding volume hierarchy that the compute traversal walks (shaders/trace/traversal_bvh.glsl; layout:
// shaders/shared/bvh.h): a tree of triangles per mesh, in object space, built once, and a tree of instances, in world
// space, built every frame.
//
// The same input gives the same trees, bit for bit, on every run and machine of a kind. What can't be hit without
// making NaN is left out: triangles with a corner that is not finite or beyond kLargestCoordinate, and instances whose
// matrix has no finite inverse. Traversal keeps 64 stack entries for both levels, so depths are bounded here:
// kMeshTreeDepth + kTopTreeDepth + 2 <= 64. All functions are free of state and thread-safe. Memory: the caller's
// vectors.
#pragma once

#include <span>
#include <vector>

#include "base/math.h"
#include "base/raw_vector.h"
#include "shaders/shared/bvh.h"
#include "trace/embree_builder.h"

namespace tandem::trace {

class TreeCache;

inline constexpr uint32_t kMeshTreeDepth = 38;
inline constexpr uint32_t kTopTreeDepth = 24;
/// So many fit into kTopTreeDepth levels in any case.
inline constexpr uint64_t kMostInstances = uint64_t{1} << kTopTreeDepth;

/// A mesh's tree. `nodes` is empty where no triangle is usable; then `bounds` is empty, too, and buildTopTree skips its
/// instances.
struct MeshTree {
  RawVector<shared::BvhNode> nodes;          // root at 0; leaf entries index `triangles`
  RawVector<shared::BvhTriangle> triangles;  // in leaf order
  Bounds bounds;                             // object space, of the usable triangles
};

/// `indices`: a triangle list whose values are < positions.size(). Uses all cores for large meshes. Throws AdverseError
/// where more than kMostEntries triangles are usable.
MeshTree buildMeshTree(std::span<const vec3> positions, std::span<const uint32_t> indices);

/// The triangles in leaf order. `order`: values are < indices.size() / 3.
RawVector<shared::BvhTriangle> gatherTriangles(std::span<const vec3> positions, std::span<const uint32_t> indices,
                                               std::span<const uint32_t> order);

/// Of what makes a mesh's tree, beside the mesh: limits, costs, Embree's version, and a number that is raised whenever
/// the same mesh gets another tree. Kept trees are told apart by it.
uint64_t treeVersion();

/// One mesh for buildMeshTrees, as in buildMeshTree.
struct MeshView {
  std::span<const vec3> positions;
  std::span<const uint32_t> indices;
};

/// The trees of many meshes, in their order, on all cores: large meshes one after another, small ones side by side.
/// `cache`: where large ones are looked for first and kept (trace/tree_cache.h); null: nowhere.
std::vector<MeshTree> buildMeshTrees(std::span<const MeshView> meshes, const TreeCache* cache = nullptr);

/// The tree over a frame's instances; `leaves`: the instance of each leaf entry. A leaf holds one instance.
struct TopTree {
  RawVector<shared::BvhNode> nodes;  // never empty: where nothing can be hit there is a root that every ray misses
  std::vector<uint32_t> leaves;
};

/// World-space bounds per instance; those that are empty, not finite or beyond kLargestCoordinate are skipped.
/// Throws AdverseError where more than kMostInstances are left.
TopTree buildTopTree(std::span<const Bounds> instanceBounds);

/// World-space bounds of a mesh placed by `objectToWorld` (affine); empty, and so skipped by buildTopTree, where the
/// mesh's bounds are or where the matrix has no finite inverse. Wider than the truth by the rounding of the ray's way
/// into object space.
Bounds placedBounds(const Bounds& object, const mat4& objectToWorld);

/// An instance as traversal reads it. Where the matrix has no finite inverse, the rows are 0 and nothing leads to it.
shared::BvhInstance makeInstance(const mat4& objectToWorld, uint64_t nodesAddress, uint64_t trianglesAddress,
                                 uint32_t flags);

}  // namespace tandem::trace
