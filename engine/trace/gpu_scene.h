// A scene on one device: buffers and textures that path_trace.comp reads. What stays is uploaded once; what moves is
// updated by the pass that traces, in the order of the queue, so that frames in flight never see each other's data.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "gpu/textures.h"
#include "shaders/shared/path_trace.h"
#include "trace/deformer.h"
#include "trace/frame_scene.h"
#include "trace/host_scene.h"
#include "trace/ray_scene.h"

namespace tandem::trace {

/// By whose traversal rays find what they hit.
enum class Tracer {
  Compute,  // our own, in compute shaders: on every device
  Rt,       // the driver's, in ray-tracing pipelines: on devices that were made with them
};

/// Owner of one scene's memory on one device. Made and used on the render thread; destroyed before the device.
class GpuScene {
 public:
  /// Uploads and waits. Throws AdverseError where memory is short (ask estimateGpuBytes first). `host` must outlive it.
  GpuScene(gpu::Device& device, const HostScene& host, Tracer tracer = Tracer::Compute);

  uint64_t bytes() const;
  const HostScene& host() const { return host_; }
  Tracer tracer() const { return tracer_; }
  const gpu::TextureTable& textures() const { return *textures_; }

  /// Records the upload of what moves, with the barriers around it, and returns where everything lies. `frame` is read
  /// at once.
  shared::SceneAddresses update(gpu::Commands& commands, const FrameScene& frame);

  /// Memory of at least so many bytes that the stages of one pass share (trace/wavefront). What it held before is lost.
  /// Not part of bytes(): it is the picture's size that asks for it.
  const gpu::Buffer& scratch(uint64_t bytes);
  uint64_t scratchBytes() const { return scratch_.bytes(); }

  /// Where path_trace.comp counts its rays.
  uint64_t rayCounters() const { return rayCounters_.address(); }
  /// Rays traced here since the last call, in frames that counted them. Only while none of those is under way.
  uint64_t takeRays();

 private:
  uint64_t uploadArray(std::span<const std::byte> bytes, const char* name);
  void uploadTrees();
  void uploadSources();
  void uploadMeshes();
  size_t treeOf(const FrameScene& frame, size_t placement) const;
  gpu::Buffer movingBuffer(uint64_t bytes, const char* name);

  gpu::Device& device_;
  const HostScene& host_;
  Tracer tracer_;
  std::vector<gpu::Buffer> buffers_;     // what stays
  std::vector<uint64_t> nodeAddresses_;  // of each merged group's tree, of each mesh's, of each deforming mesh's;
                                         // empty with Tracer::Rt
  std::vector<uint64_t> triangleAddresses_;
  std::vector<uint64_t> sourceAddresses_;  // of each merged group
  shared::SceneAddresses addresses_{};
  gpu::Buffer instances_, motions_, placements_, placementData_, topNodes_, topLeaves_, emissive_,
      punctual_;  // what moves
  gpu::Buffer rayCounters_, scratch_;
  std::unique_ptr<gpu::TextureTable> textures_;
  std::unique_ptr<Deformer> deformer_;  // null where no mesh deforms
  std::unique_ptr<RayScene> rays_;      // with Tracer::Rt
};

/// Device memory that a GpuScene of this scene takes, for refusing before anything is allocated. Within some percent:
/// drivers round up.
uint64_t estimateGpuBytes(const HostScene& host);

}  // namespace tandem::trace
