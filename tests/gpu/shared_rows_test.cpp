// The executor on a frame whose first pass is shared by rows, against plain arithmetic: 1 to 4 nodes, over every link,
// with forced shares and with shares that change from frame to frame, three frames in flight. The links must have
// carried the rows of the other nodes and nothing else. And sabotage.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "exec/executor.h"
#include "graph/row_deal.h"
#include "support/gpu_fixture.h"
#include "support/rows_frame.h"

namespace tandem::test {
namespace {

constexpr uint32_t kInFlight = 3;

/// Shares of one frame; node 1 has `percent`, the others the rest in equal parts.
std::vector<double> sharesOf(uint32_t nodes, double percent) {
  if (nodes == 1) return {1.0};
  std::vector<double> shares(nodes, (100.0 - percent) / (nodes - 1));
  shares[1] = percent;
  return shares;
}

/// Three frames with each of the forced shares, then as many in which every frame has another.
std::vector<double> percents() {
  const std::vector<double> forced{0.0, 1.0, 37.0, 99.0, 100.0};
  std::vector<double> all;
  for (const double percent : forced) all.insert(all.end(), 3, percent);
  for (size_t frame = 0; frame < 15; ++frame) all.push_back(forced[(frame * 3) % forced.size()]);
  return all;
}

/// All nodes make rows; what follows runs on these.
graph::Placement placement(uint32_t nodes, uint32_t mix, uint32_t final) {
  graph::Placement made;
  made.nodes = nodes;
  made.nodeOfPass = {{"mix", mix}, {"final", final}, {"read result", final}, {"read colour", mix}};
  made.sharedBy["make"].resize(nodes);
  std::iota(made.sharedBy["make"].begin(), made.sharedBy["make"].end(), 0u);
  return made;
}

class SharedRows : public GpuFixture {
 protected:
  /// Runs a frame per entry of `percents`; returns how many elements differ from arithmetic.
  uint64_t run(const graph::Placement& where, topology::LinkKind kind, const std::vector<double>& percents,
               uint32_t rounds, gpu::Seam seam = {}) {
    auto topology =
        topology::open(instance(), {std::vector<uint32_t>(where.nodes, testAdapter().index), kind, std::move(seam)});
    if (!topology) throw std::runtime_error(topology.refusal().message);
    const auto frames = static_cast<uint32_t>(percents.size());
    RowsFrame frame(frames, rounds);
    auto plan = graph::compile(frame.graph(), where);
    if (!plan) throw std::runtime_error(plan.refusal().message);
    auto executor = exec::Executor::make(**topology, frame.graph(), std::move(*plan), kInFlight);
    if (!executor) throw std::runtime_error(executor.refusal().message);
    for (uint32_t n = 0; n < frames; ++n) {
      if (n >= kInFlight) finish(**executor, n - kInFlight);
      frame.setFrame(n);
      const std::vector<double> shares = sharesOf(where.nodes, percents[n]);
      (*executor)->setShares(shares);
      (*executor)->start();
      expectRows(**executor, n, shares);
    }
    for (uint32_t n = frames - std::min(frames, kInFlight); n < frames; ++n) finish(**executor, n);
    links_ = (*executor)->linkReports();
    executor->reset();
    return frame.wrong(testAdapter().software() ? 1 : 97);
  }

  void finish(exec::Executor& executor, uint32_t frame) {
    for (const exec::PassReport& pass : executor.finish(frame)) ran_[pass.name].insert(pass.node);
  }

  void expectRows(const exec::Executor& executor, uint32_t frame, const std::vector<double>& shares) {
    const graph::RowDeal deal(RowsFrame::kHeight, shares);
    rows_.push_back(executor.rowsOfNode(frame));
    ASSERT_EQ(rows_.back().size(), shares.size());
    for (uint32_t node = 0; node < shares.size(); ++node) {
      EXPECT_EQ(rows_.back()[node], deal.rowsOf(node)) << "frame " << frame << ", node " << node;
    }
  }

