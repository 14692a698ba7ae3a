// One clock for all: a device's timestamps on the host's steady clock (CLOCK_MONOTONIC, nanoseconds), so that what
// several devices and threads did can be drawn under each other.
//
// VK_EXT_calibrated_timestamps reads both clocks at one moment. What comes of it is believed only where it agrees with
// what the host saw: nothing begins before its submission, nor ends after the wait for it has returned. Where the
// extension is absent or does not agree, the host's times stand in: sections are laid end to end, so that the last ends
// when the wait returned.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/commands.h"

namespace tandem::gpu {

class Device;

/// The host's steady clock now, in nanoseconds.
uint64_t hostNanoseconds();

/// Both clocks at one moment.
struct ClockSample {
  uint64_t ticks = 0;        // of the device
  uint64_t hostNs = 0;       // of the host's steady clock
  uint64_t deviationNs = 0;  // how far apart the two readings may be
};

/// A section, and when the host submitted what it is in.
struct SubmittedSection {
  PassTime time;
  uint64_t submittedNs = 0;
};

/// A stretch of the host's steady clock, in nanoseconds.
struct HostSpan {
  uint64_t beginNs = 0, endNs = 0;
};

/// Of one device. One thread (the render thread).
class DeviceClock {
 public:
  using Sampler = std::function<std::optional<ClockSample>()>;

  /// Of the device's main queue. `device` outlives the clock.
  explicit DeviceClock(Device& device);
  /// For tests. `validBits`: after how many bits the device's counter begins again.
  DeviceClock(Sampler sampler, double nsPerTick, uint32_t validBits);

  /// Whether the two clocks are tied to each other.
  bool calibrated() const { return sample_.has_value(); }

  /// A tick of the device on the host's clock; nothing where the clocks are not tied.
  std::optional<uint64_t> toHost(uint64_t ticks) const;

  /// One span per section. `sections`: all that the device did in one frame, in its order, finished; `doneNs`: when the
  /// wait for it had returned. Ties the clocks anew now and then, since they drift apart.
  std::vector<HostSpan> place(std::span<const SubmittedSection> sections, uint64_t doneNs);

  /// Frames whose device times did not agree with the host's.
  uint64_t rejected() const { return rejected_; }

 private:
  void refresh(uint64_t nowNs);
  std::optional<std::vector<HostSpan>> byDevice(std::span<const SubmittedSection> sections, uint64_t doneNs) const;
  std::vector<HostSpan> byHost(std::span<const SubmittedSection> sections, uint64_t doneNs) const;

  Sampler sampler_;
  double nsPerTick_;
  uint32_t validBits_;
  std::optional<ClockSample> sample_;
  uint64_t lastEndNs_ = 0;  // of what was placed last
  uint64_t rejected_ = 0;
};

}  // namespace tandem::gpu
