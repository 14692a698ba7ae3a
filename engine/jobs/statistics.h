// Figures over series of measurements. Pure; each is defined here, and the reports repeat these definitions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tandem::jobs {

/// The percentile by nearest rank: the smallest of the values that at least `percent` percent of them do not exceed,
/// number ceil(percent / 100 * n) in order. Always one of the values. `sorted`: ascending, not empty; 0 < percent <=
/// 100.
double nearestRank(std::span<const double> sorted, double percent);

/// The 50th percentile by nearest rank. `values`: in any order, not empty.
double median(std::span<const double> values);

/// p99.9 rests on ten values above it: one frame in a thousand is easily another program's.
inline constexpr size_t kLeastForP999 = 10'000;

/// In the unit of the values. Empty: there are too few of them, less than one (for p999: ten) would be above that
/// percentile.
struct Statistics {
  size_t count = 0;
  double mean = 0.0;
  std::optional<double> deviation;  // of a sample: over n - 1; from 2 values on
  double least = 0.0;
  double most = 0.0;
  double p50 = 0.0;
  std::optional<double> p90;   // from 10 values on
  std::optional<double> p95;   // from 20
  std::optional<double> p99;   // from 100
  std::optional<double> p999;  // 99.9 %, from kLeastForP999
};

/// Nothing where `values` is empty.
std::optional<Statistics> summarize(std::span<const double> values);

inline constexpr size_t kSettlingBlock = 5;
inline constexpr double kSettledWithin = 0.02;

/// Whether a series has come to rest: the medians of its last two blocks of kSettlingBlock values differ by at most
/// kSettledWithin of the larger. Not before there are two blocks.
bool settled(std::span<const double> series);

}  // namespace tandem::jobs
