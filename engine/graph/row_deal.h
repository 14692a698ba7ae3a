// How the rows of a picture are dealt to the nodes that share a pass: in interleaved bands of 8, so that sky above and
// ground below cost all nodes alike. Pure data.
//
// A node writes its rows densely: the first of its bands begins at row 0 of its part, the next at row 8 and so on. Only
// the picture's last band may be shorter than 8, and it is then the last of its part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::graph {

inline constexpr uint32_t kBandRows = 8;

class RowDeal {
 public:
  /// Deals `rows` rows in proportion to `shares` (one per part, none negative, the sum positive and finite). A share of
  /// 0 gets nothing; the others may differ from their share by less than one band.
  RowDeal(uint32_t rows, std::span<const double> shares);

  uint32_t rows() const { return rows_; }
  uint32_t parts() const { return static_cast<uint32_t>(tops_.size()); }
  uint32_t rowsOf(uint32_t part) const { return rowsOf_.at(part); }
  /// Row of the picture at which each band of a part begins, in the order in which the part holds them.
  const std::vector<uint32_t>& bandTops(uint32_t part) const { return tops_.at(part); }

  /// A stretch of rows that lies in one part as it lies in the picture.
  struct Run {
    uint32_t part = 0;
    uint32_t partRow = 0;  // first row, in the part
    uint32_t row = 0;      // first row, in the picture
    uint32_t count = 0;
  };
  /// The whole picture from top to bottom, in as few stretches as there are.
  std::vector<Run> runs() const;

 private:
  uint32_t rows_;
  std::vector<std::vector<uint32_t>> tops_;  // per part
  std::vector<uint32_t> rowsOf_;             // per part
  std::vector<uint32_t> partOfBand_;
};

}  // namespace tandem::graph
