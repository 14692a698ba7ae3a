#include "graph/plan.h"

#include <numeric>

namespace tandem::graph {

namespace {

std::string itemsText(const Graph& graph, const std::vector<SentItem>& items) {
  std::string text;
  for (const SentItem& item : items) {
    text += fmt::format("{}{}{} ({} B)", text.empty() ? "" : ", ", item.previous ? "previous " : "",
                        graph.resources()[item.resource].name, item.bytes);
  }
  return text;
}

std::string batchText(const Graph& graph, const Plan& plan, uint32_t index) {
  const Batch& batch = plan.batches[index];
  std::string passes;
  for (uint32_t pass : batch.passes) passes += (passes.empty() ? "" : ", ") + graph.passes()[pass].name;
  std::string text = fmt::format("batch {} on node {}: {}", index, batch.node, passes.empty() ? "no pass" : passes);
  for (uint32_t receive : batch.receives)
    text += fmt::format("; waits for batch {}", plan.transfers[receive].fromBatch);
  for (uint32_t send : batch.sends) {
    const Transfer& transfer = plan.transfers[send];
    text += fmt::format("; sends {} to node {}", itemsText(graph, transfer.items), plan.links[transfer.link].to);
  }
  return text + "\n";
}

}  // namespace

uint64_t LinkNeed::bytesPerFrame() const { return std::accumulate(itemBytes.begin(), itemBytes.end(), uint64_t{0}); }

uint64_t Plan::bytesSent() const {
  uint64_t bytes = 0;
  for (const LinkNeed& link : links) bytes += link.bytesPerFrame();
  return bytes;
}

std::string Plan::text(const Graph& graph) const {
  std::string text;
  for (uint32_t batch = 0; batch < batches.size(); ++batch) text += batchText(graph, *this, batch);
  for (const LinkNeed& link : links) {
    text += fmt::format("link {} -> {}: {} items, {} B a frame\n", link.from, link.to, link.itemBytes.size(),
                        link.bytesPerFrame());
  }
  for (uint32_t pass = 0; pass < nodeOfPass.size(); ++pass) {
    if (nodeOfPass[pass] == UINT32_MAX) text += fmt::format("culled: {}\n", graph.passes()[pass].name);
  }
  return text;
}

}  // namespace tandem::graph
