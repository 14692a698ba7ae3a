// NVML is found while running or not at all. A made-up table of entry points shows what becomes of each answer; where
// the real library and a GPU are there, they are asked too.
#include "jobs/nvml.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

namespace tandem::jobs {
namespace {

using nvml::Device;
using nvml::Library;
using nvml::Result;

/// What the made-up library answers; each test sets its own.
struct Answers {
  std::string uuid = "GPU-00000000-0000-0000-0000-0000000000ff";
  std::string bus = "0000:18:00.0";
  Result others = nvml::kSuccess;  // of all calls that ask a device
  unsigned long long reasons = 0;
};
Answers answers;

Device deviceOf(uintptr_t number) { return reinterpret_cast<Device>(number); }

template <class Value>
Result answer(Value* value, Value what) {
  if (answers.others == nvml::kSuccess) *value = what;
  return answers.others;
}

Library madeUp() {
  answers = {};
  Library library;
  library.init = [] { return nvml::kSuccess; };
  library.errorString = [](Result result) -> const char* { return result == nvml::kNotFound ? "Not Found" : nullptr; };
  library.deviceGetHandleByUuid = [](const char* uuid, Device* device) {
    *device = deviceOf(1);
    return uuid == answers.uuid ? nvml::kSuccess : nvml::kNotFound;
  };
  library.deviceGetHandleByPciBusId = [](const char* bus, Device* device) {
    *device = deviceOf(2);
    return bus == answers.bus ? nvml::kSuccess : nvml::kNotFound;
  };
  library.deviceGetClockInfo = [](Device, int clock, unsigned* megahertz) {
    return answer(megahertz, clock == nvml::kClockGraphics ? 1980u : clock == nvml::kClockMemory ? 3201u : 7u);
  };
  library.deviceGetPowerUsage = [](Device, unsigned* milliwatts) { return answer(milliwatts, 412'500u); };
  library.deviceGetEnforcedPowerLimit = [](Device, unsigned* milliwatts) { return answer(milliwatts, 700'000u); };
  library.deviceGetTemperature = [](Device, int sensor, unsigned* celsius) {
    return answer(celsius, sensor == nvml::kTemperatureGpu ? 61u : 7u);
  };
  library.deviceGetClocksEventReasons = [](Device, unsigned long long* mask) { return answer(mask, answers.reasons); };
  library.deviceGetTotalEnergyConsumption = [](Device, unsigned long long* millijoules) {
    return answer(millijoules, 5'000'000'250ull);  // beyond 32 bits
  };
  return library;
}

gpu::Adapter adapterWith(uint8_t lastByteOfUuid, std::optional<gpu::PciAddress> pci) {
  gpu::Adapter adapter;
  adapter.name = "a GPU";
  adapter.uuid[15] = lastByteOfUuid;
  adapter.pci = pci;
  return adapter;
}

TEST(Nvml, ALibraryThatIsNotThereIsRefusedByName) {
  const auto loaded = nvml::loadLibrary("libnvidia-ml_that_nobody_has.so.1");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.refusal().message.find("libnvidia-ml_that_nobody_has.so.1 cannot be opened"), std::string::npos)
      << loaded.refusal().message;
}

TEST(Nvml, ALibraryWithoutTheEntryPointsIsRefusedByTheFirst) {
  const auto loaded = nvml::loadLibrary("libc.so.6");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.refusal().message.find("libc.so.6 has no nvmlInit_v2"), std::string::npos)
      << loaded.refusal().message;
}

TEST(Nvml, TheProcessHasOneAnswer) {
  const auto& library = nvml::library();
  EXPECT_EQ(&library, &nvml::library());
  if (!library) {
    EXPECT_NE(library.refusal().message.find("libnvidia-ml.so.1"), std::string::npos) << library.refusal().message;
  }
}

TEST(Nvml, DevicesAreFoundByUuidElseByPciAddress) {
  const Library library = madeUp();
  const gpu::PciAddress known{0, 0x18, 0, 0}, unknown{0, 0x19, 0, 0};
  const auto byUuid = nvml::findDevice(library, adapterWith(0xff, unknown));
  ASSERT_TRUE(byUuid);
  EXPECT_EQ(*byUuid, deviceOf(1));
  const auto byPci = nvml::findDevice(library, adapterWith(0xfe, known));
  ASSERT_TRUE(byPci);
  EXPECT_EQ(*byPci, deviceOf(2));
  const auto neither = nvml::findDevice(library, adapterWith(0xfe, unknown));
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.refusal().message,
            "NVML knows neither GPU-00000000-0000-0000-0000-0000000000fe nor 0000:19:00.0 of a GPU: Not Found (6), "
            "Not Found (6)");
  EXPECT_FALSE(nvml::findDevice(library, adapterWith(0xfe, std::nullopt)));
}

TEST(Nvml, AnswersAreTurnedIntoMegahertzWattsAndJoules) {
  const auto probe = nvml::makeProbe(madeUp(), deviceOf(1));
  EXPECT_EQ(probe->name(), "nvml");
  const GpuState state = probe->state();
  EXPECT_EQ(state.graphicsMHz, 1980.0);
  EXPECT_EQ(state.memoryMHz, 3201.0);
  ASSERT_TRUE(state.powerW && state.powerLimitW);
  EXPECT_DOUBLE_EQ(*state.powerW, 412.5);
  EXPECT_DOUBLE_EQ(*state.powerLimitW, 700.0);
  EXPECT_EQ(state.temperatureC, 61.0);
  EXPECT_EQ(state.throttleReasons, std::vector<std::string>());  // told, and none
  ASSERT_TRUE(probe->energyJoules());
  EXPECT_DOUBLE_EQ(*probe->energyJoules(), 5'000'000.25);
}

TEST(Nvml, WhatIsRefusedIsNothingAndNotZero) {
  const auto probe = nvml::makeProbe(madeUp(), deviceOf(1));
  for (const Result result : {nvml::kNotSupported, 4 /* no permission */, 15 /* the GPU is lost */}) {
    answers.others = result;
    EXPECT_EQ(probe->state(), GpuState{}) << result;
    EXPECT_FALSE(probe->energyJoules()) << result;
  }
}

TEST(Nvml, EntryPointsThatAnOldDriverLacksAreNothing) {
  const Library all = madeUp();
  Library old;
  old.init = all.init;
  old.deviceGetTemperature = all.deviceGetTemperature;
  const auto probe = nvml::makeProbe(old, deviceOf(1));
  GpuState expected;
  expected.temperatureC = 61.0;
  EXPECT_EQ(probe->state(), expected);
  EXPECT_FALSE(probe->energyJoules());
}

TEST(Nvml, ReasonsAreToldInWordsInTheOrderOfTheirBits) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(nvml::reasonWords(0), Words());
  EXPECT_EQ(nvml::reasonWords(0x1), Words({"gpu idle"}));
  EXPECT_EQ(nvml::reasonWords(0x68), Words({"hw slowdown", "sw thermal slowdown", "hw thermal slowdown"}));
  EXPECT_EQ(nvml::reasonWords(0x94), Words({"sw power cap", "sync boost", "hw power brake slowdown"}));
  EXPECT_EQ(nvml::reasonWords(0x102), Words({"applications clocks setting", "display clock setting"}));
  EXPECT_EQ(nvml::reasonWords(0x8000'0004), Words({"sw power cap", "reason 0x80000000"}));
}

TEST(Nvml, AnIdleGpuIsNotThrottled) {
  const auto probe = nvml::makeProbe(madeUp(), deviceOf(1));
  answers.reasons = nvml::kReasonGpuIdle;
  EXPECT_EQ(probe->state().throttleReasons, std::vector<std::string>());
  answers.reasons = nvml::kReasonGpuIdle | 0x4;
  EXPECT_EQ(probe->state().throttleReasons, std::vector<std::string>({"sw power cap"}));
}

/// The real library's first GPU, as Vulkan would describe it by its UUID.
std::optional<gpu::Adapter> firstRealGpu() {
  void* opened = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return std::nullopt;
  const auto byIndex =
      reinterpret_cast<Result (*)(unsigned, Device*)>(::dlsym(opened, "nvmlDeviceGetHandleByIndex_v2"));
  const auto uuidOf = reinterpret_cast<Result (*)(Device, char*, unsigned)>(::dlsym(opened, "nvmlDeviceGetUUID"));
  Device device = nullptr;
  char text[96] = {};
  if (byIndex == nullptr || uuidOf == nullptr || byIndex(0, &device) != nvml::kSuccess ||
      uuidOf(device, text, sizeof text) != nvml::kSuccess)
    return std::nullopt;
  std::string digits(text + std::strlen("GPU-"));
  std::erase(digits, '-');
  gpu::Adapter adapter;
  adapter.name = text;
  for (size_t i = 0; i < adapter.uuid.size() && 2 * i + 2 <= digits.size(); ++i)
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, adapter.uuid[i], 16);
  return adapter;
}

TEST(Nvml, ARealGpuIsPlausible) {
  const auto& library = nvml::library();
  if (!library) GTEST_SKIP() << library.refusal().message;
  const auto adapter = firstRealGpu();
  if (!adapter) GTEST_SKIP() << "NVML is there and shows no GPU";
  const auto device = nvml::findDevice(*library, *adapter);
  ASSERT_TRUE(device) << device.refusal().message;
  const auto probe = nvml::makeProbe(*library, *device);
  const GpuState state = probe->state();
  const auto within = [](const char* what, const std::optional<double>& value, double low, double high) {
    fmt::print("  {}: {}\n", what, value ? fmt::format("{}", *value) : "not told");
    if (!value) return;  // a virtual GPU may hide it
    EXPECT_GT(*value, low) << what;
    EXPECT_LT(*value, high) << what;
  };
  within("graphicsMHz", state.graphicsMHz, 0, 10'000);
  within("memoryMHz", state.memoryMHz, 0, 50'000);
  within("powerW", state.powerW, 0, 2000);
  within("powerLimitW", state.powerLimitW, 0, 2000);
  within("temperatureC", state.temperatureC, 0, 120);
  if (state.throttleReasons) fmt::print("  throttled by: {}\n", fmt::join(*state.throttleReasons, ", "));
  EXPECT_NE(state, GpuState{}) << adapter->name << " tells nothing at all";
  const auto joulesBefore = probe->energyJoules();
  if (!joulesBefore) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto joulesAfter = probe->energyJoules();
  ASSERT_TRUE(joulesAfter);
  fmt::print("  joules in half a second: {}\n", *joulesAfter - *joulesBefore);
  EXPECT_GT(*joulesAfter, *joulesBefore) << "a GPU that is on draws power";
}

}  // namespace
}  // namespace tandem::jobs
