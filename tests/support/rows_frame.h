// A frame whose first pass may be shared by rows, and the same frame in plain arithmetic. The planes `colour` and
// `motion` are made by rows; `mix` and `final` read them through row tables, so that one of them has two readers; the
// result and the colour itself are read back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "output/readback.h"

namespace tandem::test {

class RowsFrame {
 public:
  struct Texel {};
  using Plane = graph::Resource<Texel>;
  static constexpr uint32_t kWidth = 96, kHeight = 100;  // the last band has 4 rows
  static constexpr uint64_t kRowBytes = kWidth * 4;
  static constexpr uint64_t kMadeRowBytes = 2 * kRowBytes;  // of all that is made by rows

  /// `frames`: how many are kept. `rounds`: work per element. Outlives the executor; is destroyed before the devices.
  RowsFrame(uint32_t frames, uint32_t rounds);

  const graph::Graph& graph() const { return graph_; }
  /// Passes by their names: "make" (shareable), "mix", "final", "read result", "read colour".
  void setFrame(uint32_t frame);
  /// Elements of all frames that differ from arithmetic; every `step`-th element is looked at.
  uint64_t wrong(uint32_t step) const;

 private:
  Plane addReader(const char* name, Plane first, Plane second, uint32_t shift, uint32_t constant);

  graph::Graph graph_;
  const uint32_t frames_, rounds_;
  uint32_t frame_ = 0;
  Plane colour_, motion_;
  output::Readback result_, colourRead_;
};

}  // namespace tandem::test
