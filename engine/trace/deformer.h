// Skins and morph targets on one device: vertices follow their joints and targets, trees follow their vertices
// (shaders/trace/deform.comp, refit_*.comp). Every device that traces deforms for itself, in the order of its queue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "shaders/shared/deform.h"
#include "shaders/shared/scene.h"
#include "trace/host_scene.h"

namespace tandem::trace {

/// Where the tree of a deforming mesh lies on the device.
struct TreeAddresses {
  uint64_t nodes = 0;
  uint64_t triangles = 0;
};

/// Owner of what deforming needs beside the resting meshes. Render thread; destroyed before the device.
class Deformer {
 public:
  /// `rest`: addresses of all meshes at rest. `trees`: of each deforming mesh; empty where there are none to refit.
  /// Uploads and waits.
  Deformer(gpu::Device& device, const HostScene& host, std::span<const shared::MeshData> rest,
           std::span<const TreeAddresses> trees);

  /// The deformed meshes, as the table of meshes holds them: vertices, tangents and positions when the shutter opens
  /// and closes are their own, each array in one piece at its address; the rest is shared with the mesh at rest.
  const std::vector<shared::MeshData>& meshes() const { return meshes_; }

  /// Records the upload of a frame's matrices and weights. A barrier must follow.
  void upload(gpu::Commands& commands, const FrameDeformation& frame);
  /// Records the passes, with the barriers between them and after them.
  void record(gpu::Commands& commands, const FrameDeformation& frame) const;

  uint64_t bytes() const;

 private:
  void deform(gpu::Commands& commands, const FrameDeformation& frame) const;
  void refit(gpu::Commands& commands) const;

  gpu::Device& device_;
  const HostScene& host_;
  std::vector<gpu::Buffer> buffers_;
  gpu::Buffer joints_, weights_;  // of the frame
  std::vector<shared::MeshData> meshes_;
  uint64_t deformJobs_ = 0, refitJobs_ = 0;  // addresses; without trees, refitJobs_ is 0
};

/// What a Deformer takes of the device's memory, within some percent.
uint64_t estimateDeformerBytes(const HostScene& host);

}  // namespace tandem::trace
