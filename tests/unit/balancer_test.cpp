// The balancer against simulated machines whose true costs are known: the best split is worked out here by bisection,
// a method of its own.
#include "schedule/balancer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <random>

#include "base/check.h"
#include "graph/row_deal.h"

namespace tandem::schedule {
namespace {

constexpr uint32_t kRows = 2160;
constexpr uint32_t kDelay = 3;  // frames in flight: frame n starts when frame n - 3 is known

/// True costs of a node, for a whole frame of rows, in milliseconds.
struct Truth {
  double traceMs = 10.0;
  double otherMs = 0.0;
  double linkMs = 0.0;
};
using Truths = std::vector<Truth>;

/// The share of each node that makes all finish together.
std::vector<double> bestShares(const Truths& truths) {
  const auto sharesAt = [&](double ms) {
    std::vector<double> shares;
    for (const Truth& truth : truths) {
      const double byTrace = std::max(0.0, (ms - truth.otherMs) / truth.traceMs);
      shares.push_back(truth.linkMs > 0.0 ? std::min(byTrace, ms / truth.linkMs) : byTrace);
    }
    return shares;
  };
  double low = 0.0, high = 1e4;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2.0;
    const std::vector<double> shares = sharesAt(middle);
    (std::accumulate(shares.begin(), shares.end(), 0.0) < 1.0 ? low : high) = middle;
  }
  return sharesAt(high);
}

/// A machine that runs sfr: what it is told to trace takes its true time, give or take the noise.
class Machine {
 public:
  Machine(Truths start, double relativeNoise, uint32_t seed = 1)
      : truths(std::move(start)),
        balancer(static_cast<uint32_t>(truths.size()), kRows),
        noise_(1.0, relativeNoise),
        random_(seed) {}

  /// Starts a frame, and reports the one that has finished by then. Returns the shares of the started one.
  std::vector<double> frame() {
    if (underWay_.size() == kDelay) {
      balancer.report(underWay_.front());
      underWay_.pop_front();
    }
    const std::vector<double> shares = balancer.nextShares();
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9);
    const graph::RowDeal deal(kRows, shares);
    std::vector<NodeLoad> loads;
    for (uint32_t node = 0; node < truths.size(); ++node) {
      const double part = static_cast<double>(deal.rowsOf(node)) / kRows;
      loads.push_back({deal.rowsOf(node), part * truths[node].traceMs * noise(), truths[node].otherMs * noise(),
                       part * truths[node].linkMs * noise()});
    }
    underWay_.push_back(loads);
    return shares;
  }

  /// The largest distance between a node's share and its best one.
  double distance(const std::vector<double>& shares) const {
    const std::vector<double> best = bestShares(truths);
    double largest = 0.0;
    for (size_t i = 0; i < best.size(); ++i) largest = std::max(largest, std::abs(best[i] - shares[i]));
    return largest;
  }

  Truths truths;
  Balancer balancer;

 private:
  double noise() { return std::max(0.1, noise_(random_)); }
  std::normal_distribution<double> noise_;
  std::mt19937 random_;
  std::deque<std::vector<NodeLoad>> underWay_;
};

/// Machines of many shapes; node 1 has post.
std::vector<Truths> machines() {
  return {
      {{14, 0, 1}, {14, 3, 0}},                            // two alike
      {{14, 0, 1}, {14, 0, 0}},                            // no post
      {{8, 0, 1}, {24, 2, 0}},                             // 1:3
      {{24, 0, 1}, {8, 2, 0}},                             // 3:1
      {{6, 0, 1}, {6, 5, 0}},                              // post nearly fills the frame
      {{14, 0, 20}, {14, 1, 0}},                           // a link that is slower than tracing
      {{14, 0, 1}, {14, 3, 0}, {14, 0, 1}},                // three alike
      {{30, 0, 1}, {10, 2, 0}, {20, 0, 1}},                // three unlike
      {{14, 0, 1}, {14, 3, 0}, {14, 0, 1}, {14, 0, 1}},    // four alike
      {{12, 0, 2}, {36, 3, 0}, {12, 1, 2}, {24, 0.5, 3}},  // four unlike
  };
}

TEST(Balancer, FirstFramesAreEqual) {
  for (const uint32_t nodes : {1u, 2u, 3u, 5u}) {
    Balancer balancer(nodes, kRows);
    EXPECT_EQ(balancer.predictedMs(), 0.0);
    for (uint32_t frame = 0; frame < kDelay; ++frame) {
      for (const double share : balancer.nextShares()) EXPECT_NEAR(share, 1.0 / nodes, 1e-9) << nodes;  // 270 bands
    }
  }
}

