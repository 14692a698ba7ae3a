// Which adapters become nodes: the user's words (`--gpus`, `--simulate-dual`, `--mode`) held against what is there.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "frame/settings.h"
#include "gpu/adapter.h"

namespace tandem::frame {

/// Adapter indices, one per node (the same one `simulatedNodes` times when simulated). `auto` takes the best one or
/// two: discrete before integrated before software, then by memory; a list names as many as it likes. Two equal cards
/// are told apart by index, PCI address or UUID. Refuses (WrongUsage, NoUsableGpu), listing what is there, where a word
/// fits nothing or several, where one GPU is named twice (by two drivers of one card, too), or where a second is
/// missing.
Expected<std::vector<uint32_t>> chooseGpus(const std::vector<gpu::Adapter>& adapters, const MachineSettings& settings);

}  // namespace tandem::frame
