// How evenly frames came: slow frames, stutter and differences between neighbours. Pure. Times in ms; a run is the
// frame times of one measured run, in order. Several runs count together, but what looks at neighbours never looks from
// one run into another. Each figure is defined here, and the reports repeat these definitions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tandem::jobs {

/// Two figures that programs call "1% low", in frames per second. Empty below kLeastForOnePercent frames, and where the
/// frame time that decides is 0.
struct OnePercentLow {
  /// 1000 / p99 of the frame times of all runs (nearest rank): one frame in a hundred is slower.
  std::optional<double> byP99;
  /// 1000 / t. t: of the frames of all runs, longest first, the frame time at which their sum reaches 1 % of the sum of
  /// all. For one hundredth of the *time* the rate was this or lower; long frames weigh more than in byP99.
  std::optional<double> timeWeighted;
};
inline constexpr size_t kLeastForOnePercent = 100;
OnePercentLow onePercentLow(std::span<const std::vector<double>> runs);

/// Frames longer than kStutterFactor times their local median: the median (nearest rank) of the kStutterWindow frames
/// of the same run that have this frame in their middle, fewer at a run's ends.
struct Stutter {
  size_t count = 0;
  double timeShare = 0.0;  // their time / that of all frames of the runs that count, 0 to 1
};
inline constexpr size_t kStutterWindow = 11;
inline constexpr double kStutterFactor = 2.0;
/// Runs of less than kStutterWindow frames do not count. Nothing where none does.
std::optional<Stutter> stutter(std::span<const std::vector<double>> runs);

/// |t[i] - t[i-1]| within each run, one run after the other: micro-stutter, as frames in turn on two GPUs may have it
/// at the best of frame rates. Its percentiles are summarize()'s (statistics.h).
std::vector<double> deltas(std::span<const std::vector<double>> runs);

}  // namespace tandem::jobs
