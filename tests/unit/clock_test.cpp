// Device ticks on the host's clock, with made-up clocks whose relation is known.
#include "gpu/clock.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace tandem::gpu {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// A device whose counter reads `ticks` when the host's clock reads `hostNs`.
DeviceClock clockAt(uint64_t ticks, uint64_t hostNs, double nsPerTick = 1.0, uint32_t bits = 64) {
  return DeviceClock([=] { return ClockSample{ticks, hostNs, 0}; }, nsPerTick, bits);
}

DeviceClock uncalibrated() {
  return DeviceClock([]() -> std::optional<ClockSample> { return std::nullopt; }, 1.0, 64);
}

SubmittedSection section(double ms, uint64_t beginTicks, uint64_t endTicks, uint64_t submittedNs) {
  return {{"pass", ms, beginTicks, endTicks}, submittedNs};
}

TEST(DeviceClock, TicksBeforeAndAfterTheCalibration) {
  const DeviceClock clock = clockAt(1000, 500 * kMs, 10.0);
  EXPECT_TRUE(clock.calibrated());
  EXPECT_EQ(clock.toHost(1000), 500 * kMs);
  EXPECT_EQ(clock.toHost(1100), 500 * kMs + 1000);
  EXPECT_EQ(clock.toHost(900), 500 * kMs - 1000);
}

// A counter of 32 bits begins again between calibration and tick, in either direction.
TEST(DeviceClock, CountersBeginAgain) {
  const DeviceClock before = clockAt(0xFFFFFFF0u, 500 * kMs, 1.0, 32);
  EXPECT_EQ(before.toHost(0x10), 500 * kMs + 0x20);
  const DeviceClock after = clockAt(0x10, 500 * kMs, 1.0, 32);
  EXPECT_EQ(after.toHost(0xFFFFFFF0u), 500 * kMs - 0x20);
}

TEST(DeviceClock, WithoutCalibrationThereIsNoAnswer) {
  EXPECT_FALSE(uncalibrated().calibrated());
  EXPECT_EQ(uncalibrated().toHost(1000), std::nullopt);
}

TEST(DeviceClock, WhatAgreesWithTheHostIsBelieved) {
  DeviceClock clock = clockAt(0, 1000 * kMs);
  const std::vector<SubmittedSection> sections{section(2.0, 1 * kMs, 3 * kMs, 1000 * kMs),
                                               section(1.0, 4 * kMs, 5 * kMs, 1000 * kMs)};
  const std::vector<HostSpan> spans = clock.place(sections, 1006 * kMs);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].beginNs, 1001 * kMs);
  EXPECT_EQ(spans[0].endNs, 1003 * kMs);
  EXPECT_EQ(spans[1].beginNs, 1004 * kMs);
  EXPECT_EQ(spans[1].endNs, 1005 * kMs);
  EXPECT_EQ(clock.rejected(), 0u);
}

/// The last ends when the wait returned, and they lie end to end.
void expectEndToEnd(const std::vector<HostSpan>& spans, uint64_t doneNs) {
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[1].endNs, doneNs);
  EXPECT_EQ(spans[1].beginNs, doneNs - 1 * kMs);
  EXPECT_EQ(spans[0].endNs, spans[1].beginNs);
  EXPECT_EQ(spans[0].beginNs, doneNs - 3 * kMs);
}

// A calibration that is 5 ms off puts a pass before its submission, or after the end of the wait for it.
TEST(DeviceClock, WhatContradictsTheHostIsNot) {
  const std::vector<SubmittedSection> sections{section(2.0, 1 * kMs, 3 * kMs, 1000 * kMs),
                                               section(1.0, 4 * kMs, 5 * kMs, 1000 * kMs)};
  for (const uint64_t hostNs : {995 * kMs, 1005 * kMs}) {
    DeviceClock clock = clockAt(0, hostNs);
    expectEndToEnd(clock.place(sections, 1006 * kMs), 1006 * kMs);
    EXPECT_EQ(clock.rejected(), 1u);
  }
}

TEST(DeviceClock, ADeviationOfTheCalibrationIsForgiven) {
  DeviceClock clock([] { return ClockSample{0, 995 * kMs, 6 * kMs}; }, 1.0, 64);
  const std::vector<SubmittedSection> sections{section(2.0, 1 * kMs, 3 * kMs, 1000 * kMs)};
  EXPECT_EQ(clock.place(sections, 1006 * kMs).at(0).beginNs, 996 * kMs);
  EXPECT_EQ(clock.rejected(), 0u);
}

TEST(DeviceClock, WithoutCalibrationTheHostsTimesStandIn) {
  DeviceClock clock = uncalibrated();
  const std::vector<SubmittedSection> sections{section(2.0, 0, 0, 1000 * kMs), section(1.0, 0, 0, 1000 * kMs)};
  expectEndToEnd(clock.place(sections, 1006 * kMs), 1006 * kMs);
  EXPECT_EQ(clock.rejected(), 0u);
}

// Two frames whose waits return 1 ms apart, 3 ms of passes each: the second's are made shorter, never laid over the
// first's.
TEST(DeviceClock, TheHostsTimesNeverOverlap) {
  DeviceClock clock = uncalibrated();
  const std::vector<SubmittedSection> sections{section(2.0, 0, 0, 1000 * kMs), section(1.0, 0, 0, 1000 * kMs)};
  clock.place(sections, 1006 * kMs);
  const std::vector<HostSpan> spans = clock.place(sections, 1007 * kMs);
  EXPECT_GE(spans[0].beginNs, 1006 * kMs);
  EXPECT_EQ(spans[1].endNs, 1007 * kMs);
  EXPECT_NEAR(static_cast<double>(spans[0].endNs - spans[0].beginNs), 1e6 * 2.0 / 3.0, 2.0);
}

TEST(DeviceClock, NothingBeginsBeforeItsSubmission) {
  DeviceClock clock = uncalibrated();
  const std::vector<SubmittedSection> sections{section(20.0, 0, 0, 1000 * kMs)};
  EXPECT_EQ(clock.place(sections, 1006 * kMs).at(0).beginNs, 1000 * kMs);
}

// The device's counter runs 1 % fast: a calibration from long ago is off by more than anyone would believe.
TEST(DeviceClock, IsTiedAnewAsClocksDriftApart) {
  uint64_t hostNs = 1000 * kMs;
  DeviceClock clock([&] { return ClockSample{hostNs + hostNs / 100, hostNs, 0}; }, 1.0, 64);
  for (int frame = 0; frame < 100; ++frame) {
    hostNs += 120 * kMs;
    const uint64_t begin = hostNs - 4 * kMs;
    const std::vector<SubmittedSection> sections{
        section(1.0, begin + begin / 100, begin + begin / 100 + kMs, begin - kMs)};
    EXPECT_NEAR(static_cast<double>(clock.place(sections, hostNs).at(0).beginNs), static_cast<double>(begin), 5e4);
  }
  EXPECT_EQ(clock.rejected(), 0u);
}

TEST(DeviceClock, ImpossibleCountersAreABrokenPromise) {
  EXPECT_THROW(clockAt(0, 0, 1.0, 0), BrokenPromise);
  EXPECT_THROW(clockAt(0, 0, 1.0, 65), BrokenPromise);
  EXPECT_THROW(clockAt(0, 0, 0.0), BrokenPromise);
}

}  // namespace
}  // namespace tandem::gpu
