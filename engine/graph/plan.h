// The compiler's result: which node runs which passes in which batches, and what crosses between nodes. Pure data: no
// Vulkan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "graph/graph.h"

namespace tandem::graph {

/// Which pass runs on which node: data, made by schedule/placement. Passes that are not named run on node 0.
struct Placement {
  uint32_t nodes = 1;
  std::map<std::string, uint32_t> nodeOfPass;
  std::map<std::string, std::vector<uint32_t>> sharedBy;  // shareable passes that several nodes run, each for its rows
};

/// One resource version that crosses. `previous`: the content of the frame before (history read on another node than
/// its home).
struct SentItem {
  uint32_t resource = 0;
  uint32_t version = 0;
  bool previous = false;
  uint32_t part = 0;      // of a resource that several nodes make: whose rows these are
  uint64_t bytes = 0;     // at most; of a part those that its rows of the frame take
  uint32_t linkItem = 0;  // index among the items of the link (Plan::links)
};

/// All that goes from one batch to one node: one hand-over, whatever the number of items.
struct Transfer {
  uint32_t link = 0;  // index into Plan::links
  uint32_t fromBatch = 0;
  uint32_t toBatch = 0;  // the first batch that needs any of it
  std::vector<SentItem> items;
};

/// A directed pair of nodes between which anything is sent, and the size of each of its items (slots hold all of them).
struct LinkNeed {
  uint32_t from = 0;
  uint32_t to = 0;
  std::vector<uint64_t> itemBytes;
  uint64_t bytesPerFrame() const;
};

/// Passes that one node runs without waiting for another in between: one submission.
struct Batch {
  uint32_t node = 0;
  std::vector<uint32_t> passes;    // indices into Graph::passes(); none: the batch only sends history
  std::vector<uint32_t> receives;  // indices into Plan::transfers; all must have arrived before the batch is submitted
  std::vector<uint32_t> sends;     // indices into Plan::transfers; they leave when the batch has finished
  // Depends on nothing of this frame or the one before, and makes nothing whose past is read: it may overtake batches
  // of earlier frames that still wait.
  bool early = false;
};

/// The whole frame, the same every frame. A resource's home is the node that holds its content at the frame's end.
struct Plan {
  std::vector<Batch> batches;  // in an order in which they may be submitted
  std::vector<Transfer> transfers;
  std::vector<LinkNeed> links;
  // Per pass of the graph: the nodes that run it. None: culled. Several: shared by rows, node i makes part i.
  std::vector<std::vector<uint32_t>> nodesOfPass;
  std::vector<uint32_t> homeOfResource;  // node that holds the last version at the frame's end; UINT32_MAX: never made
  std::vector<bool> hasHistory;          // per resource: someone reads its previous content
  bool temporal = false;                 // some pass reads history: no alternate frame rendering

  /// Whether some pass is shared by rows.
  bool shares() const;
  /// At most so many bytes cross all links in one frame.
  uint64_t bytesSent() const;
  /// The plan in lines of text, stable, for tests and -v: "batch 0 on node 0: path_trace; sends radiance (8294400 B) to
  /// node 1".
  std::string text(const Graph& graph) const;
};

/// Whether a node needs a copy of a resource for each frame under way: an early batch makes it there and another batch
/// of the node uses it, and the early batches of later frames come in between.
bool needsRing(const Graph& graph, const Plan& plan, uint32_t node, uint32_t resource);

/// Compiles: culls passes without effect, cuts each node's work into batches, inserts the transfers. A pure function.
/// Refuses a placement that names a node or pass which does not exist.
Expected<Plan> compile(const Graph& graph, const Placement& placement);

}  // namespace tandem::graph
