// How long a frame of a scene would take in each mode: measured on the best GPU alone, predicted for two.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/check.h"
#include "base/math.h"
#include "gpu/instance.h"
#include "schedule/planner.h"
#include "topology/probe.h"

namespace tandem::jobs {

struct PredictRequest {
  std::string scene;  // file or builtin:NAME
  Extent size{3840, 2160};
  uint32_t samples = 4;
  uint32_t bounces = 4;
};

struct ScenePrediction {
  PredictRequest request;
  schedule::Costs costs;
  schedule::Prediction ways;
};

/// Renders a few frames in `single`. `link`: between the two best GPUs; null: there are no two. Refuses as
/// frame::Renderer::make and loadScene.
Expected<ScenePrediction> predictScene(gpu::Instance& instance, const PredictRequest& request,
                                       const topology::KindProbe* link);

/// One line for people.
std::string predictionText(const ScenePrediction& prediction);
nlohmann::ordered_json predictionJson(const ScenePrediction& prediction);

}  // namespace tandem::jobs
