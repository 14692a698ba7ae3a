#include "trace/compute_bvh.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"

namespace tandem::trace {
namespace {

/// Leaves of up to four triangles: measured best on a GPU and on 8-wide CPU lanes.
constexpr TreeLimits kMeshLimits{.leafSize = 4, .depth = kMeshTreeDepth};
constexpr TreeLimits kTopLimits{.leafSize = 1, .depth = kTopTreeDepth};
static_assert(kMeshTreeDepth + kTopTreeDepth + 2 <= 64,
              "the traversal's stack has 64 entries: both levels, an end and a marker");

/// From here on Embree's own threads keep all cores busy with one mesh.
constexpr size_t kLargeMesh = 50'000;

struct UsableTriangles {
  std::vector<Bounds> boxes;
  std::vector<uint32_t> primitives;
};

UsableTriangles usableTriangles(std::span<const vec3> positions, std::span<const uint32_t> indices) {
  UsableTriangles usable;
  usable.boxes.reserve(indices.size() / 3);
  usable.primitives.reserve(indices.size() / 3);
  for (uint32_t triangle = 0; triangle < indices.size() / 3; triangle++) {
    const vec3 a = positions[indices[3 * triangle]], b = positions[indices[3 * triangle + 1]],
               c = positions[indices[3 * triangle + 2]];
    // Sums keep a NaN that minimum and maximum would drop.
    if (!std::isfinite(a.x + a.y + a.z + b.x + b.y + b.z + c.x + c.y + c.z)) continue;
    const Bounds box{glm::min(glm::min(a, b), c), glm::max(glm::max(a, b), c)};
    if (!buildable(box)) continue;
    usable.boxes.push_back(box);
    usable.primitives.push_back(triangle);
  }
  return usable;
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

MeshTree buildMeshTree(std::span<const vec3> positions, std::span<const uint32_t> indices) {
  const UsableTriangles usable = usableTriangles(positions, indices);
  BinaryTree built = buildBinaryTree(usable.boxes, kMeshLimits);
  MeshTree tree;
  tree.nodes = std::move(built.nodes);
  tree.triangles.reserve(built.order.size());
  for (uint32_t entry : built.order) {
    const uint32_t primitive = usable.primitives[entry];
    const uint32_t* corner = &indices[3 * primitive];
    tree.triangles.push_back({positions[corner[0]], positions[corner[1]], positions[corner[2]], primitive});
  }
  for (const Bounds& box : usable.boxes) {
    tree.bounds.add(box.min);
    tree.bounds.add(box.max);
  }
  return tree;
}

std::vector<MeshTree> buildMeshTrees(std::span<const MeshView> meshes) {
  std::vector<MeshTree> trees(meshes.size());
  std::vector<size_t> small;
  for (size_t i = 0; i < meshes.size(); i++) {
    if (meshes[i].indices.size() / 3 < kLargeMesh) {
      small.push_back(i);
    } else {
      trees[i] = buildMeshTree(meshes[i].positions, meshes[i].indices);
    }
  }
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failureMutex;
  const auto work = [&] {
    try {
      for (size_t k = next++; k < small.size(); k = next++) {
        const MeshView& mesh = meshes[small[k]];
        trees[small[k]] = buildMeshTree(mesh.positions, mesh.indices);
      }
    } catch (...) {
      const std::lock_guard lock(failureMutex);
      failure = std::current_exception();
    }
  };
  const size_t helpers = std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), small.size());
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < helpers; i++) threads.emplace_back(work);
  work();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
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
