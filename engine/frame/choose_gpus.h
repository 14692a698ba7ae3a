// Which adapters become nodes: the user's words (`--gpus`, `--simulate-dual`, `--mode`) held against what is there.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "frame/settings.h"
#include "gpu/adapter.h"

namespace tandem::frame {

/// Adapter indices, one per node (the same twice when simulated). `auto` takes the best one or two: discrete before
/// integrated before software, then by memory. Refuses, listing what is there, where a name fits nothing or several, or
/// where a second GPU is missing.
Expected<std::vector<uint32_t>> chooseGpus(const std::vector<gpu::Adapter>& adapters, const MachineSettings& settings);

}  // namespace tandem::frame
