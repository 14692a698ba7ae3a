// Runs a plan on a topology: records each batch, submits it when what it waits for has arrived, sends what leaves,
// times every pass. Knows devices and links, and nothing of what the passes do. One thread (the render thread) calls
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "exec/bindings.h"
#include "exec/frame_ticket.h"
#include "exec/lane.h"
#include "graph/plan.h"
#include "topology/topology.h"

namespace tandem::exec {

/// A pass as it ran.
struct PassReport {
  std::string name;
  uint32_t node = 0;
  double milliseconds = 0.0;
};

struct LinkUse {
  uint32_t from = 0, to = 0;
  uint64_t plannedBytesPerFrame = 0;
  topology::LinkReport carried;
};

class Executor {
 public:
  /// Connects links and allocates. Refuses (with the reasons) where a link cannot exist. `graph` and `topology` outlive
  /// the executor. `framesInFlight` is 1 to kLinkSlots.
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

  uint32_t framesInFlight() const { return framesInFlight_; }
  uint64_t started() const { return started_; }
  const graph::Plan& plan() const { return plan_; }
  /// What the links have carried. Only while no frame is under way.
  std::vector<LinkUse> linkReports();

 private:
  struct Running {
    uint64_t frame = 0;
    std::shared_ptr<FrameTicket> ticket;
  };
  Executor(topology::Topology& topology, const graph::Graph& graph, graph::Plan plan, uint32_t framesInFlight);
  void abandon(const std::exception_ptr& failure);
  void record(size_t batchIndex, gpu::Commands& commands, uint64_t frame);
  void recordPass(uint32_t passIndex, uint32_t node, gpu::Commands& commands, uint64_t frame);
  void onSubmitted(size_t batchIndex, uint64_t frame, gpu::SyncPoint point,
                   const std::vector<std::shared_ptr<LaneBatch>>& receivers);
  gpu::Commands& commandsOf(size_t batchIndex, uint64_t frame);

  topology::Topology& topology_;
  const graph::Graph& graph_;
  graph::Plan plan_;
  uint32_t framesInFlight_;
  std::vector<size_t> lastBatchOfTransferReceiver_;  // per transfer: the last batch of the frame on its receiving node
  std::vector<std::unique_ptr<topology::Link>> links_;  // one per transfer
  std::unique_ptr<Bindings> bindings_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<gpu::Commands>> commands_;  // [frame % framesInFlight][batch]
  std::deque<Running> running_;
  uint64_t started_ = 0;
};

}  // namespace tandem::exec
