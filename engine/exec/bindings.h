// Where each resource of a plan lies, on each node, in each frame: the link's own slots where nothing is lost by it (so
// that a pass writes straight into what is sent and reads straight from what arrived), a buffer of the node's own
// elsewhere, two of them for history, a ring of them for what an early batch makes. What several nodes make by rows has
// parts: one per node that makes it, each of the size of the whole.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/buffer.h"
#include "graph/plan.h"
#include "topology/topology.h"

namespace tandem::exec {

/// A resource, or a part of one, on a node.
struct PlaceKey {
  uint32_t node = 0;
  uint32_t resource = 0;
  uint32_t part = 0;
  auto operator<=>(const PlaceKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0 there
};

/// Where it lies.
struct Place {
  // A slot of the link of a transfer: its source or its target, item `item`.
  std::optional<uint32_t> transfer;
  bool isSource = false;
  uint32_t item = 0;
  // Or buffers of the node that take turns by frame: one, two where there is history, a ring.
  std::vector<gpu::Buffer> own;
};

class Bindings {
 public:
  /// Allocates. `links`: one per transfer, in the order of Plan::transfers; they outlive this object.
  Bindings(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan,
           const std::vector<std::unique_ptr<topology::Link>>& links);

  /// Buffer of a resource, or a part of it, on a node in frame `frame` (a running number).
  const gpu::Buffer& buffer(const PlaceKey& key, uint64_t frame) const;
  /// The same as it was at the end of the frame before.
  const gpu::Buffer& previous(uint32_t node, uint32_t resource, uint64_t frame) const;
  /// Whether a transfer's item must be copied into its link source, or out of its link target (false: passes use the
  /// slot itself).
  bool copiesOut(const graph::Transfer& transfer, const graph::SentItem& item) const;
  bool copiesIn(const graph::Transfer& transfer, const graph::SentItem& item) const;
  /// Fills history buffers with zeros: what a first frame reads of the one before it.
  void clearHistory(topology::Topology& topology) const;

  /// Bytes that all this takes on a node, links included; asked before anything is allocated.
  static std::vector<uint64_t> estimateBytes(const graph::Graph& graph, const graph::Plan& plan, uint32_t slots);

 private:
  const Place& place(const PlaceKey& key) const;

  const graph::Graph& graph_;
  const graph::Plan& plan_;
  const std::vector<std::unique_ptr<topology::Link>>& links_;
  std::map<PlaceKey, Place> places_;
  std::map<std::pair<uint32_t, uint32_t>, Place> previousPlaces_;  // (node, resource): history that arrives by link
};

/// How many parts a resource has, and which of them a node makes.
uint32_t partsOf(const graph::Graph& graph, const graph::Plan& plan, uint32_t resource);
uint32_t partMadeBy(const graph::Plan& plan, uint32_t pass, uint32_t node);

/// Slots of every link, and so the upper limit of frames in flight where there is one.
inline constexpr uint32_t kLinkSlots = 3;

}  // namespace tandem::exec
