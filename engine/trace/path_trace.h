// The ray-tracing pass: from a scene to radiance and what post-processing wants to know of the first hit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/math.h"
#include "graph/graph.h"
#include "shaders/shared/planes.h"
#include "trace/frame_scene.h"
#include "trace/gpu_scene.h"

namespace tandem::gpu {
class Device;
}

namespace tandem::trace {

/// How lights with an extent are found. Anything but Mis is for tests: all three have the same mean.
enum class LightStrategy : uint32_t {
  Mis = shared::kLightMis,
  LightSampling = shared::kLightSamplingOnly,
  BsdfSampling = shared::kBsdfSamplingOnly,
};

struct PathTraceSettings {
  Extent size;
  uint32_t samples = 1;  // paths per pixel, at least 1
  uint32_t bounces = 4;  // path segments after the first hit
  uint32_t seed = 0;     // same seed, same picture, bit for bit (on GPUs of a kind)
  LightStrategy strategy = LightStrategy::Mis;
  std::optional<bool> inStages;  // tests only: trace/wavefront or one kernel, whatever the device
  uint64_t stateBytes = 0;       // tests only: memory between the stages at most; 0: what suits the device
};

/// Where the pass finds its scene while it is recorded. Implemented by frame/renderer; asked on the render thread.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  virtual GpuScene& sceneOn(gpu::Device& device) = 0;
  virtual const FrameScene& frame() const = 0;  // of the frame that is being recorded
};

/// Formats, units and spaces: shaders/shared/planes.h. One row a scan line.
struct TracedPlanes {
  graph::Resource<shared::RadianceTexel> radiance;
  graph::Resource<shared::AlbedoTexel> albedo;
  graph::Resource<shared::NormalTexel> normal;
  graph::Resource<shared::DepthTexel> depth;
  graph::Resource<shared::MotionTexel> motion;
};

/// Adds the pass "path_trace".
TracedPlanes addPathTrace(graph::Graph& graph, const PathTraceSettings& settings, std::shared_ptr<TraceSource> source);

}  // namespace tandem::trace
