// Which pass runs on which node: data, by the names of the passes. Nothing else in the engine knows what a mode is.
#pragma once

#include "graph/plan.h"

namespace tandem::schedule {

/// Everything on one node.
graph::Placement placeSingle(const graph::Graph& graph, uint32_t nodes = 1, uint32_t node = 0);

/// Ray tracing on node 0, and with it the readbacks of what only tracing makes (so that it never crosses); all else on
/// node 1.
graph::Placement placePipelined(const graph::Graph& graph, uint32_t nodes = 2);

/// Ray tracing shared by rows among all nodes, all else on node 1.
graph::Placement placeSfr(const graph::Graph& graph, uint32_t nodes = 2);

}  // namespace tandem::schedule
