// `--tracer auto`: which tracer is the quicker for a scene, timed once per kind of GPU, driver and scene, and kept in
// the cache folder (tracers.json). One tracer for all GPUs of a run: pictures by the two may differ where a ray meets
// an edge, and no picture may depend on which GPU traced a row.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/check.h"
#include "frame/settings.h"
#include "gpu/instance.h"
#include "gpu/kept_json.h"
#include "scene/scene.h"

namespace tandem::jobs {

/// Of the trace pass, one sample a pixel.
struct TracerTimes {
  double computeMs = 0.0;
  double rtMs = 0.0;
};

/// A kind of GPU among those that a run takes.
struct TracerKind {
  uint32_t adapter = 0;  // index of one of them
  uint32_t count = 0;
};

/// The quicker for all kinds together, by frames a second summed over the GPUs. Compute where there is little between
/// them (2 %).
frame::Tracer quickerTracer(std::span<const TracerKind> kinds, std::span<const TracerTimes> times);

/// Kinds among `gpus` (indices), told apart by vendor, device and driver, in order of appearance.
std::vector<TracerKind> kindsOf(const std::vector<gpu::Adapter>& adapters, std::span<const uint32_t> gpus);

/// What the choice hangs on: the kind of GPU, its driver and the scene as rays see it.
std::string tracerKey(const gpu::Adapter& adapter, const std::string& sceneHash, uint32_t bounces);
/// Of geometry, placement and alpha modes; not of colours, which cost both tracers the same.
std::string traceHash(const scene::Scene& scene);

/// Times, kept between runs. A damaged entry counts as none.
std::optional<TracerTimes> findTracerTimes(const gpu::KeptJson& kept, const std::string& key);
void storeTracerTimes(const gpu::KeptJson& kept, const std::string& key, const TracerTimes& times);

/// `machine.tracer`, or what `auto` becomes for this scene and these GPUs. Compute without a trial where any of them is
/// a software device or has no ray-tracing pipelines, and where a linked group was asked for. Renders a few frames by
/// both where nothing is kept yet. Refuses as frame::Renderer::make.
Expected<frame::Tracer> chooseTracer(gpu::Instance& instance, const std::shared_ptr<const scene::Scene>& scene,
                                     const frame::PictureSettings& picture, const frame::MachineSettings& machine);

}  // namespace tandem::jobs
