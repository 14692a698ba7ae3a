// Figures over series, against numbers worked out by hand.
#include "jobs/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tandem::jobs {
namespace {

std::vector<double> oneTo(size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// The textbook example of the method: 15, 20, 35, 40, 50.
TEST(Statistics, NearestRankIsTheTextbooks) {
  const std::vector<double> values{15, 20, 35, 40, 50};
  EXPECT_EQ(nearestRank(values, 5), 15);     // ceil(0.25) = 1
  EXPECT_EQ(nearestRank(values, 20), 15);    // ceil(1.0) = 1
  EXPECT_EQ(nearestRank(values, 30), 20);    // ceil(1.5) = 2
  EXPECT_EQ(nearestRank(values, 40), 20);    // ceil(2.0) = 2
  EXPECT_EQ(nearestRank(values, 50), 35);    // ceil(2.5) = 3
  EXPECT_EQ(nearestRank(values, 80.1), 50);  // ceil(4.005) = 5
  EXPECT_EQ(nearestRank(values, 100), 50);
}

TEST(Statistics, WholeRanksAreNotRoundedUp) {
  const std::vector<double> values = oneTo(10000);
  EXPECT_EQ(nearestRank(values, 99.9), 9990);
  EXPECT_EQ(nearestRank(values, 99.99), 9999);
  EXPECT_EQ(nearestRank(values, 0.01), 1);
  for (const int percent : {1, 29, 57, 58, 90, 95, 99}) EXPECT_EQ(nearestRank(values, percent), percent * 100);
  EXPECT_EQ(nearestRank(oneTo(1000), 99.9), 999);
  EXPECT_EQ(nearestRank(oneTo(20), 95), 19);
}

TEST(Statistics, WhatHasNoRankIsABrokenPromise) {
  EXPECT_THROW(nearestRank({}, 50), BrokenPromise);
  EXPECT_THROW(nearestRank(oneTo(3), 0), BrokenPromise);
  EXPECT_THROW(nearestRank(oneTo(3), 101), BrokenPromise);
}

TEST(Statistics, TheMedianIsOneOfTheValues) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median(std::vector<double>{9, 1, 5, 7}), 5);  // ceil(2.0) = 2: of 1, 5, 7, 9
  EXPECT_EQ(median(std::vector<double>{4}), 4);
}

TEST(Statistics, OfASeriesByHand) {
  // Mean 5; squares of the differences 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; over n - 1 = 7.
  const std::vector<double> values{9, 4, 2, 4, 5, 7, 4, 5};
  const auto result = summarize(values);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->count, 8u);
  EXPECT_DOUBLE_EQ(result->mean, 5.0);
  EXPECT_DOUBLE_EQ(result->deviation.value(), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(result->least, 2);
  EXPECT_EQ(result->most, 9);
  EXPECT_EQ(result->p50, 4);  // number 4 of 2 4 4 4 5 5 7 9
  EXPECT_FALSE(result->p90 || result->p95 || result->p99);
}

TEST(Statistics, FewValuesHaveNoHighPercentiles) {
  EXPECT_FALSE(summarize({}));
  const auto one = summarize(std::vector<double>{3.0});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->p50, 3.0);
  EXPECT_FALSE(one->deviation);
  EXPECT_FALSE(summarize(oneTo(9))->p90);
  EXPECT_EQ(summarize(oneTo(10))->p90.value(), 9);
  EXPECT_FALSE(summarize(oneTo(19))->p95);
  EXPECT_EQ(summarize(oneTo(20))->p95.value(), 19);
  EXPECT_FALSE(summarize(oneTo(99))->p99);
  EXPECT_EQ(summarize(oneTo(100))->p99.value(), 99);
  EXPECT_EQ(summarize(oneTo(101))->p99.value(), 100);  // ceil(99.99) = 100
}

TEST(Statistics, TheLastThousandthNeedsTenThousandValues) {
  EXPECT_FALSE(summarize(oneTo(9999))->p999);
  EXPECT_EQ(summarize(oneTo(10000))->p999.value(), 9990);   // 99.9 % of 10000: ten lie above
  EXPECT_EQ(summarize(oneTo(10001))->p999.value(), 9991);   // ceil(9990.999)
  EXPECT_EQ(summarize(oneTo(12000))->p999.value(), 11988);  // 12000 - 12
}

TEST(Statistics, ASeriesSettlesWhenTwoBlocksAgree) {
  EXPECT_FALSE(settled(std::vector<double>(9, 10.0)));
  EXPECT_TRUE(settled(std::vector<double>(10, 10.0)));
  // Clocks that rise: medians 12 and 10 differ by 1/6.
  EXPECT_FALSE(settled(std::vector<double>{14, 13, 12, 12, 11, 11, 10, 10, 10, 10}));
  // 100 and 98: at most 2 % of 100.
  EXPECT_TRUE(settled(std::vector<double>{100, 100, 100, 100, 100, 98, 98, 98, 98, 98}));
  EXPECT_FALSE(settled(std::vector<double>{100, 100, 100, 100, 100, 97, 97, 97, 97, 97}));
  // Only the last ten count, and one frame that stutters in a block does not.
  EXPECT_TRUE(settled(std::vector<double>{500, 10, 10, 10, 90, 10, 10, 10, 10, 10, 10}));
}

}  // namespace
}  // namespace tandem::jobs
