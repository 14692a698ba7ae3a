// Intervals of frame rates, against resamples that can be counted out by hand and against known truths.
#include "jobs/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/check.h"

namespace tandem::jobs {
namespace {

using Frames = std::vector<double>;
using Runs = std::vector<Frames>;

void expectInterval(const std::optional<Interval>& interval, double value, double low, double high) {
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->value, value);
  EXPECT_DOUBLE_EQ(interval->low, low);
  EXPECT_DOUBLE_EQ(interval->high, high);
}

double width(const std::optional<Interval>& interval) {
  EXPECT_TRUE(interval);
  return interval ? interval->high - interval->low : 0.0;
}

/// One run of `frames` equal frames for each time.
Runs constants(const Frames& times, size_t frames = 10) {
  Runs runs;
  for (const double time : times) runs.emplace_back(frames, time);
  return runs;
}

TEST(Bootstrap, BlocksGrowWithTheCubeRoot) {
  EXPECT_EQ(blockLength(0), 1u);
  EXPECT_EQ(blockLength(1), 1u);
  EXPECT_EQ(blockLength(4), 2u);  // half of them: 2 * 1.587 is 3
  EXPECT_EQ(blockLength(8), 4u);
  EXPECT_EQ(blockLength(27), 6u);
  EXPECT_EQ(blockLength(120), 10u);  // 2 * 4.93
  EXPECT_EQ(blockLength(300), 13u);  // 2 * 6.69
  EXPECT_EQ(blockLength(1000), 20u);
}

TEST(Bootstrap, ConstantsHaveNoWidth) {
  for (const double time : {10.0, 16.7, 1.0 / 3.0, 0.123456789}) {
    const auto fps = fpsInterval(constants({time, time, time}, 37));
    ASSERT_TRUE(fps);
    EXPECT_NEAR(fps->value, 1000.0 / time, 1e-8 * fps->value);
    EXPECT_EQ(fps->low, fps->value);
    EXPECT_EQ(fps->high, fps->value);
    const auto ratio = ratioInterval(constants({time, time, time}, 37), constants({time, time, time}, 120));
    ASSERT_TRUE(ratio);
    EXPECT_FALSE(differs(*ratio));
    expectInterval(ratio, 1.0, 1.0, 1.0);
  }
}

// Two repeats, of 10 and of 20 ms a frame. Resamples: both of 10 (1 in 4, 100 fps), both of 20 (1 in 4, 50 fps), or one
// of each.
TEST(Bootstrap, RepeatsAreDrawnWithReplacement) {
  expectInterval(fpsInterval(constants({10, 20})), 2000.0 / 30.0, 50.0, 100.0);
}

// Five repeats, one of them slow. k slow ones in a resample: binomial with p = 1/5. P(k = 0) = 0.328, so the upper end
// is without; P(k >= 3) = 0.058 and P(k >= 4) = 0.007, so the lower end has three: (2 * 10 + 3 * 20) / 5 = 16 ms.
TEST(Bootstrap, AsManyRepeatsAreDrawnAsThereAre) {
  expectInterval(fpsInterval(constants({10, 10, 20, 10, 10})), 1000.0 / 12.0, 1000.0 / 16.0, 100.0);
}

// Both repeats are 1 2 3 4, in blocks of two: 1 2, 2 3 and 3 4, of 3, 5 and 7 ms. A resample has four of them. 28 ms: 1
// in 81, too rare for an end; 26 ms or more: 5 in 81, so that is the one, and 14 ms is the other.
TEST(Bootstrap, BlocksAreOfConsecutiveFrames) {
  expectInterval(fpsInterval(Runs{{1, 2, 3, 4}, {1, 2, 3, 4}}, 2), 400.0, 8000.0 / 26.0, 8000.0 / 14.0);
}

// 10 10 40 in blocks of two: 10 10 or 10 40, then one frame of a block: its first, 10. 30 or 60 ms, each 1 in 2; of two
// repeats 60 to 120 ms for six frames.
TEST(Bootstrap, TheLastBlockIsCut) {
  expectInterval(fpsInterval(Runs{{10, 10, 40}, {10, 10, 40}}, 2), 50.0, 50.0, 100.0);
}

// The whole run is one block, or more than one would fill: there is but one choice.
TEST(Bootstrap, BlocksAreNoLongerThanTheirRun) {
  expectInterval(fpsInterval(Runs{{10, 20}, {20, 10}}, 2), 4000.0 / 60.0, 4000.0 / 60.0, 4000.0 / 60.0);
  expectInterval(fpsInterval(Runs{{10, 20}, {20, 10}}, 7), 4000.0 / 60.0, 4000.0 / 60.0, 4000.0 / 60.0);
}

// Frames in turn: 10 and 20 ms alternate. Any block of two is 30 ms; frames drawn one by one are not so even.
TEST(Bootstrap, BlocksKeepWhatAlternates) {
  Frames run;
  for (int pair = 0; pair < 30; ++pair) run.insert(run.end(), {10.0, 20.0});
  const Runs runs(5, run);
  expectInterval(fpsInterval(runs, 2), 1000.0 / 15.0, 1000.0 / 15.0, 1000.0 / 15.0);
  EXPECT_GT(width(fpsInterval(runs, 1)), 1.0);
}

// Runs that ended by time have different lengths: 4 frames of 10 ms and 1 of 20 are 5 in 60 ms. Resamples: 8 in 80 ms,
// 2 in 40 ms.
TEST(Bootstrap, LongerRunsWeighMore) { expectInterval(fpsInterval(Runs{{10, 10, 10, 10}, {20}}), 5e3 / 60, 50, 100); }

// The GPU grows warm and every repeat is slower; the second mode always takes half the time.
TEST(Bootstrap, PairedRepeatsCancelWhatTheyShare) {
  const Runs single = constants({10, 20, 40, 80});
  const Runs both = constants({5, 10, 20, 40});
  expectInterval(ratioInterval(both, single), 2.0, 2.0, 2.0);
  // Without the last repeat of one there are no pairs.
  const auto apart = ratioInterval(std::span(both).first(3), single);
  ASSERT_TRUE(apart);
  EXPECT_GT(width(apart), 1.0);
  EXPECT_DOUBLE_EQ(apart->value, (3e3 / 35.0) / (4e3 / 150.0));  // 3 frames of 35 ms to 4 of 150
}

TEST(Bootstrap, WithoutTwoRepeatsThereIsNone) {
  const Runs two = constants({10, 20});
  for (const Runs& runs : {Runs{}, constants({10}), Runs{{10, 10}, {}}, Runs{{0, 0}, {10, 10}}}) {
    EXPECT_FALSE(fpsInterval(runs));
    EXPECT_FALSE(ratioInterval(runs, two));
    EXPECT_FALSE(ratioInterval(two, runs));
  }
  EXPECT_TRUE(ratioInterval(two, two));
}

TEST(Bootstrap, TwoFramesMayFinishAtOnce) {
  const auto fps = fpsInterval(Runs{{0, 10, 0, 10}, {0, 10, 0, 10}}, 1);
  ASSERT_TRUE(fps);
  EXPECT_DOUBLE_EQ(fps->value, 200.0);
  EXPECT_TRUE(std::isfinite(fps->high));
  const auto ratio = ratioInterval(Runs{{0, 10}, {0, 10}}, Runs{{0, 10}, {0, 10}}, 1);  // 0 ms / 0 ms is among them
  ASSERT_TRUE(ratio);
  EXPECT_TRUE(std::isfinite(ratio->low) && std::isfinite(ratio->high));
}

TEST(Bootstrap, ImpossibleTimesAreABrokenPromise) {
  for (const double time : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300, 2e9})
    EXPECT_THROW(fpsInterval(Runs{{10, 10}, {10, time}}), BrokenPromise) << time;
}

