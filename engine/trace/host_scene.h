// The scene made ready for tracing, once, on the CPU: trees, packed vertices, materials, light tables. All devices that
// trace the scene upload from here. Owner: the renderer, together with the scene, which must outlive it (vertex and
// picture data are read from it). Immutable after construction, so that any thread may read it.
#pragma once

#include <span>
#include <vector>

#include "scene/scene.h"
#include "shaders/shared/scene.h"
#include "trace/compute_bvh.h"
#include "trace/deformation.h"
#include "trace/light_table.h"
#include "trace/material_table.h"
#include "trace/static_merge.h"
#include "trace/tree_cache.h"

namespace tandem::trace {

/// A mesh in the form of shared::MeshData. Spans are empty where there is no such attribute.
struct HostMesh {
  Bounds bounds;  // object space, of the finite positions
  MeshTree tree;  // empty where all its instances are merged or deform
  RawVector<shared::MeshVertex> vertices;
  std::span<const uint32_t> indices;
  std::span<const vec2> uv0;
  std::span<const vec2> uv1;
  std::vector<uint32_t> tangents;
  std::vector<glm::uvec2> colors;
  uint32_t material = 0;
};

class HostScene {
 public:
  /// `cache`: where trees of large meshes are kept between runs; null: nowhere.
  explicit HostScene(const scene::Scene& scene, const TreeCache* cache = nullptr);

  const scene::Scene& scene() const { return scene_; }
  const std::vector<HostMesh>& meshes() const { return meshes_; }
  const std::vector<HostInstance>& instances() const { return instances_; }
  /// Trees of merged instances, in world space. They come first among a frame's placements.
  const std::vector<MergedGroup>& merged() const { return merged_; }
  /// Meshes at nodes whose shape changes, with trees of their own. `meshes` holds them at rest.
  const std::vector<DeformingMesh>& deforming() const { return deforming_; }
  const MaterialTable& materials() const { return materials_; }
  const EnvironmentTable& environment() const { return environment_; }
  /// Nodes that carry a punctual light, in order.
  const std::vector<uint32_t>& lightNodes() const { return lightNodes_; }
  /// Triangles of instances whose material emits: at most so many emissive triangles in any frame.
  uint64_t emissiveTriangles() const { return emissiveTriangles_; }
  bool animated() const { return animated_; }
  /// What path_trace.comp must be able to do: kFeature... of shaders/shared/path_trace.h.
  uint32_t features() const { return features_; }
  /// What was left out, because rays could only miss it or never come back from it; said once, as a warning.
  struct LeftOut {
    uint64_t triangles = 0;  // a corner not finite, or farther out than kLargestCoordinate
    uint64_t instances = 0;  // at time 0: scaled to nothing, or their place not finite
  };
  const LeftOut& leftOut() const { return leftOut_; }

 private:
  void addInstances(uint32_t node);
  void buildTrees(const TreeCache* cache);
  uint32_t findFeatures() const;
  void countLeftOut();

  const scene::Scene& scene_;
  std::vector<HostMesh> meshes_;
  std::vector<HostInstance> instances_;
  std::vector<MergedGroup> merged_;
  std::vector<DeformingMesh> deforming_;
  std::vector<uint32_t> lightNodes_;
  MaterialTable materials_;
  EnvironmentTable environment_;
  LeftOut leftOut_;
  uint64_t emissiveTriangles_ = 0;
  uint32_t features_ = 0;
  bool animated_ = false;
};

/// Octahedral snorm16 x2, as octahedral_pack in shaders/lib/geometry.glsl. (0, 0, 1) for what is no direction.
uint32_t packDirection(vec3 direction);

}  // namespace tandem::trace
