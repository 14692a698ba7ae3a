#include "jobs/devices_predict.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frame/renderer.h"
#include "jobs/load_scene.h"

namespace tandem::jobs {
namespace {

using schedule::Way;

constexpr uint32_t kFrames = 5;          // the first pays for what is made on first use
constexpr uint64_t kBytesPerPixel = 16;  // radiance, motion, depth: shaders/shared/planes.h

}  // namespace

Expected<ScenePrediction> predictScene(gpu::Instance& instance, const PredictRequest& request,
                                       const topology::KindProbe* link) {
  auto loaded = loadScene(request.scene, {}, "");
  if (!loaded) return loaded.refusal();
  frame::PictureSettings picture;
  picture.size = request.size;
  picture.samples = request.samples;
  picture.bounces = request.bounces;
  frame::MachineSettings machine;
  machine.mode = frame::Mode::Single;
  auto renderer = frame::Renderer::make(instance, std::make_shared<const scene::Scene>(std::move(loaded->scene)),
                                        picture, machine, {});
  if (!renderer) return renderer.refusal();
  std::vector<double> trace, post;
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    (*renderer)->start({.frame = frame, .readback = false});
    double traceMs = 0.0, postMs = 0.0;
    for (const exec::PassReport& pass : (*renderer)->finish().passes)
      (pass.name == "path_trace" ? traceMs : postMs) += pass.milliseconds;
    trace.push_back(traceMs);
    post.push_back(postMs);
  }
  std::ranges::sort(trace);
  std::ranges::sort(post);
  ScenePrediction prediction{request, {}, {}};
  prediction.costs.nodes = {{trace[kFrames / 2], post[kFrames / 2]}};
  prediction.costs.count = link != nullptr ? 2 : 1;
  prediction.costs.bytesPerFrame = request.size.pixels() * kBytesPerPixel;
  if (link != nullptr) prediction.costs.link = {link->streamGbps(), link->hopMedianUs() * 1e-3};
  prediction.ways = schedule::predict(prediction.costs);
  return prediction;
}

std::string predictionText(const ScenePrediction& prediction) {
  Way best = Way::Single;
  for (const Way way : schedule::kWays) {
    const auto& forecast = prediction.ways.at(way);
    if (forecast.ms && *forecast.ms < *prediction.ways.at(best).ms) best = way;
  }
  const PredictRequest& request = prediction.request;
  return fmt::format("{}, {}x{}, {} samples, {} bounces, two GPUs like the best one: {}\n", request.scene,
                     request.size.width, request.size.height, request.samples, request.bounces,
                     schedule::predictionText(prediction.ways, best));
}

nlohmann::ordered_json predictionJson(const ScenePrediction& prediction) {
  nlohmann::ordered_json ways = nlohmann::ordered_json::array();
  for (const Way way : schedule::kWays) {
    const schedule::Forecast& forecast = prediction.ways.at(way);
    nlohmann::ordered_json ms = nullptr;
    if (forecast.ms) ms = *forecast.ms;
    ways.push_back({{"mode", schedule::wayName(way)}, {"ms", ms}, {"refusal", forecast.refusal}});
  }
  return {{"scene", prediction.request.scene},          {"width", prediction.request.size.width},
          {"height", prediction.request.size.height},   {"samples", prediction.request.samples},
          {"bounces", prediction.request.bounces},      {"traceMs", prediction.costs.nodes[0].traceMs},
          {"postMs", prediction.costs.nodes[0].postMs}, {"modes", std::move(ways)}};
}

}  // namespace tandem::jobs
