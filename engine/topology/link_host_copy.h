// host-copy: works between any two devices. The sender copies to host-cached memory of its own, the bridge copies with
// the CPU to upload memory of the receiver, the receiver copies in. Cached on the read side: reading uncached memory is
// tens of times slower.
#pragma once

#include <memory>

#include "topology/link.h"

namespace tandem::topology {

std::unique_ptr<Link> makeHostCopyLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);

}  // namespace tandem::topology
