// `single`: one node, no links. The baseline that everything else is measured against.
#pragma once

#include "topology/topology.h"

namespace tandem::topology {

std::unique_ptr<Topology> makeSingle(std::vector<Seat> seats);

}  // namespace tandem::topology