TEST(Bootstrap, DiffersWhereOneIsOutside) {
  EXPECT_TRUE(differs({1.05, 1.01, 1.1}));
  EXPECT_TRUE(differs({0.95, 0.9, 0.99}));
  EXPECT_FALSE(differs({1.05, 0.99, 1.1}));
  EXPECT_FALSE(differs({1.05, 1.0, 1.1}));
  EXPECT_FALSE(differs({0.95, 0.9, 1.0}));
}

/// Normal, as nearly as twelve evenly distributed numbers make it (their variance is 1/12 each), and the same with
/// every standard library.
class Noise {
 public:
  explicit Noise(uint64_t seed) : engine_(seed) {}
  double operator()() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine_() >> 11) * 0x1p-53;
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

/// Frame times around `mean`: deviation 5 % of it, neighbours correlated by kCorrelation.
constexpr double kCorrelation = 0.6;
Frames correlated(double mean, size_t frames, Noise& noise) {
  Frames run(frames);
  double state = noise();
  for (double& time : run) {
    time = mean * (1.0 + 0.05 * state);
    state = kCorrelation * state + std::sqrt(1.0 - kCorrelation * kCorrelation) * noise();
  }
  return run;
}

/// Two modes, interleaved: what a repeat's two runs share moves by 2 %, each of them by 0.5 %.
struct Measured {
  Runs single;
  Runs both;
};
Measured measured(double ratio, uint64_t seed) {
  constexpr double kSingleMs = 16.0;
  Noise noise(seed);
  Measured result;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double shared = 1.0 + 0.02 * noise();
    result.single.push_back(correlated(kSingleMs * shared * (1.0 + 0.005 * noise()), 120, noise));
    result.both.push_back(correlated(kSingleMs / ratio * shared * (1.0 + 0.005 * noise()), 120, noise));
  }
  return result;
}

