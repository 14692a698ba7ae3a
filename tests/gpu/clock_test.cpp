// A real device's clock tied to the host's: what ran lies between its submission and the return of the wait for it.
#include "gpu/clock.h"

#include <chrono>
#include <thread>

#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

using ClockTest = GpuFixture;

constexpr uint64_t kBytes = uint64_t{64} << 20;
constexpr int64_t kErrorNs = 200'000;

/// Fills `target` in two sections; returns what they took, and when.
struct Ran {
  std::vector<gpu::SubmittedSection> sections;
  uint64_t submittedNs = 0, doneNs = 0;
};
Ran runSections(gpu::Device& device, const gpu::Buffer& target) {
  gpu::Commands commands(device, "clock test");
  commands.begin();
  for (const char* name : {"first", "second"}) {
    commands.beginSection(name);
    commands.fill(target, 1);
    commands.endSection();
    commands.barrier();
  }
  commands.end();
  Ran ran;
  ran.submittedNs = gpu::hostNanoseconds();
  const gpu::SyncPoint point = device.queue().submit(commands.handle(), {}, "clock test");
  device.queue().wait(point.value, "clock test");
  ran.doneNs = gpu::hostNanoseconds();
  for (const gpu::PassTime& time : commands.times()) ran.sections.push_back({time, ran.submittedNs});
  return ran;
}

TEST_F(ClockTest, IsCalibratedWhereTheExtensionIsThere) {
  const gpu::DeviceClock clock(device());
  EXPECT_EQ(clock.calibrated(), device().adapter().has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME));
}

TEST_F(ClockTest, SectionsLieBetweenSubmissionAndTheEndOfTheWait) {
  gpu::DeviceClock clock(device());
  const gpu::Buffer target(device(), kBytes, gpu::Memory::Device, "clock test target");
  for (int round = 0; round < 5; ++round) {
    const Ran ran = runSections(device(), target);
    ASSERT_EQ(ran.sections.size(), 2u);
    const auto spans = clock.place(ran.sections, ran.doneNs);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_GE(static_cast<int64_t>(spans[0].beginNs - ran.submittedNs), -kErrorNs);
    EXPECT_LE(spans[0].beginNs, spans[0].endNs);
    EXPECT_LE(spans[0].endNs, spans[1].beginNs + 1);
    EXPECT_LE(static_cast<int64_t>(spans[1].endNs - ran.doneNs), kErrorNs);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(static_cast<double>(spans[i].endNs - spans[i].beginNs), ran.sections[i].time.milliseconds * 1e6, 1e3);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // past a calibration's age
  }
  EXPECT_EQ(clock.rejected(), 0u);
}

// Two clocks of two devices: what one did after the other comes after it.
TEST_F(ClockTest, TwoDevicesAgree) {
  gpu::Device other(instance(), testAdapter(), {.name = "other"});
  gpu::DeviceClock first(device()), second(other);
  const gpu::Buffer here(device(), kBytes, gpu::Memory::Device, "here"),
      there(other, kBytes, gpu::Memory::Device, "there");
  const Ran before = runSections(device(), here), after = runSections(other, there);
  const auto early = first.place(before.sections, before.doneNs), late = second.place(after.sections, after.doneNs);
  EXPECT_GE(static_cast<int64_t>(late.front().beginNs - early.back().endNs), -kErrorNs);
}

}  // namespace
}  // namespace tandem::test
