// What a texture of the table is made from.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::gpu {

enum class AddressMode { Repeat, MirroredRepeat, ClampToEdge };

/// What a texel of a smaller level is, of those it covers.
enum class MipFilter {
  Mean,
  /// Colours weighed by alpha, so that what can't be seen does not bleed into what can.
  AlphaWeighted,
  /// A normal map: the direction of the mean of unit normals; and in alpha, which normal maps have no use for, that
  /// mean's length, 1 where all are the same (and in all of level 0).
  Normals,
};

/// One entry. Two entries may point at the same pixels (once as colour, once as data).
struct TextureSource {
  std::string name;
  uint32_t width = 0, height = 0;
  const uint8_t* rgba = nullptr;  // width * height * 4 bytes, row 0 at the top; only read by the table's constructor
  bool srgb = false;              // decode before filtering
  AddressMode u = AddressMode::Repeat, v = AddressMode::Repeat;
  bool linear = true;
  MipFilter filter = MipFilter::Mean;
};

}  // namespace tandem::gpu
