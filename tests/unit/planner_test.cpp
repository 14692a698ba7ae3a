// The planner against frame times worked out by hand.
#include "schedule/planner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/check.h"

namespace tandem::schedule {
namespace {

/// R = 14 ms, P = 3 ms on each of `count` nodes that are alike; 132 MB a frame at 52.8 GB/s: X = 2.5 ms.
Costs alike(uint32_t count) { return {count, {{14.0, 3.0}}, {52.8, 0.08}, 132'000'000, false}; }

double ms(const Costs& costs, Way way) { return predict(costs).at(way).ms.value_or(-1.0); }

TEST(Planner, TwoAlike) {
  EXPECT_DOUBLE_EQ(ms(alike(2), Way::Single), 17.0);
  EXPECT_DOUBLE_EQ(ms(alike(2), Way::Pipelined), 14.0);  // the cap of DESIGN.md: 17 / 14 = 1.21x
  EXPECT_NEAR(ms(alike(2), Way::Sfr), 8.5, 1e-12);       // (14 + 3) / 2: 2.0x
  EXPECT_NEAR(ms(alike(2), Way::Afr), 8.5, 1e-12);
}

// T / 14 on each of three, T less 3 ms on one of them: 3 T / 14 - 3 / 14 = 1, T = 17 / 3.
TEST(Planner, ThreeAndFourAlike) {
  EXPECT_NEAR(ms(alike(3), Way::Sfr), 17.0 / 3.0, 1e-12);
  EXPECT_NEAR(ms(alike(4), Way::Sfr), 17.0 / 4.0, 1e-12);
  EXPECT_NEAR(ms(alike(3), Way::Afr), 17.0 / 3.0, 1e-12);
  EXPECT_DOUBLE_EQ(ms(alike(3), Way::Pipelined), 14.0);  // the third has nothing to do
}

// Node 0: R = 10; node 1: R = 30, P = 6. T/10 + (T - 6)/30 = 1: T = 9. afr: 1/(10+2) + 1/36 = 1/9.
TEST(Planner, UnlikeNodes) {
  const Costs costs{2, {{10.0, 2.0}, {30.0, 6.0}}, {50.0, 0.1}, 50'000'000, false};
  EXPECT_DOUBLE_EQ(ms(costs, Way::Single), 12.0);
  EXPECT_DOUBLE_EQ(ms(costs, Way::Pipelined), 10.0);
  EXPECT_NEAR(ms(costs, Way::Sfr), 9.0, 1e-12);
  EXPECT_NEAR(ms(costs, Way::Afr), 9.0, 1e-12);
}

// P = 8 > R = 4: sfr is capped at (R + P) / P = 1.5x, and so is pipelined; afr is not.
TEST(Planner, PostIsLongerThanTracing) {
  const Costs costs{2, {{4.0, 8.0}}, {50.0, 0.1}, 50'000'000, false};
  EXPECT_DOUBLE_EQ(ms(costs, Way::Pipelined), 8.0);
  EXPECT_DOUBLE_EQ(ms(costs, Way::Sfr), 8.0);
  EXPECT_NEAR(ms(costs, Way::Afr), 6.0, 1e-12);
}

// X = 132 MB / 2 GB/s = 66 ms binds pipelined. In sfr node 0 may send T / 66 of a frame, node 1 traces (T - 3) / 14:
// T (1/66 + 1/14) = 1 + 3/14, T = (17/14) / (80/924) = 14.025.
TEST(Planner, SlowLink) {
  Costs costs = alike(2);
  costs.link.gbps = 2.0;
  EXPECT_NEAR(ms(costs, Way::Pipelined), 66.0, 1e-9);
  EXPECT_NEAR(ms(costs, Way::Sfr), 14.025, 1e-9);
  EXPECT_NEAR(ms(costs, Way::Afr), 8.5, 1e-12);  // nothing crosses
  // Three nodes: the two senders share the way to node 1.
  costs.count = 3;
  EXPECT_NEAR(ms(costs, Way::Sfr), 14.025, 1e-9);
}

TEST(Planner, LatencyCostsNoThroughput) {
  Costs costs = alike(2);
  costs.link.hopMs = 100.0;
  EXPECT_DOUBLE_EQ(ms(costs, Way::Pipelined), 14.0);
}

TEST(Planner, Refusals) {
  const Prediction one = predict(alike(1));
  EXPECT_DOUBLE_EQ(*one.at(Way::Single).ms, 17.0);
  for (const Way way : {Way::Pipelined, Way::Sfr, Way::Afr}) {
    EXPECT_FALSE(one.at(way).ms);
    EXPECT_EQ(one.at(way).refusal, "needs two GPUs");
  }
  Costs temporal = alike(2);
  temporal.temporal = true;
  EXPECT_FALSE(predict(temporal).at(Way::Afr).ms);
  EXPECT_EQ(predict(temporal).at(Way::Afr).refusal, "a pass reads its own past");
  EXPECT_TRUE(predict(temporal).at(Way::Sfr).ms);
  Costs unlinked = alike(2);
  unlinked.link.gbps = 0.0;
  EXPECT_FALSE(predict(unlinked).at(Way::Sfr).ms);
  EXPECT_FALSE(predict(unlinked).at(Way::Pipelined).ms);
  EXPECT_TRUE(predict(unlinked).at(Way::Afr).ms);
}

TEST(Planner, BadInputIsABrokenPromise) {
  EXPECT_THROW(predict({2, {}, {}, 0, false}), BrokenPromise);
  EXPECT_THROW(predict({3, {{1, 1}, {1, 1}}, {}, 0, false}), BrokenPromise);
  EXPECT_THROW(predict({1, {{-1, 1}}, {}, 0, false}), BrokenPromise);
  EXPECT_THROW(predict({1, {{NAN, 1}}, {}, 0, false}), BrokenPromise);
}

Prediction forecasts(double single, double pipelined, double sfr, double afr) {
  return {{Way::Single, {single, ""}}, {Way::Pipelined, {pipelined, ""}}, {Way::Sfr, {sfr, ""}}, {Way::Afr, {afr, ""}}};
}

TEST(Planner, Text) {
  const Prediction prediction = forecasts(14.2, 11.9, 7.3, 7.1);
  EXPECT_EQ(predictionText(prediction, choose(prediction, {}, Way::Single)),
            "predicted: single 14.2 ms, pipelined 11.9 ms (1.19x), sfr 7.3 ms (1.95x), afr 7.1 ms (2.00x): sfr");
  EXPECT_EQ(predictionText(predict(alike(1)), Way::Single),
            "predicted: single 17.0 ms, pipelined not (needs two GPUs), sfr not (needs two GPUs), afr not (needs two "
            "GPUs): single");
}

TEST(Planner, ChoosesTheFastest) {
  EXPECT_EQ(choose(forecasts(10, 8, 5, 6), {}, Way::Single), Way::Sfr);
  EXPECT_EQ(choose(forecasts(10, 8, 8, 5), {}, Way::Single), Way::Afr);
  EXPECT_EQ(choose(forecasts(10, 8, 12, 12), {}, Way::Single), Way::Pipelined);
  EXPECT_EQ(choose(forecasts(10, 11, 12, 13), {}, Way::Single), Way::Single);
  EXPECT_EQ(choose(predict(alike(1)), {}, Way::Sfr), Way::Single);  // what is refused is never kept
}

TEST(Planner, KeepsThePresentUnlessAnotherIsBetterByMoreThanThreePercent) {
  EXPECT_EQ(choose(forecasts(10, 9, 5.1, 5.0), {}, Way::Sfr), Way::Sfr);
  EXPECT_EQ(choose(forecasts(10, 9, 5.1, 5.0), {}, Way::Afr), Way::Afr);
  EXPECT_EQ(choose(forecasts(10, 9, 5.2, 5.0), {}, Way::Sfr), Way::Afr);
  EXPECT_EQ(choose(forecasts(10, 9.8, 9.75, 11), {}, Way::Single), Way::Single);
}

TEST(Planner, MeasuredCountsForMoreThanPredicted) {
  const Prediction prediction = forecasts(10, 8, 5, 6);
  EXPECT_EQ(choose(prediction, {{Way::Single, 10}, {Way::Sfr, 9}}, Way::Sfr), Way::Afr);
  EXPECT_EQ(choose(prediction, {{Way::Single, 10}, {Way::Sfr, 9}, {Way::Afr, 9.5}}, Way::Sfr), Way::Pipelined);
}

// Slower by less than the hysteresis is still slower than one GPU alone.
TEST(Planner, NeverSlowerThanSingle) {
  const Prediction prediction = forecasts(10, 8, 5, 6);
  const Measured all{{Way::Single, 10}, {Way::Pipelined, 10.1}, {Way::Sfr, 10.2}, {Way::Afr, 10.05}};
  for (const Way present : kWays) EXPECT_EQ(choose(prediction, all, present), Way::Single) << wayName(present);
}

}  // namespace
}  // namespace tandem::schedule
