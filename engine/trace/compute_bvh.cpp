#include "trace/compute_bvh.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "trace/tree_cache.h"

namespace tandem::trace {
namespace {

/// Leaves of up to four triangles: measured best on a GPU and on 8-wide CPU lanes.
constexpr TreeLimits kMeshLimits{.leafSize = 4, .depth = kMeshTreeDepth};
constexpr TreeLimits kTopLimits{.leafSize = 1, .depth = kTopTreeDepth};
static_assert(kMeshTreeDepth + kTopTreeDepth + 2 <= 64,
              "the traversal's stack has 64 entries: both levels, an end and a marker");

/// From here on Embree's own threads keep all cores busy with one mesh.
constexpr size_t kLargeMesh = 50'000;

constexpr size_t kPiece = 65'536;  // triangles that one thread takes at a time

/// The box of one triangle; false where it can't be traced.
bool usableBox(std::span<const vec3> positions, const uint32_t* corner, Bounds& box) {
  const vec3 a = positions[corner[0]], b = positions[corner[1]], c = positions[corner[2]];
  box = {glm::min(glm::min(a, b), c), glm::max(glm::max(a, b), c)};
  // Sums keep a NaN that minimum and maximum would drop.
  return std::isfinite(a.x + a.y + a.z + b.x + b.y + b.z + c.x + c.y + c.z) && buildable(box);
}

/// What a piece of the list has found.
struct PieceResult {
  size_t count = 0;
  Bounds bounds;
};

/// Boxes of the usable triangles, in order: each piece writes from its own start on, then the gaps are closed.
RawVector<TreeBox> usableTriangles(std::span<const vec3> positions, std::span<const uint32_t> indices, Bounds& all) {
  const size_t triangles = indices.size() / 3;
  std::vector<PieceResult> pieces((triangles + kPiece - 1) / kPiece);
  RawVector<TreeBox> boxes(triangles);
  parallelFor(triangles, kPiece, [&](size_t begin, size_t end) {
    PieceResult& piece = pieces[begin / kPiece];
    for (size_t t = begin; t < end; t++) {
      Bounds box;
      if (!usableBox(positions, &indices[3 * t], box)) continue;
      boxes[begin + piece.count++] = {box.min, 0, box.max, static_cast<uint32_t>(t)};
      piece.bounds.add(box.min);
      piece.bounds.add(box.max);
    }
  });
  size_t count = 0;
  for (size_t k = 0; k < pieces.size(); k++) {
    const auto from = boxes.begin() + static_cast<std::ptrdiff_t>(k * kPiece);
    const auto to = boxes.begin() + static_cast<std::ptrdiff_t>(count);
    if (from != to) std::copy_n(from, pieces[k].count, to);  // moved up over what was left out before
    count += pieces[k].count;
    if (pieces[k].count == 0) continue;
    all.add(pieces[k].bounds.min);
    all.add(pieces[k].bounds.max);
  }
  boxes.resize(count);
  return boxes;
}

/// Empty where the inverse would not be finite as floats.
std::optional<glm::dmat4x3> inverseOf(const mat4& objectToWorld) {
  const glm::dmat4x3 inverse = glm::dmat4x3(glm::inverse(glm::dmat4(objectToWorld)));
  for (int column = 0; column < 4; column++) {
    for (int row = 0; row < 3; row++) {
      if (!(std::abs(inverse[column][row]) <= 1e18)) return std::nullopt;
    }
  }
  return inverse;
}

}  // namespace

RawVector<shared::BvhTriangle> gatherTriangles(std::span<const vec3> positions, std::span<const uint32_t> indices,
                                               std::span<const uint32_t> order) {
  RawVector<shared::BvhTriangle> triangles(order.size());
  parallelFor(order.size(), kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      const uint32_t* corner = &indices[3 * size_t{order[i]}];
      triangles[i] = {positions[corner[0]], positions[corner[1]], positions[corner[2]], order[i]};
    }
  });
  return triangles;
}

