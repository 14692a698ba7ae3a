// `group`: one logical device over a linked group of GPUs, a seat on each. Every seat is a gpu::Device of its own that
// shares the VkDevice; masks and indices reach what it creates through its hooks. Bytes cross by peer copies, order by
// timelines that are valid on all GPUs of the group.
#pragma once

#include <string>

#include "topology/topology.h"

namespace tandem::topology {

/// Refuses with the reason (the groups that there are, or the feature that is missing) where the GPUs of the request
/// cannot be one group.
Expected<std::unique_ptr<Topology>> openDeviceGroup(gpu::Instance& instance, const TopologyRequest& request);

/// Whether all GPUs of the request are different ones and stand in one group of the machine.
bool inOneGroup(gpu::Instance& instance, const std::vector<uint32_t>& adapters);

}  // namespace tandem::topology
