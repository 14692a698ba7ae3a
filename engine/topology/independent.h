// `independent`: any number of devices that know nothing of each other, unlike ones too. Bytes and order cross by way
// of the host; between GPUs of NVIDIA the bytes may cross by CUDA instead.
#pragma once

#include "topology/topology.h"

namespace tandem::topology {

/// `linkGbps`: throttles every link whose description names no limit of its own; 0: none.
std::unique_ptr<Topology> makeIndependent(std::vector<Seat> seats, LinkKind link, double linkGbps = 0.0);

}  // namespace tandem::topology
