// The path tracer as stages: one kernel traces, the next shades what was met, the next asks for light, and queues
// between them leave out what has ended. Kernels that only trace need few registers, so that a GPU keeps many more rays
// under way than one kernel that does everything. Laine, Karras, Aila 2013, "Megakernels Considered Harmful: Wavefront
// Path Tracing on GPUs". The picture is that of path_trace.comp.
#pragma once

#include "gpu/commands.h"
#include "trace/gpu_scene.h"
#include "trace/path_trace.h"

namespace tandem::trace {

struct WavefrontJob {
  const PathTraceSettings& settings;
  uint64_t params = 0;  // address of the PathTraceParams
  uint32_t rows = 0;    // of this pass, counted as they are written
  bool countRays = false;
};

/// GPUs take the stages; software devices have no threads to hide waits with, and queues need subgroup ballots.
bool tracesInStages(const gpu::Device& device);

/// Records all stages of all samples. The barriers around the whole are the caller's.
void recordWavefront(gpu::Commands& commands, GpuScene& scene, const WavefrontJob& job);

}  // namespace tandem::trace
