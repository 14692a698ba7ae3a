#include "jobs/devices_predict.h"

#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "frame/renderer.h"
#include "jobs/load_scene.h"
#include "jobs/statistics.h"
#include "jobs/tracer_choice.h"
#include "shaders/shared/planes.h"

namespace tandem::jobs {
namespace {

using schedule::Way;

constexpr uint32_t kLeastFrames = 5, kMostFrames = 16;
constexpr double kSecondsWanted = 1.5;
/// What crosses from tracing to post.
constexpr uint64_t kBytesPerPixel =
    sizeof(shared::RadianceTexel) + sizeof(shared::MotionTexel) + sizeof(shared::DepthTexel);

frame::PictureSettings pictureOf(const PredictRequest& request) {
  frame::PictureSettings picture;
  picture.size = request.size;
  picture.samples = request.samples;
  picture.bounces = request.bounces;
  return picture;
}

/// Medians over frames on one GPU alone; the first frame, which pays for what is made on first use, does not count.
Expected<schedule::NodeCosts> measureOn(gpu::Instance& instance, uint32_t gpu,
                                        const std::shared_ptr<const scene::Scene>& scene, const PredictRequest& request,
                                        frame::Tracer tracer) {
  using Clock = std::chrono::steady_clock;
  const frame::PictureSettings picture = pictureOf(request);
  frame::MachineSettings machine;
  machine.tracer = tracer;
  machine.gpus = std::to_string(gpu);
  machine.mode = frame::Mode::Single;
  auto renderer = frame::Renderer::make(instance, scene, picture, machine, {});
  if (!renderer) return renderer.refusal();
  std::vector<double> trace, post;
  const auto end = Clock::now() + std::chrono::duration<double>(kSecondsWanted);
  for (uint32_t frame = 0; frame <= kLeastFrames || (frame <= kMostFrames && Clock::now() < end); ++frame) {
    (*renderer)->start({.frame = frame, .readback = false});
    double traceMs = 0.0, postMs = 0.0;
    for (const exec::PassReport& pass : (*renderer)->finish().passes)
      (pass.name == "path_trace" ? traceMs : postMs) += pass.milliseconds;
    if (frame == 0) continue;
    trace.push_back(traceMs);
    post.push_back(postMs);
  }
  return schedule::NodeCosts{median(trace), median(post)};
}

}  // namespace

Expected<ScenePrediction> predictScene(gpu::Instance& instance, const PredictRequest& request,
                                       const PredictMachine& machine) {
  auto loaded = loadScene(request.scene, {}, "");
  if (!loaded) return loaded.refusal();
  const auto scene = std::make_shared<const scene::Scene>(std::move(loaded->scene));
  frame::MachineSettings all;
  all.gpus = fmt::format("{}", fmt::join(machine.gpus, ","));
  all.tracer = frame::Tracer::Auto;
  const auto tracer = chooseTracer(instance, scene, pictureOf(request), all);
  if (!tracer) return tracer.refusal();
  ScenePrediction prediction{request, machine, *tracer, {}, {}};
  schedule::Costs& costs = prediction.costs;
  const auto& adapters = instance.adapters();
  for (const uint32_t gpu : machine.gpus) {
    if (gpu != machine.gpus.front() && adapters.at(gpu).name == adapters.at(machine.gpus.front()).name) continue;
    const auto measured = measureOn(instance, gpu, scene, request, *tracer);
    if (!measured) return measured.refusal();
    costs.nodes.push_back(*measured);
  }
  costs.count = 2;
  costs.bytesPerFrame = request.size.pixels() * kBytesPerPixel;
  costs.link = {machine.linkGbps, machine.hopMs};
  prediction.ways = schedule::predict(costs);
  return prediction;
}

std::string predictionText(const ScenePrediction& prediction) {
  const PredictRequest& request = prediction.request;
  const PredictMachine& machine = prediction.machine;
  const std::string gpus = machine.gpus.size() > 1 ? fmt::format("GPU {} and GPU {}", machine.gpus[0], machine.gpus[1])
                                                   : fmt::format("GPU {} and a second like it", machine.gpus[0]);
  const std::string link =
      machine.link.empty() ? "without a link" : fmt::format("over {} at {:.1f} GB/s", machine.link, machine.linkGbps);
  const char* note =
      machine.software ? "  a software device is no GPU: opened twice it shares the CPU, and nothing is won\n" : "";
  return fmt::format(
      "prediction for {} at {}x{}, samples {}, bounces {}, traced by {}, with {} {}:\n  {}\n{}", request.scene,
      request.size.width, request.size.height, request.samples, request.bounces, frame::tracerName(prediction.tracer),
      gpus, link, schedule::predictionText(prediction.ways, schedule::choose(prediction.ways, {}, Way::Single)), note);
}

nlohmann::ordered_json predictionJson(const ScenePrediction& prediction) {
  using json = nlohmann::ordered_json;
  const PredictMachine& machine = prediction.machine;
  json modes = json::array();
  const double singleMs = prediction.ways.at(Way::Single).ms.value_or(0.0);
  for (const Way way : schedule::kWays) {
    const schedule::Forecast& forecast = prediction.ways.at(way);
    json mode = {{"mode", std::string(schedule::wayName(way))},
                 {"ms", nullptr},
                 {"xSingle", nullptr},
                 {"refusal", forecast.refusal}};
    if (forecast.ms) {
      mode["ms"] = *forecast.ms;
      if (*forecast.ms > 0.0) mode["xSingle"] = singleMs / *forecast.ms;
    }
    modes.push_back(std::move(mode));
  }
  json nodes = json::array();
  for (size_t node = 0; node < prediction.costs.nodes.size(); ++node) {
    const schedule::NodeCosts& costs = prediction.costs.nodes[node];
    nodes.push_back({{"gpu", machine.gpus[node]}, {"traceMs", costs.traceMs}, {"postMs", costs.postMs}});
  }
  return {{"scene", prediction.request.scene},
          {"width", prediction.request.size.width},
          {"height", prediction.request.size.height},
          {"samples", prediction.request.samples},
          {"bounces", prediction.request.bounces},
          {"tracer", frame::tracerName(prediction.tracer)},
          {"gpus", machine.gpus},
          {"software", machine.software},
          {"link", machine.link},
          {"linkGbps", machine.linkGbps},
          {"bytesPerFrame", prediction.costs.bytesPerFrame},
          {"measured", std::move(nodes)},
          {"choice", std::string(schedule::wayName(schedule::choose(prediction.ways, {}, Way::Single)))},
          {"modes", std::move(modes)}};
}

}  // namespace tandem::jobs