  /// Rows that crossed to `node` over all frames, from all others.
  uint64_t rowsNotOf(uint32_t node) const {
    uint64_t rows = 0;
    for (const auto& ofFrame : rows_) rows += RowsFrame::kHeight - ofFrame[node];
    return rows;
  }

  /// The links report what was planned for the rows of each frame; returns the sum.
  uint64_t carriedAsPlanned() const {
    uint64_t bytes = 0;
    for (const exec::LinkUse& link : links_) {
      EXPECT_EQ(link.carried.bytes, link.plannedBytes) << "node " << link.from << " -> node " << link.to;
      EXPECT_LE(link.plannedBytes, link.plannedBytesPerFrame * rows_.size());
      bytes += link.carried.bytes;
    }
    return bytes;
  }

  static uint32_t work() { return testAdapter().software() ? 100 : 10'000; }

  std::map<std::string, std::set<uint32_t>> ran_;  // pass -> nodes that report to have run it
  std::vector<std::vector<uint32_t>> rows_;        // per frame and node
  std::vector<exec::LinkUse> links_;
};

std::set<uint32_t> allNodes(uint32_t nodes) {
  std::set<uint32_t> all;
  for (uint32_t node = 0; node < nodes; ++node) all.insert(node);
  return all;
}

TEST_F(SharedRows, OneNodeMakesAllRows) {
  for (const bool named : {false, true}) {
    graph::Placement where = placement(1, 0, 0);
    if (!named) where.sharedBy.clear();
    rows_.clear();
    EXPECT_EQ(run(where, topology::LinkKind::Auto, std::vector<double>(6), work()), 0u);
    for (const auto& rows : rows_) EXPECT_EQ(rows, (std::vector<uint32_t>{RowsFrame::kHeight}));
    EXPECT_TRUE(links_.empty());
  }
}

using LinkAndNodes = std::tuple<topology::LinkKind, uint32_t>;
class SharedRowsOverLinks : public SharedRows, public testing::WithParamInterface<LinkAndNodes> {};

TEST_P(SharedRowsOverLinks, EqualArithmeticWithForcedAndChangingShares) {
  const auto [kind, nodes] = GetParam();
  EXPECT_EQ(run(placement(nodes, 1, 1), kind, percents(), work()), 0u);
  EXPECT_EQ(carriedAsPlanned(), rowsNotOf(1) * RowsFrame::kMadeRowBytes) << "a node's own rows stay where they are";
  EXPECT_EQ(ran_["make"], allNodes(nodes));
  EXPECT_EQ(ran_["mix"], (std::set<uint32_t>{1}));
  EXPECT_EQ(rows_[0][1], 0u);
  EXPECT_EQ(rows_[12][1], RowsFrame::kHeight);
}

TEST_P(SharedRowsOverLinks, PostOnTheFirstNodeIsTheOtherWayRound) {
  const auto [kind, nodes] = GetParam();
  EXPECT_EQ(run(placement(nodes, 0, 0), kind, {37.0, 0.0, 100.0, 1.0, 99.0, 50.0, 37.0}, work()), 0u);
  EXPECT_EQ(carriedAsPlanned(), rowsNotOf(0) * RowsFrame::kMadeRowBytes);
  EXPECT_EQ(ran_["make"], allNodes(nodes));
  EXPECT_EQ(ran_["mix"], (std::set<uint32_t>{0}));
}

// Readers on two nodes: parts cross twice and are copied to the slots of two links.
TEST_P(SharedRowsOverLinks, TwoNodesMayReadTheSameRows) {
  const auto [kind, nodes] = GetParam();
  EXPECT_EQ(run(placement(nodes, 0, nodes - 1), kind, percents(), work()), 0u);
  const uint64_t frames = rows_.size();
  // `final` needs the colour and what `mix` has made of all rows.
  EXPECT_EQ(carriedAsPlanned(), rowsNotOf(0) * RowsFrame::kMadeRowBytes + rowsNotOf(nodes - 1) * RowsFrame::kRowBytes +
                                    frames * RowsFrame::kHeight * RowsFrame::kRowBytes);
  EXPECT_EQ(ran_["final"], (std::set<uint32_t>{nodes - 1}));
}

// The receiver has next to no rows of its own: it does not spend the time that the others take.
TEST_P(SharedRowsOverLinks, SabotageDroppedWaitIsNoticed) {
  const auto [kind, nodes] = GetParam();
  const uint32_t rounds = testAdapter().software() ? 2'000 : 300'000;
  const uint64_t wrong =
      run(placement(nodes, 1, 1), kind, {0.0, 1.0, 0.0, 1.0, 0.0, 1.0}, rounds, [](const gpu::SeamEvent& event) {
        return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
      });
  EXPECT_GT(wrong + takeMessages(), 0u);
}

std::string nameOf(const testing::TestParamInfo<LinkAndNodes>& tested) {
  std::string name;
  for (const char letter : topology::linkKindName(std::get<0>(tested.param))) name += letter == '-' ? '_' : letter;
  return name + "_" + std::to_string(std::get<1>(tested.param)) + "_nodes";
}
INSTANTIATE_TEST_SUITE_P(Links, SharedRowsOverLinks,
                         testing::Combine(testing::Values(topology::LinkKind::HostImport, topology::LinkKind::HostCopy),
                                          testing::Values(2u, 3u, 4u)),
                         nameOf);
// Where there is a faster way between the nodes than through the host, that is the one.
INSTANTIATE_TEST_SUITE_P(BestLink, SharedRowsOverLinks,
                         testing::Combine(testing::Values(topology::LinkKind::Auto), testing::Values(2u)), nameOf);

/// Holds back the rows of a frame until the receiver has been given its own rows of the two frames behind it, and keeps
/// the order of submission.
class HoldBack {
 public:
  explicit HoldBack(uint32_t frames) : frames_(frames) {}

