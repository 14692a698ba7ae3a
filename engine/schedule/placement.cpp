#include "schedule/placement.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem::schedule {
namespace {

constexpr std::array<std::string_view, 5> kTracingPasses = {"path_trace", "albedo_readback", "normal_readback",
                                                            "depth_readback", "motion_readback"};

}  // namespace

graph::Placement placeSingle(const graph::Graph& graph, uint32_t nodes, uint32_t node) {
  graph::Placement placement;
  placement.nodes = nodes;
  for (const graph::Pass& pass : graph.passes()) placement.nodeOfPass[pass.name] = node;
  return placement;
}

graph::Placement placePipelined(const graph::Graph& graph, uint32_t nodes) {
  graph::Placement placement;
  placement.nodes = nodes;
  for (const graph::Pass& pass : graph.passes()) {
    const bool traces = std::find(kTracingPasses.begin(), kTracingPasses.end(), pass.name) != kTracingPasses.end();
    placement.nodeOfPass[pass.name] = traces ? 0 : 1;
  }
  return placement;
}

graph::Placement placeSfr(const graph::Graph& graph, uint32_t nodes) {
  graph::Placement placement = placeSingle(graph, nodes, 1);
  for (const graph::Pass& pass : graph.passes()) {
    if (!pass.shareable) continue;
    placement.nodeOfPass.erase(pass.name);
    for (uint32_t node = 0; node < nodes; ++node) placement.sharedBy[pass.name].push_back(node);
  }
  return placement;
}

}  // namespace tandem::schedule
