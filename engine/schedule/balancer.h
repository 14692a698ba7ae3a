// How many rows each node traces in the next frame of sfr, so that all nodes finish together. Pure arithmetic; one
// thread.
//
// A node's time for n rows is max(n * rate + other, n * link): `rate` is its milliseconds per row, `other` what else
// runs on it in every frame (post on the node that has it), `link` the milliseconds per row that its rows need on their
// way, which pass beside the node's work and only bind where the link is the slowest of all. The frame takes as long as
// its slowest node. The rows are dealt in bands of graph::kBandRows, and each band goes to the node that would finish
// it first, which is the optimum for costs of this form; a node whose `other` alone is longer than the frame gets none.
//
// Rates are damped averages. Results may come several frames late: each report carries the rows that its own frame had.
// A change by more than 25 % that two reports in a row agree on (a camera cut) replaces an average at once; one report
// alone is an outlier and is dropped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::schedule {

/// What one node did in one finished frame. Times in milliseconds.
struct NodeLoad {
  uint32_t rows = 0;        // rows that it traced in that frame
  double traceMs = 0.0;     // for those rows
  double otherMs = 0.0;     // everything else that ran on the node in that frame
  double transferMs = 0.0;  // during which those rows were on their way to another node; 0: they stay
};

/// A quantity that is measured once a frame.
class DampedAverage {
 public:
  /// `frame`: running number of reports, to notice an average that is too old to be worth anything.
  void add(double value, uint64_t frame);
  bool known() const { return samples_ > 0; }
  double value() const { return value_; }

 private:
  void restart(double value, uint32_t samples);

  double value_ = 0.0;
  uint32_t samples_ = 0;  // since the last restart
  double suspect_ = 0.0;  // the report before, where it was far off
  bool suspicious_ = false;
  uint64_t lastFrame_ = 0;
};

class Balancer {
 public:
  /// A frame of sfr has `rows` rows; `nodes` nodes share them.
  Balancer(uint32_t nodes, uint32_t rows);

  /// One finished frame, one load per node; frames in their order, at any time after they were started.
  void report(std::span<const NodeLoad> loads);

  /// Shares of the next frame, one per node, sum 1, whole bands of the picture; called once per frame that is started.
  /// Equal parts until the first report. Changes only where it is predicted to gain more than 1 % or to move more than
  /// one band. A node that has had no rows for kProbeFrames frames gets one band, so that its rate stays known.
  std::vector<double> nextShares();

  /// Milliseconds that the slowest node is predicted to take with the shares given last (the one band of a probe not
  /// counted); 0 before the first report.
  double predictedMs() const;

  static constexpr uint32_t kProbeFrames = 32;

 private:
  struct Node {
    DampedAverage rate;   // ms per band
    DampedAverage other;  // ms per frame
    DampedAverage link;   // ms per band
    uint32_t idle = 0;    // frames started since it last had rows
  };
  double rateOf(const Node& node) const;
  double nodeMs(const Node& node, uint32_t bands) const;
  double frameMs(std::span<const uint32_t> bands) const;
  std::vector<uint32_t> bestBands() const;
  void probe(std::vector<uint32_t>& bands);

  std::vector<Node> nodes_;
  uint32_t rows_;
  uint32_t bandsInAll_;
  std::vector<uint32_t> bands_;  // dealt to each node
  uint64_t reports_ = 0;
};

}  // namespace tandem::schedule
