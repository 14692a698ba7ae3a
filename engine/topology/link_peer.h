// peer: between two GPUs of a linked group. The sender's copy engine writes into the receiver's memory (the only
// access to another GPU's memory that the specification guarantees), and the queue's timeline is valid on both: no
// bridge, no host in between.
#pragma once

#include <memory>

#include "base/check.h"
#include "topology/link.h"

namespace tandem::topology {

/// Both ends are seats of one logical device. Refuses, with the reason, where the sender cannot copy into the
/// receiver's memory.
Expected<std::unique_ptr<Link>> makePeerLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);

}  // namespace tandem::topology
