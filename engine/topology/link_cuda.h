// cuda: between two GPUs of NVIDIA, by the wires that join them (NVLink, or PCIe from card to card). CUDA makes the
// memory of sources and targets, each GPU imports its own into its VkDevice, and CUDA copies from one to the other:
// Vulkan memory exported to CUDA would be staged through the host by the driver, ten times slower. Order stays with the
// bridge: it waits for the sender's timeline, lets CUDA copy, waits for the copy, and then hands over. (CUDA's external
// semaphores would do that without the host, and take half a millisecond a hop.)
#pragma once

#include <memory>

#include "base/check.h"
#include "topology/link.h"

namespace tandem::topology {

/// Refuses, with the reason, where there is no CUDA driver, where a device is none of NVIDIA's or unknown to CUDA, and
/// where one GPU cannot reach the memory of the other. One GPU opened twice copies within itself.
Expected<std::unique_ptr<Link>> makeCudaLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);

}  // namespace tandem::topology
