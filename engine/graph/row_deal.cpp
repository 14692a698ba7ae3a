#include "graph/row_deal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tandem::graph {

RowDeal::RowDeal(uint32_t rows, std::span<const double> shares)
    : rows_(rows), tops_(shares.size()), rowsOf_(shares.size(), 0) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  TANDEM_CHECK(
      sum > 0.0 && std::isfinite(sum) && std::ranges::all_of(shares, [](double share) { return share >= 0.0; }),
      "{} rows are dealt to {} parts with a sum of shares of {}", rows, shares.size(), sum);
  // Each band goes to the part that is furthest behind what it should have by then; the first of equals wins.
  std::vector<double> owed(shares.size(), 0.0);
  for (uint32_t top = 0; top < rows; top += kBandRows) {
    for (size_t part = 0; part < shares.size(); ++part) owed[part] += shares[part] / sum;
    uint32_t taker = 0;
    double most = -1.0;
    for (uint32_t part = 0; part < shares.size(); ++part) {
      if (shares[part] > 0.0 && owed[part] > most + 1e-9) {
        taker = part;
        most = owed[part];
      }
    }
    owed[taker] -= 1.0;
    tops_[taker].push_back(top);
    rowsOf_[taker] += std::min(kBandRows, rows - top);
    partOfBand_.push_back(taker);
  }
}

std::vector<RowDeal::Run> RowDeal::runs() const {
  std::vector<Run> runs;
  std::vector<uint32_t> filled(tops_.size(), 0);
  for (uint32_t band = 0; band < partOfBand_.size(); ++band) {
    const uint32_t part = partOfBand_[band], row = band * kBandRows, count = std::min(kBandRows, rows_ - row);
    if (!runs.empty() && runs.back().part == part) {
      runs.back().count += count;
    } else {
      runs.push_back({part, filled[part], row, count});
    }
    filled[part] += count;
  }
  return runs;
}

}  // namespace tandem::graph
