#include "jobs/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tandem::jobs {
namespace {

std::vector<double> sortedCopy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

/// The percentile where at least one value in as many as there are may lie above it.
std::optional<double> percentileOf(std::span<const double> sorted, double percent) {
  if (static_cast<double>(sorted.size()) * (100.0 - percent) < 100.0) return std::nullopt;
  return nearestRank(sorted, percent);
}

}  // namespace

double nearestRank(std::span<const double> sorted, double percent) {
  TANDEM_CHECK(!sorted.empty() && percent > 0.0 && percent <= 100.0, "percentile {} of {} values", percent,
               sorted.size());
  // 99.9 is no binary number: what is whole in decimals must not be rounded up by the error.
  constexpr double kRounding = 1e-9;
  const double rank = std::ceil(percent * static_cast<double>(sorted.size()) / 100.0 - kRounding);
  return sorted[std::clamp<size_t>(static_cast<size_t>(rank), 1, sorted.size()) - 1];
}

double median(std::span<const double> values) { return nearestRank(sortedCopy(values), 50.0); }

std::optional<Statistics> summarize(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const std::vector<double> sorted = sortedCopy(values);
  const auto count = static_cast<double>(sorted.size());
  Statistics result;
  result.count = sorted.size();
  result.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  if (sorted.size() > 1) {
    double squares = 0.0;
    for (const double value : sorted) squares += (value - result.mean) * (value - result.mean);
    result.deviation = std::sqrt(squares / (count - 1.0));
  }
  result.least = sorted.front();
  result.most = sorted.back();
  result.p50 = nearestRank(sorted, 50.0);
  result.p90 = percentileOf(sorted, 90.0);
  result.p95 = percentileOf(sorted, 95.0);
  result.p99 = percentileOf(sorted, 99.0);
  if (sorted.size() >= kLeastForP999) result.p999 = nearestRank(sorted, 99.9);
  return result;
}

bool settled(std::span<const double> series) {
  if (series.size() < 2 * kSettlingBlock) return false;
  const double before = median(series.last(2 * kSettlingBlock).first(kSettlingBlock));
  const double now = median(series.last(kSettlingBlock));
  return std::abs(now - before) <= kSettledWithin * std::max(now, before);
}

}  // namespace tandem::jobs
