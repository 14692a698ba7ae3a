// Runs a plan on a topology: records each batch, submits it when what it waits for has arrived, sends what leaves,
// times every pass. Knows devices and links, and nothing of what the passes do. One thread (the render thread) calls
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "exec/bindings.h"
#include "exec/frame_ticket.h"
#include "exec/lane.h"
#include "exec/row_tables.h"
#include "exec/slow_pass.h"
#include "exec/trace_events.h"
#include "graph/plan.h"
#include "graph/row_deal.h"
#include "topology/topology.h"

namespace tandem::exec {

struct LinkUse {
  uint32_t from = 0, to = 0;
  uint64_t plannedBytesPerFrame = 0;  // at most: what is shared by rows sends less
  uint64_t plannedBytes = 0;          // of all frames, by the rows that each had
  topology::LinkReport carried;
};

/// Frames in flight where no link limits them.
inline constexpr uint32_t kMostFrames = 8;

class Executor {
 public:
  /// Connects links and allocates. Refuses (with the reasons) where a link cannot exist. `graph` and `topology` outlive
  /// the executor. `framesInFlight` is 1 to kLinkSlots where there are links, 1 to kMostFrames where there are none.
  static Expected<std::unique_ptr<Executor>> make(topology::Topology& topology, const graph::Graph& graph,
                                                  graph::Plan plan, uint32_t framesInFlight);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Records and starts the next frame; returns its running number (0, 1, ...). The caller finishes frame n -
  /// framesInFlight before.
  uint64_t start();
  /// Waits for a frame (in order) and returns what its passes took. Throws AdverseError or DeviceLost where the frame
  /// failed.
  std::vector<PassReport> finish(uint64_t frame);
  /// The transfers that have finished since the last call, of each link in their order; those of a finished frame are
  /// among them.
  std::vector<TransferReport> takeTransfers();

  /// How the next frames' shared passes are dealt to the nodes that share them: one number per node in the placement's
  /// order, in proportion. At first in equal parts.
  void setShares(std::vector<double> shares);
  /// Makes a pass longer by that time, wherever it runs. Refuses, naming the passes that there are, a name that none
  /// has. Before the first frame.
  std::optional<Refusal> slowDown(const SlowPass& slow);
  /// Rows that each node makes of the shareable passes in a frame under way; of all of them where they are not shared.
  std::vector<uint32_t> rowsOfNode(uint64_t frame) const;
  /// Frames under way whose work has not finished on the devices yet.
  uint32_t unfinished() const;

  uint32_t framesInFlight() const { return framesInFlight_; }
  uint64_t started() const { return started_; }
  const graph::Plan& plan() const { return plan_; }
  /// What the links have carried. Only while no frame is under way.
  std::vector<LinkUse> linkReports();

 private:
  using Deals = std::map<uint32_t, graph::RowDeal>;  // by shareable pass
  struct Running {
    uint64_t frame = 0;
    std::shared_ptr<FrameTicket> ticket;
    std::shared_ptr<const Deals> deals;
    std::vector<std::shared_ptr<LaneBatch>> batches;  // once they are recorded
  };
  Executor(topology::Topology& topology, const graph::Graph& graph, graph::Plan plan, uint32_t framesInFlight);
  void abandon(const std::exception_ptr& failure);
  void dealRows();
  void record(size_t batchIndex, gpu::Commands& commands, uint64_t frame);
  void recordPass(uint32_t passIndex, size_t batchIndex, gpu::Commands& commands, uint64_t frame);
  std::vector<graph::RowRun> runsOf(uint32_t node, uint32_t resource, uint64_t frame) const;
  std::vector<uint64_t> itemBytes(const graph::Transfer& transfer, const Deals& deals) const;
  void onSubmitted(size_t batchIndex, uint64_t frame, const std::vector<std::vector<uint64_t>>& bytesOfSends,
                   gpu::SyncPoint point, const std::vector<std::shared_ptr<LaneBatch>>& receivers);
  gpu::Commands& commandsOf(size_t batchIndex, uint64_t frame);

  topology::Topology& topology_;
  const graph::Graph& graph_;
  graph::Plan plan_;
  uint32_t framesInFlight_;
  std::vector<size_t> lastBatchOfTransferReceiver_;  // per transfer: the last batch of the frame on its receiving node
                                                     // that keeps its turn
  std::vector<std::unique_ptr<topology::Link>> links_;  // one per transfer
  std::vector<uint64_t> plannedBytes_;                  // one per transfer, of all frames started
  std::vector<std::deque<uint64_t>> sentFrames_;        // one per transfer: frames with bytes, not yet taken
  std::unique_ptr<Bindings> bindings_;
  std::unique_ptr<RowTables> rowTables_;
  std::vector<double> shares_;
  std::shared_ptr<const Deals> deals_;  // of the next frame
  NodeClocks clocks_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<gpu::Commands>> commands_;  // [frame % framesInFlight][batch]
  uint32_t slowPass_ = UINT32_MAX;
  std::vector<uint32_t> slowSpins_;  // of slowPass_, per node
  std::deque<Running> running_;
  uint64_t started_ = 0;
};

}  // namespace tandem::exec
