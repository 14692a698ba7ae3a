// Where compiled shaders are kept between runs.
#pragma once

#include <filesystem>

namespace tandem::gpu {

/// $XDG_CACHE_HOME/tandem or ~/.cache/tandem; empty where neither is set: then nothing is kept. Not created here.
std::filesystem::path cacheFolder();

/// Tunes Mesa's software device, once, before the Vulkan loader is opened (engine/decisions/0006-software-device.md).
/// Leaves alone what the user has set. Other drivers are not affected.
void tuneSoftwareDevice();

}  // namespace tandem::gpu