uint64_t treeVersion() {
  constexpr uint64_t kBuilder = 1;
  return kBuilder << 48 | uint64_t{embreeVersion()} << 16 | kMeshLimits.leafSize << 8 | kMeshLimits.depth;
}

MeshTree buildMeshTree(std::span<const vec3> positions, std::span<const uint32_t> indices) {
  MeshTree tree;
  RawVector<TreeBox> boxes = usableTriangles(positions, indices, tree.bounds);
  if (boxes.size() > kMostEntries) {
    throw adverse("a mesh of {} triangles: at most {} can be traced as one; split it", boxes.size(), kMostEntries);
  }
  BinaryTree built = buildBinaryTree(std::move(boxes), kMeshLimits);
  tree.nodes = std::move(built.nodes);
  tree.triangles = gatherTriangles(positions, indices, built.order);
  return tree;
}

std::vector<MeshTree> buildMeshTrees(std::span<const MeshView> meshes, const TreeCache* cache) {
  std::vector<MeshTree> trees(meshes.size());
  std::vector<size_t> small;
  for (size_t i = 0; i < meshes.size(); i++) {
    if (meshes[i].indices.size() / 3 < kLargeMesh) {
      small.push_back(i);
    } else {
      trees[i] = cache ? cache->treeOf(meshes[i]) : buildMeshTree(meshes[i].positions, meshes[i].indices);
    }
  }
  parallelFor(small.size(), 1, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; k++) {
      const MeshView& mesh = meshes[small[k]];
      trees[small[k]] = buildMeshTree(mesh.positions, mesh.indices);
    }
  });
  return trees;
}

TopTree buildTopTree(std::span<const Bounds> instanceBounds) {
  std::vector<Bounds> boxes;
  std::vector<uint32_t> instances;
  for (uint32_t i = 0; i < instanceBounds.size(); i++) {
    if (!buildable(instanceBounds[i])) continue;
    boxes.push_back(instanceBounds[i]);
    instances.push_back(i);
  }
  if (boxes.size() > kMostInstances) {
    throw adverse("a scene of {} instances: at most {} can be traced; merge some of their meshes", boxes.size(),
                  kMostInstances);
  }
  BinaryTree built = buildBinaryTree(boxes, kTopLimits);
  TopTree tree;
  tree.nodes = std::move(built.nodes);
  if (boxes.empty()) tree.nodes.push_back(emptyNode());
  tree.leaves.reserve(built.order.size());
  for (uint32_t entry : built.order) tree.leaves.push_back(instances[entry]);
  return tree;
}

Bounds placedBounds(const Bounds& object, const mat4& objectToWorld) {
  if (!buildable(object) || !inverseOf(objectToWorld)) return {};
  glm::dvec3 lo(1e300), hi(-1e300);
  for (int corner = 0; corner < 8; corner++) {
    const glm::dvec4 point(corner & 1 ? object.max.x : object.min.x, corner & 2 ? object.max.y : object.min.y,
                           corner & 4 ? object.max.z : object.min.z, 1.0);
    const glm::dvec3 world(glm::dmat4(objectToWorld) * point);
    lo = glm::min(lo, world);
    hi = glm::max(hi, world);
  }
  const glm::dvec3 largest = glm::max(glm::abs(lo), glm::abs(hi));
  const glm::dvec3 pad(1e-6 * std::max({largest.x, largest.y, largest.z}));
  return {vec3(lo - pad), vec3(hi + pad)};
}

shared::BvhInstance makeInstance(const mat4& objectToWorld, uint64_t nodesAddress, uint64_t trianglesAddress,
                                 uint32_t flags) {
  shared::BvhInstance instance{};
  instance.nodes = nodesAddress;
  instance.triangles = trianglesAddress;
  instance.flags = flags;
  if (const auto inverse = inverseOf(objectToWorld)) {
    const glm::dmat3x4 rows = glm::transpose(*inverse);
    instance.worldToObject0 = vec4(rows[0]);
    instance.worldToObject1 = vec4(rows[1]);
    instance.worldToObject2 = vec4(rows[2]);
  }
  return instance;
}

}  // namespace tandem::trace
