#include "jobs/nvml.h"

#include <dlfcn.h>

#include <utility>

namespace tandem::jobs::nvml {
namespace {

constexpr std::pair<uint64_t, const char*> kReasons[] = {
    {kReasonGpuIdle, "gpu idle"},
    {0x2, "applications clocks setting"},
    {0x4, "sw power cap"},
    {0x8, "hw slowdown"},
    {0x10, "sync boost"},
    {0x20, "sw thermal slowdown"},
    {0x40, "hw thermal slowdown"},
    {0x80, "hw power brake slowdown"},
    {0x100, "display clock setting"},
};

/// Looks entry points up and remembers the first that is missing of those that must be there.
class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}
  template <class Function>
  void optional(Function& function, const char* name) {
    if (function == nullptr) function = reinterpret_cast<Function>(::dlsym(library_, name));
  }
  template <class Function>
  void required(Function& function, const char* name) {
    optional(function, name);
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

const char* loadAll(void* opened, Library& library) {
  Loader load(opened);
  load.required(library.init, "nvmlInit_v2");
  load.required(library.errorString, "nvmlErrorString");
  load.required(library.deviceGetHandleByUuid, "nvmlDeviceGetHandleByUUID");
  load.required(library.deviceGetHandleByPciBusId, "nvmlDeviceGetHandleByPciBusId_v2");
  load.optional(library.deviceGetClockInfo, "nvmlDeviceGetClockInfo");
  load.optional(library.deviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
  load.optional(library.deviceGetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit");
  load.optional(library.deviceGetTemperature, "nvmlDeviceGetTemperature");
  load.optional(library.deviceGetClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons");
  load.optional(library.deviceGetClocksEventReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // before driver 535
  load.optional(library.deviceGetTotalEnergyConsumption, "nvmlDeviceGetTotalEnergyConsumption");
  return load.missing();
}

/// The value that `function(device, &value)` gives, times `scale`; nothing where it is absent or refuses.
template <class Value>
std::optional<double> ask(Result (*function)(Device, Value*), Device device, double scale) {
  Value value = 0;
  if (function == nullptr || function(device, &value) != kSuccess) return std::nullopt;
  return static_cast<double>(value) * scale;
}

/// The same of a clock or a sensor.
std::optional<double> askWhich(Result (*function)(Device, int which, unsigned*), Device device, int which) {
  unsigned value = 0;
  if (function == nullptr || function(device, which, &value) != kSuccess) return std::nullopt;
  return value;
}

class NvmlProbe : public GpuProbe {
 public:
  NvmlProbe(const Library& library, Device device) : library_(library), device_(device) {}

  std::string_view name() const override { return "nvml"; }

  GpuState state() override {
    GpuState state;
    state.graphicsMHz = askWhich(library_.deviceGetClockInfo, device_, kClockGraphics);
    state.memoryMHz = askWhich(library_.deviceGetClockInfo, device_, kClockMemory);
    state.powerW = ask(library_.deviceGetPowerUsage, device_, 1e-3);
    state.powerLimitW = ask(library_.deviceGetEnforcedPowerLimit, device_, 1e-3);
    state.temperatureC = askWhich(library_.deviceGetTemperature, device_, kTemperatureGpu);
    unsigned long long reasons = 0;
    if (library_.deviceGetClocksEventReasons != nullptr &&
        library_.deviceGetClocksEventReasons(device_, &reasons) == kSuccess)
      state.throttleReasons = reasonWords(reasons & ~kReasonGpuIdle);
    return state;
  }

  std::optional<double> energyJoules() override { return ask(library_.deviceGetTotalEnergyConsumption, device_, 1e-3); }

 private:
  Library library_;
  Device device_;
};

}  // namespace

std::string Library::resultText(Result result) const {
  const char* text = errorString != nullptr ? errorString(result) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? text : "an unnamed result", result);
}

Expected<Library> loadLibrary(const char* file) {
  void* opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* reason = ::dlerror();
    return refuse(ExitCode::NoUsableGpu, "{} cannot be opened ({}): it comes with NVIDIA's driver", file,
                  reason != nullptr ? reason : "no reason given");
  }
  Library library;
  if (const char* missing = loadAll(opened, library); missing != nullptr)
    return refuse(ExitCode::NoUsableGpu, "{} has no {}: update NVIDIA's driver", file, missing);
  if (const Result result = library.init(); result != kSuccess)
    return refuse(ExitCode::NoUsableGpu, "nvmlInit of {} answered {}", file, library.resultText(result));
  return library;
}

const Expected<Library>& library() {
  static const Expected<Library> loaded = loadLibrary("libnvidia-ml.so.1");
  return loaded;
}

Expected<Device> findDevice(const Library& library, const gpu::Adapter& adapter) {
  Device device = nullptr;
  const std::string uuid = "GPU-" + adapter.uuidText();
  const Result byUuid = library.deviceGetHandleByUuid(uuid.c_str(), &device);
  if (byUuid == kSuccess) return device;
  if (!adapter.pci)
    return refuse(ExitCode::NoUsableGpu, "NVML does not know {} of {}: {}", uuid, adapter.name,
                  library.resultText(byUuid));
  const std::string bus = adapter.pci->text();
  const Result byPci = library.deviceGetHandleByPciBusId(bus.c_str(), &device);
  if (byPci == kSuccess) return device;
  return refuse(ExitCode::NoUsableGpu, "NVML knows neither {} nor {} of {}: {}, {}", uuid, bus, adapter.name,
                library.resultText(byUuid), library.resultText(byPci));
}

std::vector<std::string> reasonWords(uint64_t mask) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : kReasons) {
    if ((mask & bit) != 0) words.emplace_back(word);
    mask &= ~bit;
  }
  if (mask != 0) words.push_back(fmt::format("reason {:#x}", mask));
  return words;
}

std::unique_ptr<GpuProbe> makeProbe(const Library& library, Device device) {
  return std::make_unique<NvmlProbe>(library, device);
}

}  // namespace tandem::jobs::nvml