// R = 10 ms on both, 2 ms of post on node 1: both finish at 6 ms with 60 % on node 0.
TEST(Balancer, EqualFinishByHand) {
  Balancer balancer(2, 800);
  const std::vector<NodeLoad> loads{{400, 5.0, 0.0, 0.1}, {400, 5.0, 2.0, 0.0}};
  balancer.report(loads);
  const std::vector<double> shares = balancer.nextShares();
  EXPECT_DOUBLE_EQ(shares[0], 0.6);
  EXPECT_DOUBLE_EQ(shares[1], 0.4);
  EXPECT_NEAR(balancer.predictedMs(), 6.0, 1e-9);
}

// Node 0 traces a frame in 10 ms, node 1 in 30: 7.5 ms, three quarters on node 0.
TEST(Balancer, UnlikeNodesByHand) {
  Balancer balancer(2, 800);
  const std::vector<NodeLoad> loads{{400, 5.0, 0.0, 0.0}, {400, 15.0, 0.0, 0.0}};
  balancer.report(loads);
  EXPECT_DOUBLE_EQ(balancer.nextShares()[0], 0.75);
  EXPECT_NEAR(balancer.predictedMs(), 7.5, 1e-9);
}

// Both trace a frame in 10 ms, but the rows of node 0 need 15 ms for a whole frame on their way: it may send 40 % in
// the 6 ms in which node 1 traces the other 60 %.
TEST(Balancer, SlowLinkByHand) {
  Balancer balancer(2, 800);
  const std::vector<NodeLoad> loads{{400, 5.0, 0.0, 7.5}, {400, 5.0, 0.0, 0.0}};
  balancer.report(loads);
  EXPECT_DOUBLE_EQ(balancer.nextShares()[0], 0.4);
  EXPECT_NEAR(balancer.predictedMs(), 6.0, 1e-9);
}

TEST(Balancer, SettlesAtTheStart) {
  for (size_t i = 0; i < machines().size(); ++i) {
    Machine machine(machines()[i], 0.02);
    for (int frame = 0; frame < 200; ++frame) {
      const std::vector<double> shares = machine.frame();
      if (frame >= 8) {
        EXPECT_LE(machine.distance(shares), 0.02) << "machine " << i << ", frame " << frame;
      }
    }
  }
}

TEST(Balancer, SettlesWithinEightFramesOfACut) {
  const std::vector<std::function<void(Truths&)>> cuts{
      [](Truths& t) {  // what is seen costs more, on all nodes alike
        for (Truth& node : t) node.traceMs *= 2.0;
      },
      [](Truths& t) {
        for (Truth& node : t) node.traceMs *= 0.4;
      },
      [](Truths& t) {  // and unlike: the second node suffers more from it
        for (size_t i = 0; i < t.size(); ++i) t[i].traceMs *= i == 1 ? 3.0 : 1.3;
      },
      [](Truths& t) { t[0].traceMs *= 1.3; },  // just above what counts as a jump
      [](Truths& t) { t[1].otherMs = 0.2; },   // post is switched off
      [](Truths& t) {                          // a view that is traced in no time: P > R
        for (Truth& node : t) node.traceMs *= 0.15;
      },
  };
  for (size_t i = 0; i < machines().size(); ++i) {
    for (size_t cut = 0; cut < cuts.size(); ++cut) {
      for (uint32_t seed = 1; seed <= 5; ++seed) {
        Machine machine(machines()[i], 0.015, seed);
        for (int frame = 0; frame < 50; ++frame) machine.frame();
        cuts[cut](machine.truths);
        for (int frame = 1; frame <= 60; ++frame) {
          const std::vector<double> shares = machine.frame();
          if (frame < 8) continue;
          EXPECT_LE(machine.distance(shares), 0.02) << "machine " << i << ", cut " << cut << ", frame " << frame;
        }
      }
    }
  }
}

// A camera that moves: the cost of node 0's rows doubles and halves again over 400 frames.
TEST(Balancer, FollowsACostThatMoves) {
  Machine machine({{10, 0, 1}, {10, 2, 0}}, 0.01);
  for (int frame = 0; frame < 600; ++frame) {
    machine.truths[0].traceMs = 10.0 * (1.5 - 0.5 * std::cos(frame * 2.0 * M_PI / 400.0));
    const std::vector<double> shares = machine.frame();
    if (frame >= 8) {
      EXPECT_LE(machine.distance(shares), 0.02) << frame;
    }
  }
}

