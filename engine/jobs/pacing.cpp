#include "jobs/pacing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "jobs/statistics.h"

namespace tandem::jobs {
namespace {

std::optional<double> fpsAt(double frameMs) {
  if (frameMs <= 0.0) return std::nullopt;
  return 1000.0 / frameMs;
}

/// `sorted`: ascending, not empty.
double msAtOnePercentOfTime(std::span<const double> sorted) {
  // A sum that is 1 % in decimals must not miss it by the error of its binary digits.
  constexpr double kRounding = 1e-9;
  const double enough = std::accumulate(sorted.begin(), sorted.end(), 0.0) / 100.0 * (1.0 - kRounding);
  double sum = 0.0;
  size_t frame = sorted.size();
  while (frame > 0 && sum < enough) sum += sorted[--frame];
  return sorted[std::min(frame, sorted.size() - 1)];
}

double localMedian(std::span<const double> run, size_t frame) {
  constexpr size_t kReach = kStutterWindow / 2;
  const size_t begin = frame - std::min(frame, kReach);
  const size_t end = std::min(frame + kReach + 1, run.size());
  return median(run.subspan(begin, end - begin));
}

}  // namespace

OnePercentLow onePercentLow(std::span<const std::vector<double>> runs) {
  std::vector<double> times;
  for (const std::vector<double>& run : runs) times.insert(times.end(), run.begin(), run.end());
  if (times.size() < kLeastForOnePercent) return {};
  std::ranges::sort(times);
  return {fpsAt(nearestRank(times, 99.0)), fpsAt(msAtOnePercentOfTime(times))};
}

std::optional<Stutter> stutter(std::span<const std::vector<double>> runs) {
  Stutter result;
  double allMs = 0.0;
  double stutterMs = 0.0;
  for (const std::vector<double>& run : runs) {
    if (run.size() < kStutterWindow) continue;
    for (size_t frame = 0; frame < run.size(); ++frame) {
      allMs += run[frame];
      if (run[frame] <= kStutterFactor * localMedian(run, frame)) continue;
      ++result.count;
      stutterMs += run[frame];
    }
  }
  if (allMs <= 0.0) return std::nullopt;
  result.timeShare = stutterMs / allMs;
  return result;
}

std::vector<double> deltas(std::span<const std::vector<double>> runs) {
  std::vector<double> result;
  for (const std::vector<double>& run : runs)
    for (size_t frame = 1; frame < run.size(); ++frame) result.push_back(std::abs(run[frame] - run[frame - 1]));
  return result;
}

}  // namespace tandem::jobs
