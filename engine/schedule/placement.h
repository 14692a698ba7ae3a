// Which pass runs on which node: data, by the names of the passes. Nothing else in the engine knows what a mode is.
#pragma once

#include "graph/plan.h"

namespace tandem::schedule {

/// Everything on one node.
graph::Placement placeSingle();

/// Ray tracing on node 0, and with it the readbacks of what only tracing makes (so that it never crosses); all else on
/// node 1.
graph::Placement placePipelined(const graph::Graph& graph);

}  // namespace tandem::schedule
