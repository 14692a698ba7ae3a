// How rows are dealt: every row once, in proportion, in interleaved bands; and the runs tell the same as the bands.
#include "graph/row_deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/check.h"

using namespace tandem;
using namespace tandem::graph;

namespace {

// Whole bands, a short last band, a lone short band, a lone row, none at all.
constexpr uint32_t kHeights[] = {0, 1, 7, 8, 9, 64, 100, 1080, 2160, 2161};

uint32_t bandsOf(uint32_t rows) { return (rows + kBandRows - 1) / kBandRows; }

/// Two to five parts with 0, 1, 37, 99 and 100 % in every place, and shares that are no round numbers.
std::vector<std::vector<double>> shareLists() {
  std::vector<std::vector<double>> lists;
  for (const double percent : {0.0, 1.0, 37.0, 99.0, 100.0}) {
    for (size_t parts = 2; parts <= 5; ++parts) {
      for (size_t chosen = 0; chosen < parts; ++chosen) {
        std::vector<double> shares(parts, (100.0 - percent) / static_cast<double>(parts - 1));
        shares[chosen] = percent;
        lists.push_back(shares);
      }
    }
  }
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> share(0.0, 10.0);
  for (int list = 0; list < 100; ++list) {
    std::vector<double> shares(2 + rng() % 4);
    for (double& value : shares) value = share(rng);
    lists.push_back(shares);
  }
  lists.push_back({1.0});
  return lists;
}

template <class Check>
void forAllDeals(Check check) {
  for (const uint32_t rows : kHeights) {
    for (const auto& shares : shareLists()) {
      std::string text = fmt::format("{} rows dealt by", rows);
      for (const double share : shares) text += fmt::format(" {}", share);
      SCOPED_TRACE(text);
      check(RowDeal(rows, shares), rows, shares);
    }
  }
}

TEST(RowDeal, EveryRowIsDealtOnce) {
  forAllDeals([](const RowDeal& deal, uint32_t rows, const std::vector<double>& shares) {
    EXPECT_EQ(deal.rows(), rows);
    ASSERT_EQ(deal.parts(), shares.size());
    std::vector<uint32_t> dealt(rows, 0);
    for (uint32_t part = 0; part < deal.parts(); ++part) {
      uint32_t rowsOfPart = 0;
      for (const uint32_t top : deal.bandTops(part)) {
        ASSERT_LT(top, rows);
        EXPECT_EQ(top % kBandRows, 0u);
        for (uint32_t row = top; row < std::min(top + kBandRows, rows); ++row, ++rowsOfPart) ++dealt[row];
      }
      EXPECT_EQ(deal.rowsOf(part), rowsOfPart);
      EXPECT_TRUE(std::ranges::is_sorted(deal.bandTops(part)));
    }
    EXPECT_EQ(std::ranges::count(dealt, 1u), rows);
  });
}

TEST(RowDeal, EveryPartGetsItsShareToWithinABand) {
  forAllDeals([](const RowDeal& deal, uint32_t rows, const std::vector<double>& shares) {
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (uint32_t part = 0; part < deal.parts(); ++part) {
      EXPECT_LT(std::abs(deal.rowsOf(part) - rows * shares[part] / sum), kBandRows + 1e-6) << "part " << part;
      if (shares[part] == 0.0) {
        EXPECT_EQ(deal.rowsOf(part), 0u) << "part " << part;
      }
      if (shares[part] == sum) {
        EXPECT_EQ(deal.rowsOf(part), rows) << "part " << part;
      }
    }
  });
}

// At any height in the picture, each part has had its share of what is above: sky and ground cost all alike.
TEST(RowDeal, NoPartFallsBehindAnywhereInThePicture) {
  forAllDeals([](const RowDeal& deal, uint32_t rows, const std::vector<double>& shares) {
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (uint32_t part = 0; part < deal.parts(); ++part) {
      const auto& tops = deal.bandTops(part);
      size_t had = 0;
      for (uint32_t band = 0; band < bandsOf(rows); ++band) {
        had += had < tops.size() && tops[had] == band * kBandRows ? 1 : 0;
        const double due = (band + 1) * shares[part] / sum;
        // With many parts several may be due at once, and only one is served at a time.
        EXPECT_LT(std::abs(static_cast<double>(had) - due), deal.parts() > 2 ? 2.0 : 1.0 + 1e-6)
            << "part " << part << " after band " << band;
      }
    }
  });
}

TEST(RowDeal, HalvesAlternateAndOtherSharesHaveEvenGaps) {
  for (const uint32_t rows : {64u, 100u, 2160u, 2161u}) {
    const RowDeal halves(rows, std::vector{50.0, 50.0});
    for (uint32_t part = 0; part < 2; ++part) {
      for (size_t i = 0; i < halves.bandTops(part).size(); ++i) {
        EXPECT_EQ(halves.bandTops(part)[i], (2 * i + part) * kBandRows) << rows << " rows, part " << part;
      }
    }
    for (double percent = 1.0; percent < 100.0; percent += 1.0) {
      const RowDeal deal(rows, std::vector{100.0 - percent, percent});
      const auto& tops = deal.bandTops(1);
      uint32_t least = UINT32_MAX, most = 0;
      for (size_t i = 1; i < tops.size(); ++i) {
        least = std::min(least, (tops[i] - tops[i - 1]) / kBandRows);
        most = std::max(most, (tops[i] - tops[i - 1]) / kBandRows);
      }
      if (most > 0) {
        EXPECT_LE(most - least, 1u) << percent << " % of " << rows << " rows";
      }
    }
  }
}

TEST(RowDeal, EqualSharesOfManyPartsGoRound) {
  for (uint32_t parts = 2; parts <= 5; ++parts) {
    const RowDeal deal(2160, std::vector<double>(parts, 0.25));
    for (uint32_t part = 0; part < parts; ++part) {
      for (size_t i = 1; i < deal.bandTops(part).size(); ++i)
        EXPECT_EQ(deal.bandTops(part)[i] - deal.bandTops(part)[i - 1], parts * kBandRows);
    }
  }
}

TEST(RowDeal, OnlyTheProportionCounts) {
  const RowDeal deal(2160, std::vector{37.0, 63.0}), same(2160, std::vector{0.37, 0.63});
  EXPECT_EQ(deal.bandTops(0), same.bandTops(0));
  EXPECT_EQ(deal.bandTops(1), same.bandTops(1));
}

TEST(RowDeal, RunsCoverThePictureFromTopToBottomAndEachPartInItsOrder) {
  forAllDeals([](const RowDeal& deal, uint32_t rows, const std::vector<double>&) {
    std::vector<uint32_t> filled(deal.parts(), 0);
    uint32_t row = 0, before = UINT32_MAX;
    for (const RowDeal::Run& run : deal.runs()) {
      ASSERT_LT(run.part, deal.parts());
      EXPECT_EQ(run.row, row);
      EXPECT_EQ(run.partRow, filled[run.part]);
      EXPECT_GT(run.count, 0u);
      EXPECT_NE(run.part, before) << "two runs could be one";
      for (uint32_t i = 0; i < run.count; ++i) {
        // Where the bands say that this row of the part belongs.
        const uint32_t partRow = run.partRow + i;
        EXPECT_EQ(deal.bandTops(run.part).at(partRow / kBandRows) + partRow % kBandRows, run.row + i);
      }
      row += run.count;
      filled[run.part] += run.count;
      before = run.part;
    }
    EXPECT_EQ(row, rows);
    for (uint32_t part = 0; part < deal.parts(); ++part) EXPECT_EQ(filled[part], deal.rowsOf(part));
  });
}

TEST(RowDeal, SharesThatMeanNothingAreABrokenPromise) {
  const double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> bad{{},           {0.0},       {0.0, 0.0},      {-1.0, 2.0},
                                             {1.0, -1e-9}, {none, 1.0}, {infinite, 1.0}, {infinite, infinite}};
  for (const auto& shares : bad) EXPECT_THROW(RowDeal(100, shares), BrokenPromise) << shares.size() << " shares";
  EXPECT_THROW((void)RowDeal(100, std::vector{1.0}).rowsOf(1), std::out_of_range);
}

}  // namespace
