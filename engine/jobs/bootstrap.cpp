#include "jobs/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "base/check.h"
#include "jobs/statistics.h"

namespace tandem::jobs {
namespace {

constexpr double kPicosecondsPerMs = 1e9;
constexpr double kPicosecondsPerSecond = 1e12;

/// Whole numbers below a limit. std::uniform_int_distribution differs between standard libraries; the engine does not.
class Generator {
 public:
  /// `limit`: 1 to 2^32 - 1. Uneven by less than limit / 2^32.
  size_t below(size_t limit) { return static_cast<size_t>(((engine_() >> 32) * limit) >> 32); }

 private:
  std::mt19937_64 engine_{20'011};
};

struct Total {
  size_t frames = 0;
  double picoseconds = 0.0;
  double fps() const {
    // A resample may be of frames that took no time at all.
    return static_cast<double>(frames) * kPicosecondsPerSecond / std::max(picoseconds, 1.0);
  }
};

/// One repeat. Its times are summed as whole picoseconds, so that a block has the same sum wherever it begins, and
/// frames that all take equally long give an interval of no width.
class Repeat {
 public:
  Repeat(const std::vector<double>& frameMs, size_t blockFrames)
      : block_(std::clamp<size_t>(blockFrames > 0 ? blockFrames : blockLength(frameMs.size()), 1, frameMs.size())) {
    sums_.reserve(frameMs.size() + 1);
    sums_.push_back(0);
    double sum = 0.0;
    for (const double ms : frameMs) {
      sum += ms;
      TANDEM_CHECK(ms >= 0.0 && sum <= kLongestRunMs, "a frame time of {} ms, in all {} ms", ms, sum);
      sums_.push_back(sums_.back() + std::llround(ms * kPicosecondsPerMs));
    }
  }

  void addTo(Total& total) const {
    total.frames += frames();
    total.picoseconds += static_cast<double>(sums_.back());
  }

  void addResampledTo(Total& total, Generator& generator) const {
    const size_t starts = frames() - block_ + 1;
    for (size_t left = frames(); left > 0;) {
      const size_t length = std::min(block_, left);
      const size_t start = generator.below(starts);
      total.picoseconds += static_cast<double>(sums_[start + length] - sums_[start]);
      left -= length;
    }
    total.frames += frames();
  }

 private:
  size_t frames() const { return sums_.size() - 1; }

  size_t block_;
  std::vector<int64_t> sums_;  // [i]: of the first i frames
};

using Repeats = std::vector<Repeat>;

/// Empty where there is no interval.
Repeats repeatsOf(std::span<const std::vector<double>> runs, size_t blockFrames) {
  if (runs.size() < 2) return {};
  Repeats repeats;
  for (const std::vector<double>& run : runs) {
    if (run.empty()) return {};
    Total total;
    repeats.emplace_back(run, blockFrames).addTo(total);
    if (total.picoseconds == 0.0) return {};
  }
  return repeats;
}

double fpsOf(const Repeats& repeats) {
  Total total;
  for (const Repeat& repeat : repeats) repeat.addTo(total);
  return total.fps();
}

void draw(std::vector<size_t>& chosen, size_t count, Generator& generator) {
  chosen.resize(count);
  for (size_t& repeat : chosen) repeat = generator.below(count);
}

double resampledFps(const Repeats& repeats, std::span<const size_t> chosen, Generator& generator) {
  Total total;
  for (const size_t repeat : chosen) repeats[repeat].addResampledTo(total, generator);
  return total.fps();
}

/// `resample`: the figure of one resample.
template <class Resample>
Interval intervalOf(double value, Resample resample) {
  std::vector<double> figures(kResamples);
  std::ranges::generate(figures, resample);
  std::ranges::sort(figures);
  return {value, nearestRank(figures, 2.5), nearestRank(figures, 97.5)};
}

}  // namespace

size_t blockLength(size_t frames) {
  const auto wanted = static_cast<size_t>(std::lround(2.0 * std::cbrt(static_cast<double>(frames))));
  return std::max<size_t>(1, std::min(wanted, frames / 2));
}

std::optional<Interval> fpsInterval(std::span<const std::vector<double>> runs, size_t blockFrames) {
  const Repeats repeats = repeatsOf(runs, blockFrames);
  if (repeats.empty()) return std::nullopt;
  Generator generator;
  std::vector<size_t> chosen;
  return intervalOf(fpsOf(repeats), [&] {
    draw(chosen, repeats.size(), generator);
    return resampledFps(repeats, chosen, generator);
  });
}

std::optional<Interval> ratioInterval(std::span<const std::vector<double>> above,
                                      std::span<const std::vector<double>> below, size_t blockFrames) {
  const Repeats upper = repeatsOf(above, blockFrames);
  const Repeats lower = repeatsOf(below, blockFrames);
  if (upper.empty() || lower.empty()) return std::nullopt;
  Generator generator;
  std::vector<size_t> chosen;
  return intervalOf(fpsOf(upper) / fpsOf(lower), [&] {
    draw(chosen, upper.size(), generator);
    const double fps = resampledFps(upper, chosen, generator);
    if (lower.size() != upper.size()) draw(chosen, lower.size(), generator);
    return fps / resampledFps(lower, chosen, generator);
  });
}

bool differs(const Interval& ratio) { return ratio.low > 1.0 || ratio.high < 1.0; }

}  // namespace tandem::jobs