// Of 95 % intervals by five repeats at least 85 in 100 hold the truth, and not because they are wide: few hold what is
// 5 % off.
TEST(Bootstrap, TheTruthIsCovered) {
  constexpr double kTruth = 1.9;
  int covered = 0;
  int coveredFarOff = 0;
  for (uint64_t trial = 1; trial <= 100; ++trial) {
    const Measured runs = measured(kTruth, trial);
    const auto interval = ratioInterval(runs.both, runs.single);
    ASSERT_TRUE(interval);
    EXPECT_LE(interval->low, interval->value);
    EXPECT_GE(interval->high, interval->value);
    covered += interval->low <= kTruth && kTruth <= interval->high;
    coveredFarOff += interval->low <= 1.05 * kTruth && 1.05 * kTruth <= interval->high;
  }
  EXPECT_GE(covered, 85);
  EXPECT_LE(coveredFarOff, 15);
}

// One and the same run, five times: repeats add nothing, the frames are all there is. The mean of correlated frames
// varies (1 + 0.6) / (1 - 0.6) = 4 times as much as that of independent ones: its deviation, and with it the width, is
// twice as large, in the limit of long blocks.
TEST(Bootstrap, BlocksWidenTheIntervalOfCorrelatedFrames) {
  Noise noise(1);
  const Runs runs(5, correlated(16.0, 2000, noise));
  const double widening = width(fpsInterval(runs)) / width(fpsInterval(runs, 1));
  EXPECT_GT(widening, 1.5);
  EXPECT_LT(widening, 2.5);
  // Independent: as wide either way.
  Noise other(2);
  Frames independent(2000);
  for (double& time : independent) time = 16.0 * (1.0 + 0.05 * other());
  const Runs even(5, independent);
  EXPECT_NEAR(width(fpsInterval(even)) / width(fpsInterval(even, 1)), 1.0, 0.25);
}

TEST(Bootstrap, TheWidthIsThatOfTheMean) {
  // Mean 16 ms, deviation 4 ms (12 or 20, evenly), 5 runs of 2000: the mean of 10,000 deviates by 0.04 ms, 0.25 %. The
  // rate 62.5 does by the same part; 2 * 1.96 of that are 0.6125 fps.
  Frames run;
  for (int pair = 0; pair < 1000; ++pair) run.insert(run.end(), {12.0, 20.0});
  EXPECT_NEAR(width(fpsInterval(Runs(5, run), 1)), 0.6125, 0.05);
}

TEST(Bootstrap, TheSameRunsGiveTheSameInterval) {
  const Measured runs = measured(1.5, 7);
  const auto one = ratioInterval(runs.both, runs.single);
  const auto two = ratioInterval(runs.both, runs.single);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->low, two->low);
  EXPECT_EQ(one->high, two->high);
}

}  // namespace
}  // namespace tandem::jobs
