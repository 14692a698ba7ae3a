// Where each resource of a plan lies, on each node, in each frame: the link's own slots where nothing is lost by it (so
// that a pass writes straight into what is sent and reads straight from what arrived), a buffer of the node's own
// elsewhere, two of them for history.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "graph/plan.h"
#include "topology/topology.h"

namespace tandem::exec {

/// Where a resource of one node lies.
struct Place {
  // A slot of the link of a transfer: its source or its target, item `item`.
  std::optional<uint32_t> transfer;
  bool isSource = false;
  uint32_t item = 0;
  // Or buffers of the node: one, or two that alternate by frame where there is history.
  std::vector<gpu::Buffer> own;
};

class Bindings {
 public:
  /// Allocates. `links`: one per transfer, in the order of Plan::transfers; they outlive this object.
  Bindings(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan,
           const std::vector<std::unique_ptr<topology::Link>>& links);

  /// Buffer of a resource on a node in frame `frame` (a running number); `previous`: as it was at the end of the frame
  /// before.
  const gpu::Buffer& buffer(uint32_t node, uint32_t resource, bool previous, uint64_t frame) const;
  /// Whether a transfer's item must be copied into its link source, or out of its link target (false: passes use the
  /// slot itself).
  bool copiesOut(const graph::Transfer& transfer, const graph::SentItem& item) const;
  bool copiesIn(const graph::Transfer& transfer, const graph::SentItem& item) const;
  /// Fills history buffers with zeros: what a first frame reads of the one before it.
  void clearHistory(topology::Topology& topology) const;

  /// Bytes that all this takes on a node beside the links; asked before anything is allocated.
  static std::vector<uint64_t> estimateBytes(const graph::Graph& graph, const graph::Plan& plan, uint32_t slots);

 private:
  const Place& place(uint32_t node, uint32_t resource) const;

  const graph::Graph& graph_;
  const graph::Plan& plan_;
  const std::vector<std::unique_ptr<topology::Link>>& links_;
  std::map<std::pair<uint32_t, uint32_t>, Place> places_;          // (node, resource)
  std::map<std::pair<uint32_t, uint32_t>, Place> previousPlaces_;  // history that arrives by link
};

/// Slots of every link, and so the upper limit of frames in flight.
inline constexpr uint32_t kLinkSlots = 3;

}  // namespace tandem::exec
