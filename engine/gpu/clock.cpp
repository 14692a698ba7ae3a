#include "gpu/clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gpu/device.h"

namespace tandem::gpu {
namespace {

constexpr uint64_t kRefreshNs = 100'000'000;
// Beside the deviation that the driver names: drift between two calibrations (100 ppm of kRefreshNs is 10 us), and a
// thread that is put to sleep between reading the clock and submitting errs on the harmless side.
constexpr uint64_t kToleranceNs = 100'000;

bool knowsBothClocks(VkPhysicalDevice physical) {
  uint32_t count = 0;
  vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(physical, &count, nullptr);
  std::vector<VkTimeDomainEXT> domains(count);
  vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(physical, &count, domains.data());
  return std::ranges::count(domains, VK_TIME_DOMAIN_DEVICE_EXT) > 0 &&
         std::ranges::count(domains, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT) > 0;
}

DeviceClock::Sampler samplerOf(Device& device) {
  const Adapter& adapter = device.adapter();
  const bool able = adapter.has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) && knowsBothClocks(adapter.physical);
  if (!able || device.api().vkGetCalibratedTimestampsEXT == nullptr) return [] { return std::nullopt; };
  return [&device]() -> std::optional<ClockSample> {
    VkCalibratedTimestampInfoEXT infos[2] = {{VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT},
                                             {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT}};
    infos[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    infos[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    uint64_t values[2] = {}, deviation = 0;
    const VkResult result = device.api().vkGetCalibratedTimestampsEXT(device.handle(), 2, infos, values, &deviation);
    if (result != VK_SUCCESS) return std::nullopt;  // a trace is no reason to fail: the host's times stand in
    return ClockSample{values[0], values[1], deviation};
  };
}

uint32_t timestampBits(const Adapter& adapter) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(adapter.physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(adapter.physical, &count, families.data());
  return families.at(adapter.queueFamily).timestampValidBits;
}

}  // namespace

uint64_t hostNanoseconds() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

DeviceClock::DeviceClock(Device& device)
    : DeviceClock(samplerOf(device), double{device.adapter().limits.timestampPeriod}, timestampBits(device.adapter())) {
}

DeviceClock::DeviceClock(Sampler sampler, double nsPerTick, uint32_t validBits)
    : sampler_(std::move(sampler)), nsPerTick_(nsPerTick), validBits_(validBits), sample_(sampler_()) {
  TANDEM_CHECK(validBits >= 1 && validBits <= 64 && nsPerTick > 0.0, "a clock of {} bits, {} ns a tick", validBits,
               nsPerTick);
}

/// The distance from the calibration may be negative, and the counter may have begun again in between: both come out
/// right in the arithmetic of its own width.
std::optional<uint64_t> DeviceClock::toHost(uint64_t ticks) const {
  if (!sample_) return std::nullopt;
  const uint32_t unused = 64 - validBits_;
  const int64_t distance = static_cast<int64_t>((ticks - sample_->ticks) << unused) >> unused;
  return sample_->hostNs + static_cast<uint64_t>(std::llround(static_cast<double>(distance) * nsPerTick_));
}

void DeviceClock::refresh(uint64_t nowNs) {
  if (sample_ && nowNs < sample_->hostNs + kRefreshNs) return;
  if (auto sample = sampler_()) sample_ = sample;
}

std::vector<HostSpan> DeviceClock::place(std::span<const SubmittedSection> sections, uint64_t doneNs) {
  if (sections.empty()) return {};
  refresh(doneNs);
  auto spans = byDevice(sections, doneNs);
  if (!spans && calibrated()) ++rejected_;
  if (!spans) spans = byHost(sections, doneNs);
  lastEndNs_ = std::max(lastEndNs_, spans->back().endNs);
  return *std::move(spans);
}

std::optional<std::vector<HostSpan>> DeviceClock::byDevice(std::span<const SubmittedSection> sections,
                                                           uint64_t doneNs) const {
  if (!sample_) return std::nullopt;
  const uint64_t tolerance = kToleranceNs + sample_->deviationNs;
  std::vector<HostSpan> spans;
  for (const SubmittedSection& section : sections) {
    const HostSpan span{*toHost(section.time.beginTicks), *toHost(section.time.endTicks)};
    if (span.endNs < span.beginNs || span.beginNs + tolerance < section.submittedNs || span.endNs > doneNs + tolerance)
      return std::nullopt;
    spans.push_back(span);
  }
  return spans;
}

/// End to end, the last at `doneNs`. Where that would begin before the device was free, all are made shorter alike.
std::vector<HostSpan> DeviceClock::byHost(std::span<const SubmittedSection> sections, uint64_t doneNs) const {
  double totalNs = 0.0;
  for (const SubmittedSection& section : sections) totalNs += section.time.milliseconds * 1e6;
  const uint64_t freeNs = std::min(doneNs, std::max(lastEndNs_, sections.front().submittedNs));
  const double scale = totalNs > 0.0 ? std::min(1.0, static_cast<double>(doneNs - freeNs) / totalNs) : 1.0;
  std::vector<HostSpan> spans;
  double leftNs = totalNs * scale;
  for (const SubmittedSection& section : sections) {
    const double lengthNs = section.time.milliseconds * 1e6 * scale;
    const auto before = [doneNs](double ns) { return doneNs - static_cast<uint64_t>(std::max(0.0, std::floor(ns))); };
    spans.push_back({before(leftNs), before(leftNs - lengthNs)});
    leftNs -= lengthNs;
  }
  spans.back().endNs = doneNs;
  return spans;
}

}  // namespace tandem::gpu
