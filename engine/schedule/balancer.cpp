#include "schedule/balancer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "graph/row_deal.h"

namespace tandem::schedule {
namespace {

constexpr double kDamping = 0.25;         // weight of a new report, once there are enough of them
constexpr double kJump = 0.25;            // a change by more than this is a cut, or an outlier
constexpr uint64_t kStaleReports = 8;     // an average that is older than this is replaced by the next report
constexpr double kWorthwhileGain = 0.01;  // of the frame's time
constexpr double kLeastMsPerBand = 1e-7;  // so that unmeasurably fast nodes still share alike

bool jumps(double from, double to) { return std::abs(to - from) > kJump * std::abs(from); }

bool isTime(double ms) { return std::isfinite(ms) && ms >= 0.0; }

}  // namespace

void DampedAverage::restart(double value, uint32_t samples) {
  value_ = value;
  samples_ = samples;
  suspicious_ = false;
}

void DampedAverage::add(double value, uint64_t frame) {
  const bool stale = !known() || frame - lastFrame_ > kStaleReports;
  lastFrame_ = frame;
  if (stale) {
    restart(value, 1);
  } else if (!jumps(value_, value)) {
    ++samples_;
    value_ += (value - value_) * std::max(kDamping, 1.0 / samples_);
    suspicious_ = false;
  } else if (suspicious_ && (suspect_ > value_) == (value > value_)) {
    // Two reports agree. Where they differ a lot among themselves, the later one is nearer to what comes.
    if (jumps(suspect_, value)) {
      restart(value, 1);
    } else {
      restart((suspect_ + value) / 2.0, 2);
    }
  } else {
    suspicious_ = true;
    suspect_ = value;
  }
}

Balancer::Balancer(uint32_t nodes, uint32_t rows)
    : nodes_(nodes), rows_(rows), bandsInAll_((rows + graph::kBandRows - 1) / graph::kBandRows), bands_(nodes, 0) {
  TANDEM_CHECK(nodes > 0 && rows > 0, "{} rows are balanced among {} nodes", rows, nodes);
  bands_ = bestBands();
}

void Balancer::report(std::span<const NodeLoad> loads) {
  TANDEM_CHECK(loads.size() == nodes_.size(), "{} loads reported for {} nodes", loads.size(), nodes_.size());
  ++reports_;
  for (size_t i = 0; i < loads.size(); ++i) {
    const NodeLoad& load = loads[i];
    TANDEM_CHECK(isTime(load.traceMs) && isTime(load.otherMs) && isTime(load.transferMs),
                 "node {} reports {} ms of tracing, {} ms of other work, {} ms of transfer", i, load.traceMs,
                 load.otherMs, load.transferMs);
    nodes_[i].other.add(load.otherMs, reports_);
    if (load.rows == 0) continue;
    const double bands = static_cast<double>(load.rows) / graph::kBandRows;
    nodes_[i].rate.add(load.traceMs / bands, reports_);
    nodes_[i].link.add(load.transferMs / bands, reports_);
  }
}

/// Milliseconds per band; of a node that has never traced, the mean of those that have.
double Balancer::rateOf(const Node& node) const {
  if (node.rate.known()) return std::max(kLeastMsPerBand, node.rate.value());
  double sum = 0.0;
  uint32_t known = 0;
  for (const Node& other : nodes_) {
    if (!other.rate.known()) continue;
    sum += other.rate.value();
    ++known;
  }
  return std::max(kLeastMsPerBand, known > 0 ? sum / known : 0.0);
}

double Balancer::nodeMs(const Node& node, uint32_t bands) const {
  return std::max(bands * rateOf(node) + node.other.value(), bands * node.link.value());
}

double Balancer::frameMs(std::span<const uint32_t> bands) const {
  double longest = 0.0;
  for (size_t i = 0; i < nodes_.size(); ++i) longest = std::max(longest, nodeMs(nodes_[i], bands[i]));
  return longest;
}

/// Each band to the node that would finish it first. A node's time only grows with its bands, so no other deal has an
/// earlier last finish.
std::vector<uint32_t> Balancer::bestBands() const {
  std::vector<uint32_t> bands(nodes_.size(), 0);
  for (uint32_t band = 0; band < bandsInAll_; ++band) {
    size_t taker = 0;
    double earliest = INFINITY;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const double finish = nodeMs(nodes_[i], bands[i] + 1);
      if (finish < earliest) {
        taker = i;
        earliest = finish;
      }
    }
    ++bands[taker];
  }
  return bands;
}

/// One band for a node that has been idle for too long, from the node that has most.
void Balancer::probe(std::vector<uint32_t>& bands) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].idle = bands[i] > 0 ? 0 : nodes_[i].idle + 1;
    if (nodes_[i].idle < kProbeFrames) continue;
    const auto richest = std::ranges::max_element(bands);
    --*richest;
    ++bands[i];
    nodes_[i].idle = 0;
  }
}

std::vector<double> Balancer::nextShares() {
  const std::vector<uint32_t> best = bestBands();
  uint32_t moved = 0;
  for (size_t i = 0; i < best.size(); ++i) moved += best[i] > bands_[i] ? best[i] - bands_[i] : 0;
  if (moved > 1 || frameMs(best) < frameMs(bands_) * (1.0 - kWorthwhileGain)) bands_ = best;

  std::vector<uint32_t> dealt = bands_;
  probe(dealt);
  std::vector<double> shares;
  for (const uint32_t bands : dealt) shares.push_back(static_cast<double>(bands) / bandsInAll_);
  return shares;
}

double Balancer::predictedMs() const { return reports_ > 0 ? frameMs(bands_) : 0.0; }

}  // namespace tandem::schedule
