// What a texture of the table is made from.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::gpu {

enum class AddressMode { Repeat, MirroredRepeat, ClampToEdge };

/// One entry. Two entries may point at the same pixels (once as colour, once as data).
struct TextureSource {
  std::string name;
  uint32_t width = 0, height = 0;
  const uint8_t* rgba = nullptr;  // width * height * 4 bytes, row 0 at the top; only read by the table's constructor
  bool srgb = false;              // decode before filtering
  AddressMode u = AddressMode::Repeat, v = AddressMode::Repeat;
  bool linear = true;
  bool alphaWeighted = false;  // colours count by their alpha in smaller levels
};

}  // namespace tandem::gpu
