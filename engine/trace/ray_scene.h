// The scene as the driver's acceleration structures, for `--tracer rt`: one bottom-level structure for each tree of the
// HostScene (merged groups, meshes, deforming meshes) and, every frame, a top-level one over the frame's placements.
// What is hit is named as our own traversal names it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/acceleration.h"
#include "trace/frame_scene.h"
#include "trace/host_scene.h"

namespace tandem::trace {

/// Owner: a GpuScene. Render thread; destroyed before the device.
class RayScene {
 public:
  /// Builds and waits. `rest`: all meshes as they lie on the device; `deformed`: of each deforming mesh, the table's
  /// entry whose vertices follow the pose. Throws AdverseError where memory is short or the device takes no more.
  RayScene(gpu::Device& device, const HostScene& host, std::span<const shared::MeshData> rest,
           std::span<const shared::MeshData> deformed);

  /// Records refitting and the top level, with the barriers after them; vertices must have been deformed before.
  void record(gpu::Commands& commands, const FrameScene& frame);

  uint64_t address() const { return top_.address(); }  // of the top level
  uint64_t bytes() const;

 private:
  void buildStatic(gpu::Device& device);
  void buildDeforming(gpu::Device& device, std::span<const shared::MeshData> rest,
                      std::span<const shared::MeshData> deformed);
  const gpu::Acceleration& structureOf(const FrameScene& frame, uint32_t placement) const;

  const HostScene& host_;
  std::vector<gpu::Acceleration> static_;     // of each merged group, of each mesh; empty where nothing leads to it
  std::vector<gpu::Acceleration> deforming_;  // of each deforming mesh
  std::vector<gpu::Buffer> indices_;          // of deforming meshes
  gpu::Refitter refitter_;
  gpu::TopLevel top_;
};

}  // namespace tandem::trace
