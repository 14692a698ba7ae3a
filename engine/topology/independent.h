// `independent`: any number of devices that know nothing of each other, unlike ones too. Bytes and order cross by way
// of the host.
#pragma once

#include "topology/topology.h"

namespace tandem::topology {

std::unique_ptr<Topology> makeIndependent(std::vector<Seat> seats, LinkKind link);

}  // namespace tandem::topology
