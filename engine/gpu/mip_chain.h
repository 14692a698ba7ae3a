// The smaller levels of a texture, made on the CPU: each texel is the mean of exactly the area that it covers, whatever
// the size, in linear light, so that every level has the mean of the picture. The same bytes on every device of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/texture_source.h"

namespace tandem::gpu {

/// Down to 1 x 1: floor(log2(max(width, height))) + 1.
uint32_t mipLevels(uint32_t width, uint32_t height);
/// Width or height of a level, as Vulkan has it.
inline uint32_t mipSize(uint32_t size, uint32_t level) { return size >> level > 1 ? size >> level : 1; }
/// RGBA bytes of all levels.
uint64_t mipBytes(uint32_t width, uint32_t height);

/// Levels 1, 2, ... one after the other, RGBA, without level 0. On all cores.
std::vector<uint8_t> makeMipChain(const TextureSource& source);

}  // namespace tandem::gpu
