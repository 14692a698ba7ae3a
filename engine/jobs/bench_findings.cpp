#include "jobs/bench_findings.h"

#include <algorithm>
#include <set>

namespace tandem::jobs {
namespace {

using frame::Mode;

const TracePasses kTracePasses{"path_trace"};

std::vector<std::vector<double>> frameTimes(const ModeReport& mode) {
  std::vector<std::vector<double>> runs;
  for (const BenchRun& run : mode.runs) runs.push_back(run.frameMs);
  return runs;
}

std::optional<ModeTimes> timesOfMode(const ModeReport& mode) {
  std::vector<std::vector<FrameTrace>> runs;
  size_t after = SIZE_MAX;
  for (const BenchRun& run : mode.runs) after = std::min(after, run.framesAfter());
  for (const BenchRun& run : mode.runs) {
    runs.push_back(run.frames);
    runs.back().resize(run.frameMs.size() + after);
  }
  return runs.empty() ? std::nullopt : timesOf(runs, kTracePasses, after);
}

/// Joules of all GPUs that the mode uses, and the seconds in which they were used.
void findPower(const ModeReport& mode, ModeFindings& findings) {
  const std::set<uint32_t> adapters(mode.adapters.begin(), mode.adapters.end());
  double joules = 0.0, seconds = 0.0;
  size_t frames = 0;
  for (const BenchRun& run : mode.runs) {
    for (const uint32_t adapter : adapters) {
      if (adapter >= run.gpus.size() || !run.gpus[adapter].joules) return;
      joules += *run.gpus[adapter].joules;
    }
    seconds += run.seconds;
    frames += run.frameMs.size();
  }
  if (frames == 0 || adapters.empty()) return;
  findings.joulesPerFrame = joules / static_cast<double>(frames);
  findings.watts = joules / seconds;
}

void keepLargest(std::optional<double>& largest, const std::optional<double>& value) {
  if (value && (!largest || *value > *largest)) largest = value;
}

void findMeanwhile(const ModeReport& mode, ModeFindings& findings) {
  for (const uint32_t adapter : std::set<uint32_t>(mode.adapters.begin(), mode.adapters.end())) {
    GpuMeanwhile gpu{.adapter = adapter};
    double megahertzSeconds = 0.0, seconds = 0.0;
    uint32_t samples = 0;
    for (const BenchRun& run : mode.runs) {
      if (adapter >= run.gpus.size()) continue;
      const GpuUse& use = run.gpus[adapter];
      samples += use.samples;
      if (use.meanMHz) megahertzSeconds += *use.meanMHz * use.seconds;
      if (use.meanMHz) seconds += use.seconds;
      keepLargest(gpu.maxWatts, use.maxWatts);
      keepLargest(gpu.maxTemperatureC, use.maxTemperatureC);
      if (!use.throttleReasons) continue;
      if (!gpu.throttleReasons) gpu.throttleReasons.emplace();
      gpu.throttleReasons->insert(use.throttleReasons->begin(), use.throttleReasons->end());
    }
    if (seconds > 0.0) gpu.meanMHz = megahertzSeconds / seconds;
    if (samples > 0) findings.gpus.push_back(std::move(gpu));
  }
}

void findSpeed(const SceneReport& scene, const ModeReport& mode, double fps, ModeFindings& findings) {
  const auto gpus = static_cast<uint32_t>(std::set<uint32_t>(mode.adapters.begin(), mode.adapters.end()).size());
  const ModeReport* single = reportOf(scene, {Mode::Single, false});
  const ModeReport* second = reportOf(scene, {Mode::Single, true});
  if (single == nullptr || single == &mode) return;
  std::vector<std::vector<double>> above, below;  // of the repeats that both have
  for (const BenchRun& run : mode.runs) {
    const auto same = std::ranges::find(single->runs, run.repeat, &BenchRun::repeat);
    if (same == single->runs.end()) continue;
    above.push_back(run.frameMs);
    below.push_back(same->frameMs);
  }
  findings.speedup = ratioInterval(above, below);
  const auto gain = speedup(scene, mode);
  if (!gain || gpus < 2) return;
  findings.efficiency = efficiency(*gain, gpus);
  findings.karpFlatt = karpFlatt(*gain, gpus);
  const auto one = summarizeMode(*single);
  const auto other = second != nullptr ? summarizeMode(*second) : std::nullopt;
  if (one && other) findings.ofSum = ofSum(fps, one->fps, other->fps);
}

}  // namespace

ModeFindings findingsOf(const SceneReport& scene, const ModeReport& mode, const BenchReport& report) {
  ModeFindings findings;
  const auto summary = summarizeMode(mode);
  if (!summary) return findings;
  const auto runs = frameTimes(mode);
  findings.fps = fpsInterval(runs);
  findSpeed(scene, mode, summary->fps, findings);
  findings.latencyFrames = summary->latencyMs.mean / summary->frameMs.mean;
  findings.onePercentLow = onePercentLow(runs);
  findings.stutter = stutter(runs);
  findings.deltaMs = summarize(deltas(runs));
  findings.times = timesOfMode(mode);
  if (findings.times) {
    findings.bound = boundOf(mode.contender.mode, *findings.times);
    findings.limit = limitOf(mode.contender.mode, *findings.times, report.settings.machine.linkGbps);
  }
  findPower(mode, findings);
  findMeanwhile(mode, findings);
  if (report.settings.pricePerHour) {
    const bool two = mode.contender.mode != Mode::Single;
    const double price = two ? report.settings.pricePerHour->two : report.settings.pricePerHour->one;
    findings.framesPerDollar = summary->fps * 3600.0 / price;
  }
  return findings;
}

std::optional<double> raysPerSecond(const SceneReport& scene, const NodeTimes& node) {
  if (!scene.raysPerFrame || !(node.traceMs > 0.0)) return std::nullopt;
  const double share = node.rows / static_cast<double>(scene.picture.size.height);
  return static_cast<double>(*scene.raysPerFrame) * share / (node.traceMs * 1e-3);
}

VerdictFacts verdictFacts(const SceneReport& scene, const BenchReport& report) {
  VerdictFacts facts;
  facts.failure = scene.failure;
  facts.simulatedDual = report.settings.machine.simulateDual;
  facts.validation = report.settings.validation;
  for (const ModeReport& mode : scene.modes) {
    const auto summary = summarizeMode(mode);
    const ModeFindings findings = findingsOf(scene, mode, report);
    ModeFacts& own = facts.modes.emplace_back();
    own.label = mode.contender.label();
    own.mode = mode.contender.mode;
    if (summary) own.fps = summary->fps;
    own.speedup = findings.speedup;
    own.limit = findings.limit;
    own.failure = mode.failure;
    if (findings.times && !findings.times->links.empty()) own.hiddenShare = findings.times->links.front().hiddenShare;
    for (const frame::NodeReport& node : mode.run.nodes) facts.software = facts.software || node.type == "cpu";
  }
  return facts;
}

}  // namespace tandem::jobs
