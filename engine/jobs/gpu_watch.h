// Watches GPUs while something is measured: a thread asks every probe at an interval; afterwards the watch says what
// each GPU did in any window of time.
//
//   GpuWatch watch(std::move(probes));        // one per adapter, null where there is none: indices stay the caller's
//   watch.start();
//   const uint64_t begin = watch.now();       // costs nothing: marks are times
//   ... timed frames ...
//   const uint64_t end = watch.now();
//   const GpuUse use = watch.use(adapter, begin, end);   // outside of what is timed: it may ask the GPUs
//   ... more windows ...
//   watch.stop();
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "jobs/gpu_probe.h"

namespace tandem::jobs {

/// What a GPU did in a window. Nothing where it cannot be known.
struct GpuUse {
  double seconds = 0;    // of the window
  uint32_t samples = 0;  // that fell into it
  /// By the GPU's own counter, read between the samples around the window's ends; where it has none, the integral of
  /// power over time (trapezoids between samples). Only where samples lie on both sides of the window.
  std::optional<double> joules;
  bool counted = false;             // joules come from a counter
  std::optional<double> meanWatts;  // joules over seconds
  std::optional<double> maxWatts;   // of the samples in the window, as are all below
  std::optional<double> meanMHz;    // graphics clock
  std::optional<double> maxTemperatureC;
  std::optional<std::set<std::string>> throttleReasons;  // seen at any sample; empty: none
};

/// All functions may be called from any thread but start() and stop(), which belong to the owner's. A probe that throws
/// has no sample at that moment: nothing is thrown out of the watching thread.
///
/// A window's ends fall between samples, so joules are as good as the power is even over one interval around each end;
/// NVIDIA's counters move on in steps of up to 100 ms themselves. Windows of several seconds make both small.
class GpuWatch {
 public:
  /// Nanoseconds of std::chrono::steady_clock, the clock of a frame's times; tests bring their own.
  using Clock = std::function<uint64_t()>;

  explicit GpuWatch(std::vector<std::unique_ptr<GpuProbe>> probes,
                    std::chrono::milliseconds interval = std::chrono::milliseconds(100), Clock clock = steadyClock());
  ~GpuWatch() { stop(); }
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Samples once before it returns, then from a thread. Does nothing while running.
  void start();
  /// Joins the thread and samples once more, so that all windows until now are covered. Does nothing while stopped.
  void stop();

  uint64_t now() const { return clock_(); }
  std::chrono::milliseconds interval() const { return interval_; }
  size_t size() const { return series_.size(); }

  /// "nvml", "sysfs"; nothing where there is no probe.
  std::optional<std::string> watcher(size_t index) const;
  /// Asks the GPU now; empty where there is no probe.
  GpuState state(size_t index);
  /// Asks all GPUs once, from the calling thread.
  void sample();
  /// Over [beginNs, endNs] of now()'s clock. While running, samples first if the last sample lies before the end.
  GpuUse use(size_t index, uint64_t beginNs, uint64_t endNs);

  static Clock steadyClock();

 private:
  struct Sample {
    uint64_t ns = 0;
    GpuState state;
    std::optional<double> joules;
  };
  struct Series {
    std::unique_ptr<GpuProbe> probe;  // may be null
    std::vector<Sample> samples;      // ascending in time
  };

  std::optional<Sample> takeSample(GpuProbe& probe) const;
  void sampleLocked();
  void loop();

  const std::chrono::milliseconds interval_;
  const Clock clock_;
  std::vector<Series> series_;  // probes and samples are guarded by mutex_
  std::mutex mutex_;
  std::condition_variable wake_;
  bool running_ = false;  // guarded by mutex_
  std::thread thread_;    // the owner's
};

}  // namespace tandem::jobs
