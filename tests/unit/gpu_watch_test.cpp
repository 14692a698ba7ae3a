// Watching GPUs: probes with a script over a clock that the test moves, so that every joule is counted by hand; then
// the thread, by the real clock.
#include "jobs/gpu_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "base/check.h"
#include "jobs/bench_machine.h"

namespace tandem::jobs {
namespace {

using namespace std::chrono_literals;
using Reasons = std::vector<std::string>;

constexpr uint64_t kSecond = 1'000'000'000;

/// Says what the test told it to say.
struct Script {
  GpuState state;
  std::optional<double> joules;
  bool throws = false;
  std::atomic<uint32_t> asked = 0;
};

class ScriptedProbe : public GpuProbe {
 public:
  explicit ScriptedProbe(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  std::string_view name() const override { return "script"; }
  GpuState state() override {
    ++script_->asked;
    if (script_->throws) throw std::runtime_error("the GPU is lost");
    return script_->state;
  }
  std::optional<double> energyJoules() override { return script_->joules; }

 private:
  std::shared_ptr<Script> script_;
};

/// One GPU, watched by a clock that stands still until the test moves it.
class GpuWatchScript : public testing::Test {
 protected:
  std::vector<std::unique_ptr<GpuProbe>> probes() {
    std::vector<std::unique_ptr<GpuProbe>> list;
    list.push_back(std::make_unique<ScriptedProbe>(script_));
    return list;
  }

