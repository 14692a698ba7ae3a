// What a GPU tells about itself beyond Vulkan: clocks, power, temperature, what holds its clocks down. What cannot be
// read is nothing, never 0: reports write N/A.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/adapter.h"

namespace tandem::jobs {

/// A GPU at one moment.
struct GpuState {
  std::optional<double> graphicsMHz, memoryMHz;
  std::optional<double> powerW;  // the whole board; how long a time it is averaged over, the driver decides
  std::optional<double> powerLimitW;
  std::optional<double> temperatureC;
  /// What holds the clocks down: "sw power cap", "hw thermal slowdown", ...; empty: nothing does. A GPU that is idle is
  /// not throttled. Nothing: the driver does not tell.
  std::optional<std::vector<std::string>> throttleReasons;
  bool operator==(const GpuState&) const = default;
};

/// Asks one GPU. Reading takes from microseconds up to some milliseconds and leaves the GPU's queues alone. One thread
/// at a time.
class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  virtual std::string_view name() const = 0;  // "nvml", "sysfs": what is asked
  virtual GpuState state() = 0;
  /// Joules since some moment in the past, never less than at the call before. Nothing: the GPU does not count.
  virtual std::optional<double> energyJoules() = 0;
};

/// The probe for an adapter: NVML for NVIDIA's driver, else the kernel's files (AMD, Intel). Null for software devices
/// and where nothing can be read; the reason goes to the log (debug).
std::unique_ptr<GpuProbe> makeProbe(const gpu::Adapter& adapter);

}  // namespace tandem::jobs
