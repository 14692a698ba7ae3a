// Runs the path tracer alone, on one device, without graph compiler or executor, and reads its planes back as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/math.h"
#include "gpu/device.h"
#include "scene/camera.h"
#include "scene/scene.h"
#include "trace/path_trace.h"

namespace tandem::test {

/// Row 0 at the top.
struct TracedPicture {
  Extent size;
  std::vector<vec4> radiance;  // w: coverage
  std::vector<vec4> albedo;
  std::vector<vec3> normal;  // (0, 0, 0): nothing hit
  std::vector<float> depth;
  std::vector<vec2> motion;
  std::vector<uint32_t> words;                    // all planes as stored, for comparing bits
  uint64_t stateBytes = 0;                        // kept between stages; 0: traced in one kernel
  trace::Tracer tracer = trace::Tracer::Compute;  // whose traversal it was

  size_t at(uint32_t x, uint32_t y) const { return size_t{y} * size.width + x; }
  vec3 mean() const;  // of the radiance
};

struct TraceTimes {
  double centre = 0.0, open = 0.0, close = 0.0;
};

/// Traces a scene with its first camera (or one that frames it). `frame` seeds the random numbers. Tracer::Rt needs a
/// device with ray-tracing pipelines.
TracedPicture tracePicture(gpu::Device& device, const scene::Scene& scene, const trace::PathTraceSettings& settings,
                           uint32_t frame = 0, TraceTimes times = {}, trace::Tracer tracer = trace::Tracer::Compute);

/// Octahedral snorm16 x2 to a unit vector.
vec3 unpackOctahedral(uint32_t packed);

}  // namespace tandem::test
