#include "jobs/tracer_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/content_hash.h"
#include "base/log.h"
#include "frame/choose_gpus.h"
#include "frame/renderer.h"
#include "gpu/cache_folder.h"
#include "jobs/statistics.h"

namespace tandem::jobs {
namespace {

using frame::Tracer;
using json = nlohmann::ordered_json;

constexpr double kHysteresis = 0.02;
constexpr uint32_t kWarmUpFrames = 2, kTimedFrames = 7;

auto kindOf(const gpu::Adapter& adapter) {
  return std::tie(adapter.vendorId, adapter.deviceId, adapter.driverVersion, adapter.driverUuid);
}

/// Median milliseconds of the trace pass on one GPU alone.
Expected<double> timeTracer(gpu::Instance& instance, const std::shared_ptr<const scene::Scene>& scene,
                            frame::PictureSettings picture, uint32_t adapter, Tracer tracer) {
  picture.samples = 1;
  frame::MachineSettings machine;
  machine.gpus = std::to_string(adapter);
  machine.mode = frame::Mode::Single;
  machine.tracer = tracer;
  auto renderer = frame::Renderer::make(instance, scene, picture, machine, {});
  if (!renderer) return renderer.refusal();
  std::vector<double> timed;
  for (uint32_t frame = 0; frame < kWarmUpFrames + kTimedFrames; ++frame) {
    (*renderer)->start({.frame = frame, .readback = false});
    double ms = 0.0;
    for (const exec::PassReport& pass : (*renderer)->finish().passes) {
      if (pass.name == "path_trace") ms += pass.milliseconds;
    }
    if (frame >= kWarmUpFrames) timed.push_back(ms);
  }
  return median(timed);
}

Expected<TracerTimes> timeBoth(gpu::Instance& instance, const std::shared_ptr<const scene::Scene>& scene,
                               const frame::PictureSettings& picture, uint32_t adapter) {
  const auto compute = timeTracer(instance, scene, picture, adapter, Tracer::Compute);
  if (!compute) return compute.refusal();
  const auto rt = timeTracer(instance, scene, picture, adapter, Tracer::Rt);
  if (!rt) return rt.refusal();
  return TracerTimes{*compute, *rt};
}

}  // namespace

Tracer quickerTracer(std::span<const TracerKind> kinds, std::span<const TracerTimes> times) {
  TANDEM_CHECK(kinds.size() == times.size(), "{} kinds of GPU and times of {}", kinds.size(), times.size());
  double compute = 0.0, rt = 0.0;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    compute += kinds[kind].count / std::max(times[kind].computeMs, 1e-6);
    rt += kinds[kind].count / std::max(times[kind].rtMs, 1e-6);
  }
  return rt > compute * (1.0 + kHysteresis) ? Tracer::Rt : Tracer::Compute;
}

std::vector<TracerKind> kindsOf(const std::vector<gpu::Adapter>& adapters, std::span<const uint32_t> gpus) {
  std::vector<TracerKind> kinds;
  for (const uint32_t gpu : gpus) {
    const auto known = std::ranges::find_if(
        kinds, [&](const TracerKind& kind) { return kindOf(adapters.at(kind.adapter)) == kindOf(adapters.at(gpu)); });
    if (known == kinds.end()) {
      kinds.push_back({gpu, 1});
    } else {
      ++known->count;
    }
  }
  return kinds;
}

std::string tracerKey(const gpu::Adapter& adapter, const std::string& sceneHash, uint32_t bounces) {
  return fmt::format("{:04x}:{:04x} driver {:08x} {:02x}, scene {}, {} bounces", adapter.vendorId, adapter.deviceId,
                     adapter.driverVersion, fmt::join(adapter.driverUuid, ""), sceneHash, bounces);
}

std::string traceHash(const scene::Scene& scene) {
  std::vector<Hash128> parts;
  const auto add = [&](const auto& values) { parts.push_back(contentHash(std::as_bytes(std::span(values)))); };
  for (const scene::Mesh& mesh : scene.meshes) {
    add(mesh.positions);
    add(mesh.indices);
    add(std::array{mesh.material});
  }
  for (const scene::Node& node : scene.nodes) {
    add(std::array{node.parent});
    add(node.meshes);
    add(std::array{node.translation, node.scale});
    add(std::array{node.rotation});
    if (node.hasMatrix) add(std::array{node.matrix});
  }
  for (const scene::Material& material : scene.materials) add(std::array{material.alphaMode});
  return contentHash(std::as_bytes(std::span(parts))).text();
}

std::optional<TracerTimes> findTracerTimes(const gpu::KeptJson& kept, const std::string& key) {
  const auto entry = kept.find(key);
  if (!entry || !entry->is_object()) return std::nullopt;
  const auto number = [&](const char* name) {
    const auto value = entry->find(name);
    return value != entry->end() && value->is_number() ? value->get<double>() : 0.0;
  };
  const TracerTimes times{number("computeMs"), number("rtMs")};
  if (!(times.computeMs > 0.0) || !(times.rtMs > 0.0)) return std::nullopt;
  return times;
}

void storeTracerTimes(const gpu::KeptJson& kept, const std::string& key, const TracerTimes& times) {
  kept.store(key, {{"computeMs", times.computeMs}, {"rtMs", times.rtMs}});
}

Expected<Tracer> chooseTracer(gpu::Instance& instance, const std::shared_ptr<const scene::Scene>& scene,
                              const frame::PictureSettings& picture, const frame::MachineSettings& machine) {
  if (machine.tracer != Tracer::Auto) return machine.tracer;
  const std::vector<gpu::Adapter>& adapters = instance.adapters();
  const auto gpus = frame::chooseGpus(adapters, machine);
  if (!gpus) return gpus.refusal();
  const bool choosable = std::ranges::all_of(
      *gpus, [&](uint32_t gpu) { return adapters.at(gpu).rayTracing && !adapters.at(gpu).software(); });
  if (!choosable || machine.topology == topology::TopologyKind::Group) return Tracer::Compute;
  const gpu::KeptJson kept(gpu::cacheFolder(), "tracers.json", "times");
  const std::string hash = traceHash(*scene);
  const std::vector<TracerKind> kinds = kindsOf(adapters, *gpus);
  std::vector<TracerTimes> times;
  for (const TracerKind& kind : kinds) {
    const std::string key = tracerKey(adapters.at(kind.adapter), hash, picture.bounces);
    std::optional<TracerTimes> known = findTracerTimes(kept, key);
    if (!known) {
      const auto timed = timeBoth(instance, scene, picture, kind.adapter);
      if (!timed) return timed.refusal();
      storeTracerTimes(kept, key, *timed);
      known = *timed;
    }
    log::info("{}: traced in {:.2f} ms by compute, in {:.2f} ms by rt", adapters.at(kind.adapter).name,
              known->computeMs, known->rtMs);
    times.push_back(*known);
  }
  return quickerTracer(kinds, times);
}

}  // namespace tandem::jobs
