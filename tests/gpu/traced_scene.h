// A scene of instanced triangle meshes for tests of traversal: on the device as the tracer has it, and as triangles in
// world space.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpu/acceleration.h"
#include "support/gpu_fixture.h"
#include "trace/compute_bvh.h"

namespace tandem::test {

using glm::dvec3;

// The layouts of traversal_test.comp.
struct Ray {
  vec3 origin;
  float tMin = 0.0f;
  vec3 direction;
  float tMax = 1e30f;
};
struct Result {
  float t;
  uint32_t instance;
  uint32_t primitive;
  uint32_t flags;
  vec2 barycentrics;
  bool hit() const { return flags & 1u; }
  bool blocked() const { return flags & 2u; }
};

struct TestMesh {
  std::vector<vec3> positions;
  std::vector<uint32_t> indices;
};

struct Placed {
  uint32_t mesh = 0;
  mat4 objectToWorld{1.0f};
  bool alphaTested = false;
};

/// Meshes and their places, on the device, in Embree, and as triangles in world space to argue about. On a device with
/// ray-tracing pipelines those trace the rays, on others our own traversal.
class TracedScene {
 public:
  TracedScene(gpu::Device& device, std::vector<TestMesh> meshes, std::vector<Placed> placed)
      : device_(device), meshes_(std::move(meshes)), placed_(std::move(placed)) {
    std::vector<trace::MeshTree> trees;
    for (const TestMesh& mesh : meshes_) {
      trees.push_back(trace::buildMeshTree(mesh.positions, mesh.indices));
      trace::MeshTree uploaded = trees.back();
      // There is no buffer of 0 bytes; nothing leads to these.
      if (uploaded.nodes.empty()) uploaded.nodes.push_back({});
      if (uploaded.triangles.empty()) uploaded.triangles.push_back({});
      nodes_.push_back(upload(device, uploaded.nodes, "nodes"));
      triangles_.push_back(upload(device, uploaded.triangles, "triangles"));
    }
    std::vector<Bounds> bounds;
    std::vector<shared::BvhInstance> instances;
    for (const Placed& p : placed_) {
      bounds.push_back(trace::placedBounds(trees[p.mesh].bounds, p.objectToWorld));
      instances.push_back(trace::makeInstance(p.objectToWorld, nodes_[p.mesh].address(), triangles_[p.mesh].address(),
                                              p.alphaTested ? shared::kInstanceAlphaTested : 0u));
    }
    const trace::TopTree top = trace::buildTopTree(bounds);
    top_ = upload(device, top.nodes, "top");
    leaves_ = upload(device, top.leaves.empty() ? std::vector<uint32_t>{0} : top.leaves, "leaves");
    if (instances.empty()) instances.emplace_back();
    instances_ = upload(device, instances, "instances");
    shared::BvhScene scene{top_.address(), leaves_.address(), instances_.address(), 0, uint32_t(placed_.size()), 0};
    if (device.rayTracing()) scene.accelerated = accelerate(trees, top.leaves);
    scene_ = upload(device, std::vector<shared::BvhScene>{scene}, "scene");
  }

  std::vector<Result> trace(const std::vector<Ray>& rays) {
    const gpu::Buffer in = upload(device_, rays, "rays");
    const gpu::Buffer out(device_, rays.size() * sizeof(Result), gpu::Memory::Device, "results");
    struct Push {
      uint64_t scene, rays, results;
      uint32_t count, pad;
    };
    const Push push{scene_.address(), in.address(), out.address(), uint32_t(rays.size()), 0};
    static const gpu::RayShaders shaders{"test/traversal_test.rgen", "trace/ray_miss.rmiss", "trace/ray_hit.rchit",
                                         "test/traversal_test.rahit"};
    gpu::runOnce(device_, "traversal test", [&](gpu::Commands& commands) {
      if (device_.rayTracing()) return commands.traceRays(shaders, push, 64, gpu::groupsFor(push.count, 64));
      commands.dispatch("test/traversal_test", push, {gpu::groupsFor(push.count, 64)});
    });
    return download<Result>(device_, out, rays.size());
  }

  dvec3 corner(uint32_t instance, uint32_t primitive, int k) const {
    return dvec3(worldCorner(instance, primitive, k));
  }
  vec3 worldCorner(uint32_t instance, uint32_t primitive, int k) const {
    const TestMesh& mesh = meshes_[placed_[instance].mesh];
    const glm::dvec4 point(dvec3(mesh.positions[mesh.indices[3 * primitive + k]]), 1.0);
    return vec3(dvec3(glm::dmat4(placed_[instance].objectToWorld) * point));
  }
  uint32_t instances() const { return uint32_t(placed_.size()); }
  uint32_t triangles(uint32_t instance) const { return uint32_t(meshes_[placed_[instance].mesh].indices.size() / 3); }
  bool alphaTested(uint32_t instance) const { return placed_[instance].alphaTested; }

 private:
  /// The address of the top level over those that the top tree holds.
  uint64_t accelerate(const std::vector<trace::MeshTree>& trees, const std::vector<uint32_t>& leaves) {
    std::vector<gpu::TriangleInput> inputs;
    for (size_t i = 0; i < meshes_.size(); i++) {
      const bool usable = !trees[i].nodes.empty();
      corners_.push_back(upload(device_, usable ? meshes_[i].positions : std::vector<vec3>(1), "corners"));
      indices_.push_back(upload(device_, usable ? meshes_[i].indices : std::vector<uint32_t>(1), "indices"));
      inputs.push_back({corners_.back().address(), sizeof(vec3), meshes_[i].positions.size(), indices_.back().address(),
                        usable ? uint32_t(meshes_[i].indices.size() / 3) : 0});
    }
    bottom_ = gpu::buildBottomLevels(device_, inputs, false, "bottom");
    std::vector<VkAccelerationStructureInstanceKHR> instances;
    for (const uint32_t i : leaves) {
      VkAccelerationStructureInstanceKHR& instance = instances.emplace_back();
      for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++)
          instance.transform.matrix[row][column] = placed_[i].objectToWorld[column][row];
      }
      instance.instanceCustomIndex = i & 0xffffffu;
      instance.mask = 0xff;
      instance.flags = (placed_[i].alphaTested ? VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR
                                               : VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR) &
                       0xffu;
      instance.accelerationStructureReference = bottom_[placed_[i].mesh].address();
    }
    accelerated_ = gpu::TopLevel(device_, uint32_t(instances.size()), "top");
    gpu::runOnce(device_, "top level", [&](gpu::Commands& commands) {
      accelerated_.record(commands, instances);
      commands.barrier();
    });
    return accelerated_.address();
  }

  gpu::Device& device_;
  std::vector<TestMesh> meshes_;
  std::vector<Placed> placed_;
  std::vector<gpu::Buffer> nodes_, triangles_;
  gpu::Buffer top_, leaves_, instances_, scene_;
  std::vector<gpu::Buffer> corners_, indices_;  // these and the rest with ray-tracing pipelines only
  std::vector<gpu::Acceleration> bottom_;
  gpu::TopLevel accelerated_;
};

}  // namespace tandem::test
