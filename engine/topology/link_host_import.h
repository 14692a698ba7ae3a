// host-import: one page-aligned block of host memory that both devices map (VK_EXT_external_memory_host). The sender
// copies into it, the receiver copies out of it; the CPU moves nothing. No UUID rule applies, so unlike devices of
// unlike makers may share a block.
#pragma once

#include <memory>

#include "base/check.h"
#include "topology/link.h"

namespace tandem::topology {

/// Refuses, with the reason, where a device cannot import host memory.
Expected<std::unique_ptr<Link>> makeHostImportLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);

}  // namespace tandem::topology
