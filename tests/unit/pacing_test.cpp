// How evenly frames came, against numbers worked out by hand.
#include "jobs/pacing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tandem::jobs {
namespace {

using Frames = std::vector<double>;
using Runs = std::vector<Frames>;

/// `slow`, then as many frames of 10 ms as make `count`.
Frames tens(size_t count, Frames slow = {}) {
  slow.resize(count, 10.0);
  return slow;
}

// 98 frames of 10 ms, one of 15 and one of 20: 1015 ms.
TEST(Pacing, OnePercentLowOfAHundredFrames) {
  const OnePercentLow low = onePercentLow(Runs{tens(100, {20, 15})});
  EXPECT_DOUBLE_EQ(low.byP99.value(), 1000.0 / 15.0);  // p99: number 99 in order
  EXPECT_DOUBLE_EQ(low.timeWeighted.value(), 50.0);    // 1 % of the time is 10.15 ms: the frame of 20 has it
}

// 396 of 10 ms and 12, 15, 20, 40: 4047 ms, 1 % of it 40.47. 40 is less, 40 + 20 is not.
TEST(Pacing, LongFramesWeighMoreByTime) {
  const OnePercentLow low = onePercentLow(Runs{tens(400, {12, 40, 15, 20})});
  EXPECT_DOUBLE_EQ(low.byP99.value(), 100.0);  // number 396 in order: the last of 10 ms
  EXPECT_DOUBLE_EQ(low.timeWeighted.value(), 50.0);
}

// 396 of 10 ms and one of 40: 4000 ms, and 40 is 1 % exactly. In units that have no exact binary digits as well.
TEST(Pacing, AnExactHundredthIsReached) {
  Frames run = tens(397, {40});
  EXPECT_DOUBLE_EQ(onePercentLow(Runs{run}).timeWeighted.value(), 25.0);
  for (const double unit : {0.1, 0.01, 0.07, 1.1, 1.0 / 3.0}) {
    Frames scaled = run;
    for (double& time : scaled) time *= unit;
    EXPECT_DOUBLE_EQ(onePercentLow(Runs{scaled}).timeWeighted.value(), 25.0 / unit);
  }
  run.push_back(10.0);  // 4010 ms: now 40 is too little, the next is 10
  EXPECT_DOUBLE_EQ(onePercentLow(Runs{run}).timeWeighted.value(), 100.0);
}

TEST(Pacing, OnePercentLowTakesAllRunsTogether) {
  const OnePercentLow one = onePercentLow(Runs{tens(100, {20, 15})});
  const OnePercentLow two = onePercentLow(Runs{tens(40, {15}), tens(60, {20})});
  EXPECT_EQ(one.byP99, two.byP99);
  EXPECT_EQ(one.timeWeighted, two.timeWeighted);
}

TEST(Pacing, OnePercentOfTooFewFramesIsUnknown) {
  for (const Runs& runs : {Runs{}, Runs{{}}, Runs{tens(99)}, Runs{tens(50), tens(49)}, Runs{Frames(100, 0.0)}}) {
    EXPECT_FALSE(onePercentLow(runs).byP99);
    EXPECT_FALSE(onePercentLow(runs).timeWeighted);
  }
  EXPECT_TRUE(onePercentLow(Runs{tens(50), tens(50)}).byP99);
  // 99 frames of no time and one of 10 ms: p99 is 0, and all of the time passed at 100 frames per second.
  Frames burst(100, 0.0);
  burst[30] = 10.0;
  EXPECT_FALSE(onePercentLow(Runs{burst}).byP99);
  EXPECT_DOUBLE_EQ(onePercentLow(Runs{burst}).timeWeighted.value(), 100.0);
}

TEST(Pacing, StutterIsMoreThanTwiceTheLocalMedian) {
  Frames run = tens(11);
  run[5] = 21;
  auto found = stutter(Runs{run});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1u);
  EXPECT_DOUBLE_EQ(found->timeShare, 21.0 / 121.0);  // 10 of 10 ms and this one
  run[5] = 20;                                       // twice, not more
  found = stutter(Runs{run});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 0u);
  EXPECT_EQ(found->timeShare, 0.0);
}

// From 10 ms to 30 and to stay: the scene became harder. The median of all 22 is 10, and would call 11 frames stutter.
TEST(Pacing, AStepIsNoStutter) {
  Frames run = tens(11);
  run.resize(22, 30.0);  // the first of 30: five of 10 and six of 30 around it
  EXPECT_EQ(stutter(Runs{run}).value().count, 0u);
}

// Eleven frames around: five slow ones in a row are fewer than the six others; six are the median themselves.
TEST(Pacing, TheWindowIsElevenFrames) {
  Frames run = tens(31);
  std::fill_n(run.begin() + 13, 5, 30.0);
  EXPECT_EQ(stutter(Runs{run}).value().count, 5u);
  // A sixth: the window of each of the numbers 13 to 18 holds all six.
  run[18] = 30.0;
  EXPECT_EQ(stutter(Runs{run}).value().count, 0u);
}

TEST(Pacing, TheWindowIsClippedAtTheEnds) {
  // Number 0 of three: 3 of 25 and 3 of 10 around, number 3 in order is 10. Numbers 1 and 2: 3 of 25, 4 and 5 of 10.
  Frames run = tens(20, {25, 25, 25});
  EXPECT_EQ(stutter(Runs{run}).value().count, 3u);
  EXPECT_DOUBLE_EQ(stutter(Runs{run}).value().timeShare, 75.0 / 245.0);
  std::ranges::reverse(run);
  EXPECT_EQ(stutter(Runs{run}).value().count, 3u);
  // A fourth: number 0 has 4 of 25 and 2 of 10 around, number 1 has 4 and 3, number 2 has 4 and 4, number 3 has 4
  // and 5.
  EXPECT_EQ(stutter(Runs{tens(20, {25, 25, 25, 25})}).value().count, 2u);
}

// Alone, the second run's first frame has five of 30 and one of 13 around. With the first run before it: 30, 30, 13,
// 30, 30, 30 and five of 10, of which number 6 in order is 13, and 30 is more than twice that.
TEST(Pacing, LocalMediansStayWithinTheirRun) {
  const Frames first = tens(11);
  const Frames second{30, 30, 30, 13, 30, 30, 30, 30, 30, 30, 30};
  EXPECT_EQ(stutter(Runs{first, second}).value().count, 0u);
  Frames joined = first;
  joined.insert(joined.end(), second.begin(), second.end());
  EXPECT_EQ(stutter(Runs{joined}).value().count, 1u);
}

TEST(Pacing, RunsThatAreTooShortForAMedianDoNotCount) {
  EXPECT_FALSE(stutter({}));
  EXPECT_FALSE(stutter(Runs{{}, tens(10)}));
  EXPECT_FALSE(stutter(Runs{Frames(11, 0.0)}));  // no time of which it could be a share
  const auto found = stutter(Runs{tens(10, {90}), tens(11, {90})});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 1u);
  EXPECT_DOUBLE_EQ(found->timeShare, 90.0 / 190.0);  // of the second run alone
}

TEST(Pacing, DeltasAreThoseWithinEachRun) {
  EXPECT_EQ(deltas(Runs{{10, 12, 11}, {}, {20}, {40, 40.5}}), (Frames{2, 1, 0.5}));
  EXPECT_TRUE(deltas({}).empty());
  EXPECT_TRUE(deltas(Runs{{10}, {20}}).empty());
}

}  // namespace
}  // namespace tandem::jobs
