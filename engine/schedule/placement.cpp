#include "schedule/placement.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem::schedule {
namespace {

constexpr std::array<std::string_view, 5> kTracingPasses = {"path_trace", "albedo_readback", "normal_readback",
                                                            "depth_readback", "motion_readback"};

}  // namespace

graph::Placement placeSingle() { return {}; }

graph::Placement placePipelined(const graph::Graph& graph) {
  graph::Placement placement;
  placement.nodes = 2;
  for (const graph::Pass& pass : graph.passes()) {
    const bool traces = std::find(kTracingPasses.begin(), kTracingPasses.end(), pass.name) != kTracingPasses.end();
    placement.nodeOfPass[pass.name] = traces ? 0 : 1;
  }
  return placement;
}

}  // namespace tandem::schedule
