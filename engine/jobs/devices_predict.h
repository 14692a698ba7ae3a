// How long a frame of a scene would take in each mode: measured on each GPU alone, predicted for two.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/math.h"
#include "frame/settings.h"
#include "gpu/instance.h"
#include "schedule/planner.h"

namespace tandem::jobs {

struct PredictRequest {
  std::string scene;  // file or builtin:NAME
  Extent size{3840, 2160};
  uint32_t samples = 4;
  uint32_t bounces = 4;
};

/// The two GPUs that a run would take, and what joins them.
struct PredictMachine {
  std::vector<uint32_t> gpus;  // indices; one alone stands for two of its kind
  std::string link;            // "cuda"; empty: none works
  double linkGbps = 0.0;       // 1e9 bytes a second from the first to the second; 0: nothing can cross
  double hopMs = 0.0;
  bool software = false;  // one of them is a software device: two share the CPU, and nothing is won
};

struct ScenePrediction {
  PredictRequest request;
  PredictMachine machine;
  frame::Tracer tracer = frame::Tracer::Compute;
  schedule::Costs costs;
  schedule::Prediction ways;
};

/// Renders a few frames in `single` on each GPU (on one of them where both are of a kind). Refuses as
/// frame::Renderer::make and loadScene.
Expected<ScenePrediction> predictScene(gpu::Instance& instance, const PredictRequest& request,
                                       const PredictMachine& machine);

/// Two lines for people: what is assumed, and the times.
std::string predictionText(const ScenePrediction& prediction);
nlohmann::ordered_json predictionJson(const ScenePrediction& prediction);

}  // namespace tandem::jobs
