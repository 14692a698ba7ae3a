// One direction of one kind of link, put to the test: does it carry every word, and how fast.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "gpu/commands.h"
#include "topology/link.h"
#include "topology/probe.h"

namespace tandem::topology {

/// Makes the link that is tried, from the sender to the receiver.
using TrialLink = std::function<Expected<std::unique_ptr<Link>>(LinkDesc desc)>;

/// Empty: every word of every slot arrived, at every size of `effort`. Otherwise what was wrong, in a few words:
/// "the pattern differs at word 17 of 16384 (slot 2)". Throws AdverseError.
std::optional<std::string> patternFault(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort);

/// Measures on a link that has carried nothing yet. Throws AdverseError.
LinkFigures measureLink(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort);

/// Slots of the links that are tried: as many as frames use.
inline constexpr uint32_t kTrialSlots = 3;

}  // namespace tandem::topology
