// What the measurements of one mode come to: speed with its interval, pacing, where the time went, what it costs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/bench_analysis.h"
#include "jobs/bench_report.h"
#include "jobs/bench_verdict.h"
#include "jobs/bootstrap.h"
#include "jobs/pacing.h"

namespace tandem::jobs {

/// A GPU while the timed frames of a mode ran, over all its runs.
struct GpuMeanwhile {
  uint32_t adapter = 0;
  std::optional<double> meanMHz, maxWatts, maxTemperatureC;
  std::optional<std::set<std::string>> throttleReasons;  // empty: nothing held its clocks down
};

/// Nothing where it was not measured, or means nothing here.
struct ModeFindings {
  std::optional<Interval> fps;      // from two runs on
  std::optional<Interval> speedup;  // against single; the value alone is speedup() (bench_report.h)
  std::optional<double> efficiency, karpFlatt;
  std::optional<double> ofSum;  // of two GPUs that were each measured alone
  double latencyFrames = 0.0;   // mean latency / mean frame time
  OnePercentLow onePercentLow;
  std::optional<Stutter> stutter;
  std::optional<Statistics> deltaMs;  // between one frame and the next
  std::optional<ModeTimes> times;
  std::optional<Bound> bound;
  std::string limit;
  std::optional<double> joulesPerFrame,
      watts;                       // of the GPUs that the mode uses, together
  std::vector<GpuMeanwhile> gpus;  // that the mode uses and that were watched
  std::optional<double> framesPerDollar;
};

ModeFindings findingsOf(const SceneReport& scene, const ModeReport& mode, const BenchReport& report);

/// Rays that a node traces while it traces: those of its rows by the time of its passes.
std::optional<double> raysPerSecond(const SceneReport& scene, const NodeTimes& node);

/// What verdictOf() wants to know.
VerdictFacts verdictFacts(const SceneReport& scene, const BenchReport& report);

}  // namespace tandem::jobs
