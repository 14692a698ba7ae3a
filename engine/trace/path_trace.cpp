#include "trace/path_trace.h"

#include <algorithm>

#include "base/check.h"
#include "gpu/commands.h"
#include "gpu/device.h"
#include "graph/recording.h"
#include "graph/row_deal.h"
#include "shaders/shared/path_trace.h"
#include "trace/wavefront.h"

namespace tandem::trace {

namespace {

static_assert(shared::kBandRows == graph::kBandRows);

constexpr uint32_t kThreads = 64;  // of a work group
constexpr uint32_t kGroupRows = kThreads / shared::kGroupWidth;

/// No dispatch traces more segments than this (unless one row of groups holds more), so that none keeps a GPU busy for
/// seconds, which some drivers take for a hang. Rows are independent, so nothing but time depends on where they are
/// cut.
constexpr uint64_t kSegmentsPerDispatch = uint64_t{64} << 20;

template <class T>
graph::Resource<T> plane(graph::PassBuilder& builder, const char* name, Extent size) {
  return builder.create<T>({name, sizeof(T) * uint64_t{size.width}, size.height});
}

uint32_t rowsPerDispatch(const PathTraceSettings& s) {
  const uint64_t perRow = uint64_t{s.size.width} * s.samples * (uint64_t{s.bounces} + 1);
  const uint64_t rows = kSegmentsPerDispatch / std::max<uint64_t>(perRow, 1) / kGroupRows * kGroupRows;
  return static_cast<uint32_t>(std::clamp<uint64_t>(rows, kGroupRows, uint64_t{s.size.height} + kGroupRows));
}

void recordOneKernel(gpu::Commands& commands, const GpuScene& scene, const WavefrontJob& job) {
  const PathTraceSettings& settings = job.settings;
  const gpu::Specialization specialization{scene.host().features(), static_cast<uint32_t>(settings.strategy), kThreads,
                                           job.countRays ? 1u : 0u};
  const uint32_t rows = rowsPerDispatch(settings);
  for (uint32_t first = 0; first < job.rows; first += rows) {
    const uint32_t end = std::min(first + rows, job.rows);
    commands.dispatch(
        "trace/path_trace", shared::PathTracePush{job.params, first, end},
        {gpu::groupsFor(settings.size.width, shared::kGroupWidth), gpu::groupsFor(end - first, kGroupRows), 1},
        &scene.textures(), specialization);
  }
}

/// By the driver's traversal: one call of the ray-generation shader a pixel.
void recordRayPipeline(gpu::Commands& commands, const GpuScene& scene, const WavefrontJob& job) {
  static const gpu::RayShaders shaders{"trace/path_trace.rgen", "trace/ray_miss.rmiss", "trace/ray_hit.rchit",
                                       "trace/ray_alpha.rahit"};
  const PathTraceSettings& settings = job.settings;
  const gpu::Specialization specialization{scene.host().features(), static_cast<uint32_t>(settings.strategy), kThreads,
                                           job.countRays ? 1u : 0u};
  const uint64_t most = commands.device().adapter().rayTracing->mostRays / settings.size.width;
  const auto rows = static_cast<uint32_t>(std::min<uint64_t>(rowsPerDispatch(settings), std::max<uint64_t>(most, 1)));
  for (uint32_t first = 0; first < job.rows; first += rows) {
    const uint32_t end = std::min(first + rows, job.rows);
    commands.traceRays(shaders, shared::PathTracePush{job.params, first, end}, settings.size.width, end - first,
                       &scene.textures(), specialization);
  }
}

void recordPathTrace(graph::Recording& recording, const PathTraceSettings& settings, const TracedPlanes& planes,
                     TraceSource& source) {
  gpu::Commands& commands = recording.commands();
  const graph::RowShare share = recording.share();
  if (share.rows == 0) return;
  GpuScene& scene = source.sceneOn(commands.device());
  const FrameScene& frame = source.frame();
  shared::PathTraceParams params{};
  params.scene = scene.update(commands, frame);
  params.radiance = recording.buffer(planes.radiance).address();
  params.albedo = recording.buffer(planes.albedo).address();
  params.normal = recording.buffer(planes.normal).address();
  params.depth = recording.buffer(planes.depth).address();
  params.motion = recording.buffer(planes.motion).address();
  params.rayCounters = scene.rayCounters();
  params.bandTops = commands.uploadBytes(std::as_bytes(share.bandTops));
  params.lights = frame.lights;
  params.camera = frame.camera;
  params.cameraOpen = frame.cameraOpen;
  params.cameraClose = frame.cameraClose;
  params.width = settings.size.width;
  params.height = settings.size.height;
  params.samples = settings.samples;
  params.bounces = settings.bounces;
  params.seed = settings.seed;
  params.frame = frame.frame;
  const uint64_t block = commands.upload(params);
  if (scene.tracer() == Tracer::Rt) {
    recordRayPipeline(commands, scene, {settings, block, share.rows, frame.countRays});
  } else if (settings.inStages.value_or(tracesInStages(commands.device()))) {
    recordWavefront(commands, scene, {settings, block, share.rows, frame.countRays});
  } else {
    recordOneKernel(commands, scene, {settings, block, share.rows, frame.countRays});
  }
  if (frame.countRays) commands.barrierToHost();
}

}  // namespace

TracedPlanes addPathTrace(graph::Graph& graph, const PathTraceSettings& settings, std::shared_ptr<TraceSource> source) {
  TANDEM_CHECK(settings.samples > 0 && settings.size.pixels() > 0, "path_trace of {} x {} pixels, {} samples",
               settings.size.width, settings.size.height, settings.samples);
  auto planes = std::make_shared<TracedPlanes>();
  return graph.addPass(
      "path_trace",
      [&](graph::PassBuilder& builder) {
        planes->radiance = plane<shared::RadianceTexel>(builder, "radiance", settings.size);
        planes->albedo = plane<shared::AlbedoTexel>(builder, "albedo", settings.size);
        planes->normal = plane<shared::NormalTexel>(builder, "normal", settings.size);
        planes->depth = plane<shared::DepthTexel>(builder, "depth", settings.size);
        planes->motion = plane<shared::MotionTexel>(builder, "motion", settings.size);
        builder.shareable();
        return *planes;
      },
      [settings, planes, source](graph::Recording& recording) {
        recordPathTrace(recording, settings, *planes, *source);
      });
}

}  // namespace tandem::trace