TEST(Balancer, NoiseDoesNotMoveRows) {
  for (size_t i = 0; i < machines().size(); ++i) {
    Machine machine(machines()[i], 0.01);
    for (int frame = 0; frame < 40; ++frame) machine.frame();
    int changes = 0;
    std::vector<double> before = machine.frame();
    for (int frame = 0; frame < 200; ++frame) {
      const std::vector<double> shares = machine.frame();
      changes += shares != before;
      before = shares;
    }
    EXPECT_LE(changes, 20) << "machine " << i;
  }
}

TEST(Balancer, OneSlowFrameIsAnOutlier) {
  Machine machine({{14, 0, 1}, {14, 3, 0}}, 0.0);
  for (int frame = 0; frame < 40; ++frame) machine.frame();
  const std::vector<double> before = machine.frame();
  machine.truths[1].traceMs = 70.0;
  machine.frame();
  machine.truths[1].traceMs = 14.0;
  for (int frame = 0; frame < 20; ++frame) EXPECT_EQ(machine.frame(), before) << frame;
}

// Reports of frames that had other shares than those that are dealt now say the same about the nodes.
TEST(Balancer, LateReportsOfOtherSharesDoNotConfuse) {
  Balancer balancer(2, 800);
  for (int frame = 0; frame < 30; ++frame) {
    const uint32_t first = frame % 2 == 0 ? 160 : 640;
    const std::vector<NodeLoad> loads{{first, 10.0 * first / 800, 0.0, 0.0},
                                      {800 - first, 10.0 * (800 - first) / 800, 2.0, 0.0}};
    balancer.report(loads);
    EXPECT_DOUBLE_EQ(balancer.nextShares()[0], 0.6) << frame;
  }
}

// Post alone is longer than the whole tracing: node 1 gets no rows but one band every kProbeFrames frames.
TEST(Balancer, AnIdleNodeIsProbed) {
  Machine machine({{6, 0, 1}, {6, 20, 0}}, 0.01);
  for (int frame = 0; frame < 10; ++frame) machine.frame();
  int probes = 0;
  for (uint32_t frame = 0; frame < 10 * Balancer::kProbeFrames; ++frame) {
    const double share = machine.frame()[1];
    if (share == 0.0) continue;
    EXPECT_DOUBLE_EQ(share, 8.0 / kRows);
    ++probes;
  }
  EXPECT_EQ(probes, 10);
}

TEST(Balancer, AnIdleNodeComesBack) {
  Machine machine({{6, 0, 1}, {6, 20, 0}}, 0.01);
  for (int frame = 0; frame < 100; ++frame) machine.frame();
  machine.truths = {{12, 0, 1}, {3, 1, 0}};  // post is cheap now, and the second card unlike what it was
  for (int frame = 1; frame <= 60; ++frame) {
    const std::vector<double> shares = machine.frame();
    // The rate of node 1 is as old as its last rows: two rounds through the frames in flight.
    if (frame >= 12) {
      EXPECT_LE(machine.distance(shares), 0.02) << frame;
    }
  }
}

TEST(Balancer, PicturesOfFewBands) {
  for (const uint32_t rows : {1u, 8u, 9u, 16u, 30u}) {
    for (const uint32_t nodes : {1u, 2u, 4u}) {
      Balancer balancer(nodes, rows);
      for (int frame = 0; frame < 100; ++frame) {
        const std::vector<double> shares = balancer.nextShares();
        ASSERT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9);
        const graph::RowDeal deal(rows, shares);
        std::vector<NodeLoad> loads;
        for (uint32_t node = 0; node < nodes; ++node)
          loads.push_back({deal.rowsOf(node), 0.1 * deal.rowsOf(node), 0, 0});
        balancer.report(loads);
      }
    }
  }
}

// Timestamps may be absent: nodes that report no time at all share alike.
TEST(Balancer, NoTimesMeanEqualShares) {
  Balancer balancer(2, 800);
  const std::vector<NodeLoad> loads{{400, 0, 0, 0}, {400, 0, 0, 0}};
  for (int frame = 0; frame < 5; ++frame) balancer.report(loads);
  EXPECT_DOUBLE_EQ(balancer.nextShares()[0], 0.5);
}

TEST(Balancer, BadInputIsABrokenPromise) {
  EXPECT_THROW(Balancer(0, 100), BrokenPromise);
  EXPECT_THROW(Balancer(2, 0), BrokenPromise);
  Balancer balancer(2, 100);
  const std::vector<NodeLoad> one(1), negative{{50, -1, 0, 0}, {50, 1, 0, 0}}, nan{{50, NAN, 0, 0}, {50, 1, 0, 0}};
  EXPECT_THROW(balancer.report(one), BrokenPromise);
  EXPECT_THROW(balancer.report(negative), BrokenPromise);
  EXPECT_THROW(balancer.report(nan), BrokenPromise);
}

}  // namespace
}  // namespace tandem::schedule
