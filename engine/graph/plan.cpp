#include "graph/plan.h"

#include <algorithm>
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
  std::string text = fmt::format("batch {} on node {}{}: {}", index, batch.node, batch.early ? " (early)" : "",
                                 passes.empty() ? "no pass" : passes);
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

bool Plan::shares() const {
  return std::ranges::any_of(nodesOfPass, [](const std::vector<uint32_t>& nodes) { return nodes.size() > 1; });
}

uint64_t Plan::bytesSent() const {
  uint64_t bytes = 0;
  for (const LinkNeed& link : links) bytes += link.bytesPerFrame();
  return bytes;
}

bool needsRing(const Graph& graph, const Plan& plan, uint32_t node, uint32_t resource) {
  const auto uses = [&](const Batch& batch, auto accesses) {
    return batch.node == node && std::ranges::any_of(batch.passes, [&](uint32_t pass) {
             return std::ranges::count(graph.passes()[pass].*accesses, resource, &Access::resource) > 0;
           });
  };
  return std::ranges::any_of(plan.batches, [&](const Batch& early) {
    return early.early && uses(early, &Pass::writes) && std::ranges::any_of(plan.batches, [&](const Batch& batch) {
             return &batch != &early && (uses(batch, &Pass::reads) || uses(batch, &Pass::writes));
           });
  });
}

std::string Plan::text(const Graph& graph) const {
  std::string text;
  for (uint32_t batch = 0; batch < batches.size(); ++batch) text += batchText(graph, *this, batch);
  for (const LinkNeed& link : links) {
    text += fmt::format("link {} -> {}: {} items, {} B a frame\n", link.from, link.to, link.itemBytes.size(),
                        link.bytesPerFrame());
  }
  for (uint32_t pass = 0; pass < nodesOfPass.size(); ++pass) {
    if (nodesOfPass[pass].empty()) text += fmt::format("culled: {}\n", graph.passes()[pass].name);
  }
  return text;
}

}  // namespace tandem::graph
