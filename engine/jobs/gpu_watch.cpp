#include "jobs/gpu_watch.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace tandem::jobs {
namespace {

/// A measured quantity over time: between its points it runs straight.
struct Point {
  uint64_t ns = 0;
  double value = 0;
};

/// How far `ns` is from a to b, 0 to 1; for a <= ns <= b.
double shareOf(uint64_t ns, uint64_t a, uint64_t b) {
  return b > a ? static_cast<double>(ns - a) / static_cast<double>(b - a) : 0.0;
}

/// For ns between the first point and the last.
double valueAt(std::span<const Point> points, uint64_t ns) {
  const auto after = std::ranges::lower_bound(points, ns, {}, &Point::ns);
  if (after->ns == ns) return after->value;
  const auto before = after - 1;
  return before->value + (after->value - before->value) * shareOf(ns, before->ns, after->ns);
}

bool covered(std::span<const Point> points, uint64_t beginNs, uint64_t endNs) {
  return !points.empty() && points.front().ns <= beginNs && points.back().ns >= endNs;
}

/// Of a counter. Nothing where it went backwards: a driver that was loaded anew counts from 0.
std::optional<double> grownBy(std::span<const Point> points, uint64_t beginNs, uint64_t endNs) {
  if (!covered(points, beginNs, endNs)) return std::nullopt;
  const double grown = valueAt(points, endNs) - valueAt(points, beginNs);
  return grown >= 0 ? std::optional(grown) : std::nullopt;
}

/// Over time, in value times seconds, by the trapezoidal rule.
std::optional<double> integralOf(std::span<const Point> points, uint64_t beginNs, uint64_t endNs) {
  if (!covered(points, beginNs, endNs)) return std::nullopt;
  double sum = 0;
  Point last{beginNs, valueAt(points, beginNs)};
  const auto add = [&](const Point& next) {
    sum += 0.5 * (last.value + next.value) * static_cast<double>(next.ns - last.ns) * 1e-9;
    last = next;
  };
  for (const Point& point : points) {
    if (point.ns > beginNs && point.ns < endNs) add(point);
  }
  add({endNs, valueAt(points, endNs)});
  return sum;
}

void takeMost(std::optional<double>& most, std::optional<double> value) {
  if (value) most = std::max(most.value_or(*value), *value);
}

/// What only the samples inside of the window tell.
void addSample(GpuUse& use, const GpuState& state) {
  ++use.samples;
  takeMost(use.maxWatts, state.powerW);
  takeMost(use.maxTemperatureC, state.temperatureC);
  if (!state.throttleReasons) return;
  if (!use.throttleReasons) use.throttleReasons.emplace();
  use.throttleReasons->insert(state.throttleReasons->begin(), state.throttleReasons->end());
}

}  // namespace

GpuWatch::Clock GpuWatch::steadyClock() {
  return [] {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  };
}

GpuWatch::GpuWatch(std::vector<std::unique_ptr<GpuProbe>> probes, std::chrono::milliseconds interval, Clock clock)
    : interval_(interval), clock_(std::move(clock)) {
  TANDEM_CHECK(interval_.count() > 0, "a watch at an interval of {} ms", interval_.count());
  for (auto& probe : probes) series_.push_back({std::move(probe), {}});
}

void GpuWatch::start() {
  if (thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    sampleLocked();
    running_ = true;
  }
  thread_ = std::thread([this] { loop(); });
}

void GpuWatch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    running_ = false;
  }
  wake_.notify_all();
  thread_.join();
  sample();
}

void GpuWatch::loop() {
  std::unique_lock lock(mutex_);
  auto next = std::chrono::steady_clock::now() + interval_;
  while (!wake_.wait_until(lock, next, [this] { return !running_; })) {
    sampleLocked();
    next += interval_;
    // Probes that are slower than the interval are asked less often, not without a pause.
    if (const auto now = std::chrono::steady_clock::now(); next < now) next = now + interval_;
  }
}

void GpuWatch::sample() {
  const std::scoped_lock lock(mutex_);
  sampleLocked();
}

std::optional<GpuWatch::Sample> GpuWatch::takeSample(GpuProbe& probe) const {
  try {
    Sample sample;
    sample.ns = clock_();
    sample.joules = probe.energyJoules();
    sample.state = probe.state();
    return sample;
  } catch (...) {
    return std::nullopt;  // a figure in a report is not worth the run; windows say how many samples they have
  }
}

void GpuWatch::sampleLocked() {
  for (Series& series : series_) {
    if (!series.probe) continue;
    if (auto sample = takeSample(*series.probe)) series.samples.push_back(std::move(*sample));
  }
}

std::optional<std::string> GpuWatch::watcher(size_t index) const {
  TANDEM_CHECK(index < series_.size(), "GPU {} of {} that are watched", index, series_.size());
  const auto& probe = series_[index].probe;
  return probe ? std::optional<std::string>(probe->name()) : std::nullopt;
}

GpuState GpuWatch::state(size_t index) {
  TANDEM_CHECK(index < series_.size(), "GPU {} of {} that are watched", index, series_.size());
  const std::scoped_lock lock(mutex_);
  if (!series_[index].probe) return {};
  try {
    return series_[index].probe->state();
  } catch (...) {
    return {};
  }
}

GpuUse GpuWatch::use(size_t index, uint64_t beginNs, uint64_t endNs) {
  TANDEM_CHECK(index < series_.size(), "GPU {} of {} that are watched", index, series_.size());
  TANDEM_CHECK(beginNs <= endNs, "a window from {} to {}", beginNs, endNs);
  const std::scoped_lock lock(mutex_);
  const auto& samples = series_[index].samples;
  if (running_ && !samples.empty() && samples.back().ns < endNs) sampleLocked();

  GpuUse use;
  use.seconds = static_cast<double>(endNs - beginNs) * 1e-9;
  std::vector<Point> energy, power;
  double clockSum = 0;
  uint32_t clocks = 0;
  for (const Sample& sample : samples) {
    if (sample.joules) energy.push_back({sample.ns, *sample.joules});
    if (sample.state.powerW) power.push_back({sample.ns, *sample.state.powerW});
    if (sample.ns < beginNs || sample.ns > endNs) continue;
    addSample(use, sample.state);
    if (!sample.state.graphicsMHz) continue;
    clockSum += *sample.state.graphicsMHz;
    ++clocks;
  }
  if (clocks > 0) use.meanMHz = clockSum / clocks;
  use.joules = grownBy(energy, beginNs, endNs);
  use.counted = use.joules.has_value();
  if (!use.joules) use.joules = integralOf(power, beginNs, endNs);
  if (use.joules && use.seconds > 0) use.meanWatts = *use.joules / use.seconds;
  return use;
}

}  // namespace tandem::jobs