  gpu::Seam seam() {
    return [this](const gpu::SeamEvent& event) {
      std::unique_lock lock(mutex_);
      if (event.point == gpu::SeamPoint::Submit) order_.emplace_back(event.name);
      if (event.point == gpu::SeamPoint::BridgeWait) {
        const uint32_t ahead = std::min(held_++ + kInFlight - 1, frames_ - 1);
        const std::string awaited = fmt::format("frame {} batch 1", ahead);
        late_ = late_ || !changed_.wait_for(lock, std::chrono::seconds(20), [&] { return submitted(awaited); });
      }
      lock.unlock();
      changed_.notify_all();
      return gpu::SeamReply::Proceed;
    };
  }
  uint32_t held() const { return held_; }
  bool late() const { return late_; }
  /// Position in the order of submission.
  ptrdiff_t at(const std::string& name) const { return std::ranges::find(order_, name) - order_.begin(); }

 private:
  bool submitted(const std::string& name) const { return std::ranges::count(order_, name) > 0; }
  const uint32_t frames_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> order_;
  uint32_t held_ = 0;
  bool late_ = false;
};

// The rows of frames N+1 and N+2 are made while post still waits for the rows of frame N from elsewhere, and they
// leave those of frame N alone.
TEST_F(SharedRows, LaterRowsOvertakePostThatWaits) {
  const std::vector<double> shares(8, 50.0);
  const auto frames = static_cast<uint32_t>(shares.size());
  HoldBack hold(frames);
  EXPECT_EQ(run(placement(2, 1, 1), topology::LinkKind::HostCopy, shares, work(), hold.seam()), 0u);
  EXPECT_EQ(hold.held(), frames);
  EXPECT_FALSE(hold.late()) << "the rows of a later frame were not submitted while an earlier frame waited";
  EXPECT_GT(hold.at("frame 0 batch 2"), hold.at("frame 2 batch 1"));
  EXPECT_LT(hold.at("frame 0 batch 2"), hold.at("frame 1 batch 2"));
}

}  // namespace
}  // namespace tandem::test
