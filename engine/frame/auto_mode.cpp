#include "frame/auto_mode.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "schedule/planner.h"

namespace tandem::frame {
namespace {

using schedule::Way;

constexpr double kFrameMsWanted = 50.0;  // a trial frame should not take longer
constexpr double kTrialMs = 500.0;       // of one mode
constexpr uint32_t kLeastFrames = 6, kMostFrames = 40;

Mode modeOf(Way way) {
  switch (way) {
    case Way::Single:
      return Mode::Single;
    case Way::Pipelined:
      return Mode::Pipelined;
    case Way::Sfr:
      return Mode::Sfr;
    case Way::Afr:
      return Mode::Afr;
  }
  return Mode::Single;
}

struct Trial {
  double frameMs = 0.0;  // of a stream of frames
  double traceMs = 0.0, postMs = 0.0;
};

/// Streams frames through the renderer's present mode; the first ones, in which caches fill and shares settle, do not
/// count.
Trial stream(Renderer& renderer, FrameRequest request, uint32_t frames) {
  using Clock = std::chrono::steady_clock;
  const uint32_t inFlight = renderer.framesInFlight();
  const uint32_t warmUp = inFlight + 2, all = warmUp + frames;
  request.readback = false;
  Trial trial;
  Clock::time_point begin;
  uint32_t started = 0;
  for (uint32_t finished = 0; finished < all; ++finished) {
    while (started < all && started - finished < inFlight) {
      renderer.start(request);
      ++started;
    }
    const FrameResult result = renderer.finish();
    if (finished + 1 == warmUp) begin = Clock::now();
    trial.traceMs = trial.postMs = 0.0;
    for (const exec::PassReport& pass : result.passes)
      (pass.name == "path_trace" ? trial.traceMs : trial.postMs) += pass.milliseconds;
  }
  trial.frameMs = std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / frames;
  return trial;
}

uint32_t framesFor(double frameMs) {
  return static_cast<uint32_t>(
      std::clamp(kTrialMs / std::max(frameMs, 0.01), double{kLeastFrames}, double{kMostFrames}));
}

/// Measures `way`; a way that cannot be made is not measured.
void measure(Renderer& renderer, Way way, const FrameRequest& request, uint32_t samples, double singleMs,
             schedule::Measured& measured) {
  if (measured.contains(way) || renderer.changeMode(modeOf(way), samples)) return;
  measured[way] = stream(renderer, request, framesFor(singleMs)).frameMs;
}

}  // namespace

std::optional<Refusal> settleMode(Renderer& renderer, const FrameRequest& request, uint32_t samples, bool alike) {
  if (auto no = renderer.changeMode(Mode::Single, 1)) return no;
  const double oneSample = stream(renderer, request, 1).traceMs;
  const auto tried =
      static_cast<uint32_t>(std::clamp(kFrameMsWanted / std::max(oneSample, 1e-3), 1.0, static_cast<double>(samples)));
  if (auto no = renderer.changeMode(Mode::Single, tried)) return no;
  const Trial single = stream(renderer, request, framesFor(oneSample * tried));
  schedule::Measured measured{{Way::Single, single.frameMs}};

  schedule::Costs costs;
  costs.nodes = {{single.traceMs, single.postMs}};
  measure(renderer, Way::Pipelined, request, tried, single.frameMs, measured);
  if (measured.contains(Way::Pipelined)) {
    const RunReport report = renderer.report();
    costs.count = static_cast<uint32_t>(report.nodes.size());
    for (const exec::LinkUse& link : report.links) {
      costs.link.gbps = link.carried.streamedGigabytesPerSecond();
      costs.bytesPerFrame = link.plannedBytesPerFrame;
    }
  }
  const schedule::Prediction prediction = schedule::predict(costs);
  measure(renderer, schedule::choose(prediction, measured, Way::Single), request, tried, single.frameMs, measured);
  // What one GPU's times say of another kind is little: then every way is tried.
  if (!alike) {
    for (const Way way : schedule::kWays) measure(renderer, way, request, tried, single.frameMs, measured);
  }
  Way chosen = Way::Single;
  for (const auto& [way, ms] : measured) {
    if (ms < measured.at(chosen) * (1.0 - schedule::kHysteresis)) chosen = way;
  }
  std::string outcome;
  for (const auto& [way, ms] : measured)
    outcome += fmt::format("{}{} {:.2f} ms", outcome.empty() ? "" : ", ", schedule::wayName(way), ms);
  log::info("{}; measured at {} samples: {}: {}", schedule::predictionText(prediction, chosen), tried, outcome,
            schedule::wayName(chosen));
  return renderer.changeMode(modeOf(chosen), samples);
}

}  // namespace tandem::frame
