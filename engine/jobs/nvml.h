// The part of NVML (libnvidia-ml.so.1, NVIDIA's management library) that the benchmark asks, opened while running:
// neither a header nor a library of it takes part in the build, and a machine without it loses nothing but these
// figures. Types and constants are those of the library's binary interface; names follow it without the prefix `nvml`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/gpu_probe.h"

namespace tandem::jobs::nvml {

using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED
constexpr Result kNotFound = 6;      // NVML_ERROR_NOT_FOUND

using Device = struct DeviceTag*;

constexpr int kClockGraphics = 0;   // NVML_CLOCK_GRAPHICS
constexpr int kClockMemory = 2;     // NVML_CLOCK_MEM
constexpr int kTemperatureGpu = 0;  // NVML_TEMPERATURE_GPU

/// Bits of the clocks' event reasons ("throttle reasons" until driver 535).
constexpr uint64_t kReasonGpuIdle = 0x1;

/// The entry points. All are thread-safe. Those below `deviceGetHandleByPciBusId` may be absent (null) in old drivers.
struct Library {
  Result (*init)() = nullptr;
  const char* (*errorString)(Result) = nullptr;
  Result (*deviceGetHandleByUuid)(const char* uuid, Device*) = nullptr;  // "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
  Result (*deviceGetHandleByPciBusId)(const char* bus, Device*) = nullptr;  // "0000:18:00.0"
  Result (*deviceGetClockInfo)(Device, int clock, unsigned* megahertz) = nullptr;
  Result (*deviceGetPowerUsage)(Device,
                                unsigned* milliwatts) = nullptr;  // of the last second from Ampere on (not GA100)
  Result (*deviceGetEnforcedPowerLimit)(Device, unsigned* milliwatts) = nullptr;
  Result (*deviceGetTemperature)(Device, int sensor, unsigned* celsius) = nullptr;
  Result (*deviceGetClocksEventReasons)(Device, unsigned long long* mask) = nullptr;
  Result (*deviceGetTotalEnergyConsumption)(Device, unsigned long long* millijoules) = nullptr;  // Volta and later

  /// "Driver Not Loaded (9)".
  std::string resultText(Result result) const;
};

/// Opens a library and initialises it; never closed again. Refuses where it is absent, too old or finds no driver.
Expected<Library> loadLibrary(const char* file);
/// The process's NVML, libnvidia-ml.so.1, opened once.
const Expected<Library>& library();

/// The GPU of an adapter, found by its UUID (Vulkan's and NVML's are the same), else by its PCI address. Refuses where
/// NVML knows neither.
Expected<Device> findDevice(const Library& library, const gpu::Adapter& adapter);

/// The reasons of a mask in words, in the order of the bits: "gpu idle", "sw power cap", ... Bits without a name are
/// told as numbers.
std::vector<std::string> reasonWords(uint64_t mask);

/// Asks `device`. What a call refuses, for whatever reason, is nothing. `library` is copied.
std::unique_ptr<GpuProbe> makeProbe(const Library& library, Device device);

}  // namespace tandem::jobs::nvml