  /// Seconds from now on are from a time far from 0, as the steady clock's are.
  static uint64_t at(double seconds) { return 7'000 * kSecond + static_cast<uint64_t>(seconds * 1e9); }

  void sample(double seconds, std::optional<double> watts, std::optional<double> joules = std::nullopt) {
    now_ = at(seconds);
    script_->state.powerW = watts;
    script_->joules = joules;
    watch_.sample();
  }

  GpuUse use(double begin, double end) { return watch_.use(0, at(begin), at(end)); }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  uint64_t now_ = at(0);
  GpuWatch watch_{probes(), 100ms, [this] { return now_; }};
};

void expectNear(const std::optional<double>& value, double expected) {
  ASSERT_TRUE(value);
  EXPECT_NEAR(*value, expected, 1e-6);
}

// watts  200     ______
//               /      \                  joules from 0.5 s to 3 s:
//        100   /        \                   0.5 .. 1 s: (150 + 200) / 2 * 0.5 s =  87.5
//                         \                 1 .. 2 s:                 200 * 1 s = 200
//          0                \               2 .. 3 s:   (200 + 100) / 2 * 1 s   = 150
//          s  0  1      2   4                                            in all   437.5, over 2.5 s: 175 W
TEST_F(GpuWatchScript, PowerIsIntegratedByTrapezoids) {
  sample(0, 100);
  sample(1, 200);
  sample(2, 200);
  sample(4, 0);
  const GpuUse read = use(0.5, 3);
  expectNear(read.joules, 437.5);
  EXPECT_FALSE(read.counted);
  expectNear(read.meanWatts, 175.0);
  expectNear(read.maxWatts, 200.0);
  EXPECT_NEAR(read.seconds, 2.5, 1e-9);
  EXPECT_EQ(read.samples, 2u);
  // All of it: 150 + 200 + 200.
  expectNear(use(0, 4).joules, 550.0);
  // Between two samples: from 50 W to 25 W during 0.5 s. No sample lies inside, so nothing is the most.
  const GpuUse between = use(3, 3.5);
  expectNear(between.joules, 0.5 * (100 + 50) * 0.5);
  EXPECT_EQ(between.samples, 0u);
  EXPECT_FALSE(between.maxWatts);
}

// The counter stands at 1000 J, 1100 J (1 s), 1300 J (2 s) and 1300 J (4 s): at 0.5 s it would say 1050, at 3 s 1300.
TEST_F(GpuWatchScript, ACounterGoesBeforePower) {
  sample(0, 1, 1000);
  sample(1, 1, 1100);
  sample(2, 1, 1300);
  sample(4, 1, 1300);
  const GpuUse read = use(0.5, 3);
  expectNear(read.joules, 250.0);
  EXPECT_TRUE(read.counted);
  expectNear(read.meanWatts, 100.0);
  expectNear(read.maxWatts, 1.0);  // power's samples are still what they are
}

TEST_F(GpuWatchScript, WindowsOneAfterTheOtherAddUp) {
  const double watts[] = {30, 250, 270, 90, 310, 40};
  for (int i = 0; i < 6; ++i) sample(i, watts[i]);
  expectNear(use(0.25, 4.75).joules, *use(0.25, 1.5).joules + *use(1.5, 3).joules + *use(3, 4.75).joules);
}

TEST_F(GpuWatchScript, ACounterThatBeginsAnewIsNotBelieved) {
  sample(0, 50, 9000);
  sample(1, 50, 10);
  const GpuUse read = use(0, 1);
  expectNear(read.joules, 50.0);  // by power
  EXPECT_FALSE(read.counted);
}

TEST_F(GpuWatchScript, WindowsThatAreNotCoveredHaveNoEnergy) {
  EXPECT_FALSE(use(0, 1).joules);
  sample(1, 100);
  sample(2, 100);
  EXPECT_FALSE(use(0.5, 1.5).joules);
  EXPECT_FALSE(use(1.5, 2.5).joules);
  EXPECT_FALSE(use(0.5, 1.5).meanWatts);
  expectNear(use(0.5, 1.5).maxWatts, 100.0);
  expectNear(use(1, 2).joules, 100.0);
  const GpuUse moment = use(1, 1);
  expectNear(moment.joules, 0.0);
  EXPECT_FALSE(moment.meanWatts);  // nothing over no time
}

TEST_F(GpuWatchScript, WhatCannotBeReadIsNothing) {
  sample(0, std::nullopt);
  sample(1, std::nullopt);
  const GpuUse read = use(0, 1);
  EXPECT_EQ(read.samples, 2u);
  EXPECT_FALSE(read.joules);
  EXPECT_FALSE(read.meanWatts);
  EXPECT_FALSE(read.maxWatts);
  EXPECT_FALSE(read.meanMHz);
  EXPECT_FALSE(read.maxTemperatureC);
  EXPECT_FALSE(read.throttleReasons);
}

TEST_F(GpuWatchScript, ClocksTemperatureAndReasonsAreThoseOfTheWindow) {
  const auto sampleAll = [&](double seconds, double megahertz, double celsius, Reasons reasons) {
    script_->state.graphicsMHz = megahertz;
    script_->state.temperatureC = celsius;
    script_->state.throttleReasons = std::move(reasons);
    sample(seconds, 100);
  };
  sampleAll(0, 300, 95, {"hw slowdown"});  // before the window
  sampleAll(1, 1900, 50, {});
  sampleAll(2, 1800, 64, {"sw power cap"});
  sampleAll(3, 1700, 61, {"sw power cap", "sw thermal slowdown"});
  sampleAll(4, 300, 99, {"sync boost"});  // after it
  const GpuUse read = use(1, 3.5);
  EXPECT_EQ(read.samples, 3u);
  expectNear(read.meanMHz, 1800.0);
  expectNear(read.maxTemperatureC, 64.0);
  EXPECT_EQ(read.throttleReasons, (std::set<std::string>{"sw power cap", "sw thermal slowdown"}));
  EXPECT_EQ(use(0.5, 1.5).throttleReasons, std::set<std::string>());  // told, and none
}

TEST_F(GpuWatchScript, AProbeThatThrowsHasNoSample) {
  sample(0, 100);
  script_->throws = true;
  sample(1, 900);
  EXPECT_EQ(watch_.state(0), GpuState{});
  script_->throws = false;
  sample(2, 100);
  const GpuUse read = use(0, 2);
  EXPECT_EQ(read.samples, 2u);
  expectNear(read.joules, 200.0);
}

TEST_F(GpuWatchScript, WindowsAndIndicesThatCannotBeMeantAreBrokenPromises) {
  EXPECT_THROW(use(1, 0.5), BrokenPromise);
  EXPECT_THROW(watch_.use(1, at(0), at(1)), BrokenPromise);
  EXPECT_THROW(watch_.state(1), BrokenPromise);
  EXPECT_THROW(GpuWatch({}, 0ms), BrokenPromise);
}

TEST(GpuWatch, AnAdapterWithoutAProbeKeepsItsIndex) {
  auto script = std::make_shared<Script>();
  script->state.powerW = 80;
  std::vector<std::unique_ptr<GpuProbe>> probes;
  probes.push_back(nullptr);
  probes.push_back(std::make_unique<ScriptedProbe>(script));
  uint64_t now = 0;
  GpuWatch watch(std::move(probes), 100ms, [&] { return now; });
  watch.sample();
  now = kSecond;
  watch.sample();
  EXPECT_EQ(watch.size(), 2u);
  EXPECT_EQ(watch.watcher(0), std::nullopt);
  EXPECT_EQ(watch.watcher(1), "script");
  EXPECT_EQ(watch.state(0), GpuState{});
  EXPECT_EQ(watch.state(1).powerW, 80.0);
  EXPECT_FALSE(watch.use(0, 0, kSecond).joules);
  EXPECT_EQ(watch.use(0, 0, kSecond).samples, 0u);
  expectNear(watch.use(1, 0, kSecond).joules, 80.0);
}

/// A watch by the real clock over a GPU that draws 100 W.
struct Running {
  explicit Running(std::chrono::milliseconds interval) {
    script->state.powerW = 100;
    std::vector<std::unique_ptr<GpuProbe>> probes;
    probes.push_back(std::make_unique<ScriptedProbe>(script));
    watch = std::make_unique<GpuWatch>(std::move(probes), interval);
    watch->start();
  }
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<GpuWatch> watch;
};

TEST(GpuWatch, TheThreadSamplesUntilStopped) {
  Running running(1ms);
  const uint64_t begin = running.watch->now();
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (running.script->asked < 5 && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(1ms);
  ASSERT_GE(running.script->asked, 5u);
  const uint64_t end = running.watch->now();
  running.watch->stop();
  const uint32_t asked = running.script->asked;
  const GpuUse use = running.watch->use(0, begin, end);
  expectNear(use.meanWatts, 100.0);
  EXPECT_GE(use.samples, 3u);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(running.script->asked, asked) << "sampled after stop()";
}

TEST(GpuWatch, AWindowThatEndsAfterTheLastSampleIsSampledThen) {
  Running running(1h);  // the thread itself samples nothing here
  EXPECT_EQ(running.script->asked, 1u);
  const uint64_t begin = running.watch->now();
  const uint64_t end = begin + 1'000;
  while (running.watch->now() < end) std::this_thread::yield();
  expectNear(running.watch->use(0, begin, end).meanWatts, 100.0);
  EXPECT_EQ(running.script->asked, 2u);
  expectNear(running.watch->use(0, begin, end).meanWatts, 100.0);
  EXPECT_EQ(running.script->asked, 2u) << "the window was covered already";
}

TEST(GpuWatch, StoppingCoversAllWindowsAndWakesTheThreadAtOnce) {
  Running running(1h);
  const uint64_t begin = running.watch->now();
  const uint64_t end = running.watch->now();
  running.watch->stop();  // does not wait for an hour
  EXPECT_TRUE(running.watch->use(0, begin, end).joules);
  running.watch->stop();
  EXPECT_EQ(running.script->asked, 2u);
  running.watch->start();  // again
  EXPECT_EQ(running.script->asked, 3u);
}

TEST(GpuWatch, NothingIsThrownOutOfTheThread) {
  Running running(1ms);
  {
    running.watch->stop();
    running.script->throws = true;
    running.watch->start();
  }
  const uint32_t before = running.script->asked;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (running.script->asked < before + 3 && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(1ms);
  EXPECT_GE(running.script->asked, before + 3);
  running.watch.reset();
}

TEST(GpuProbe, SoftwareDevicesAndGpusThatTellNothingHaveNone) {
  gpu::Adapter adapter;
  adapter.type = gpu::AdapterType::Software;
  adapter.vendorId = 0x10de;  // whatever it says of itself
  EXPECT_EQ(makeProbe(adapter), nullptr);
  adapter.type = gpu::AdapterType::Discrete;
  adapter.uuid.fill(0xee);
  adapter.pci = gpu::PciAddress{0xfffe, 0xfe, 0x1f, 7};  // nobody lives there
  EXPECT_EQ(makeProbe(adapter), nullptr);
  adapter.vendorId = 0x1002;
  EXPECT_EQ(makeProbe(adapter), nullptr);
  adapter.pci = std::nullopt;
  EXPECT_EQ(makeProbe(adapter), nullptr);
}

TEST(BenchMachine, EveryAdapterHasFactsAndTheLoadIsTheKernels) {
  const MachineReport report = describeMachine(std::vector<gpu::Adapter>(2));
  ASSERT_EQ(report.facts.size(), 2u);
  EXPECT_EQ(report.facts[1].watcher, std::nullopt);
  EXPECT_EQ(report.facts[1].before, GpuState{});
  if (report.loadAverage) {
    EXPECT_GE(*report.loadAverage, 0.0);
  }
}

}  // namespace
}  // namespace tandem::jobs
