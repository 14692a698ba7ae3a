// The throttle of a link (--link-gbps): when a transfer may arrive at the earliest, so that a slot of that speed is
// felt before it is bought. Pure arithmetic; the bridge waits until the moment that it names.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tandem::topology {

class LinkPacer {
 public:
  using Clock = std::chrono::steady_clock;

  /// 1e9 bytes a second; 0: no limit.
  explicit LinkPacer(double gigabytesPerSecond) : gigabytesPerSecond_(gigabytesPerSecond) {}
  bool limited() const { return gigabytesPerSecond_ > 0.0; }

  /// The moment at which `bytes` that were ready at `ready` have crossed. Transfers follow one another: the way of one
  /// begins at the later of its ready time and the end of the one before.
  Clock::time_point arrival(Clock::time_point ready, uint64_t bytes) {
    if (!limited()) return ready;
    const std::chrono::duration<double> crossing(static_cast<double>(bytes) / (gigabytesPerSecond_ * 1e9));
    end_ = std::max(ready, end_) + std::chrono::ceil<Clock::duration>(crossing);
    return end_;
  }

 private:
  double gigabytesPerSecond_;
  Clock::time_point end_{};
};

}  // namespace tandem::topology
