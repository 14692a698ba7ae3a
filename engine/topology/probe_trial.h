// One direction of one kind of link, put to the test: does it carry every word, and how fast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "gpu/commands.h"
#include "topology/link.h"
#include "topology/probe.h"

namespace tandem::topology {

/// Empty: every word of every slot arrived, at every size of `effort`. Otherwise what was wrong, in a few words:
/// "the pattern differs at word 17 of 16384 (slot 2)". Closes the link. Throws AdverseError.
std::optional<std::string> patternFault(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort);

/// Measures on a link that has carried nothing yet, and closes it. Throws AdverseError.
LinkFigures measureLink(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort);

/// Slots of the links that are tried: as many as frames use.
inline constexpr uint32_t kTrialSlots = 3;

}  // namespace tandem::topology
