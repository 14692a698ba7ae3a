// PNG and JPEG bytes -> RGBA8, by stb_image. Other formats are refused.
#pragma once

#include <cstdint>
#include <span>

#include "base/check.h"
#include "scene/scene.h"

namespace tandem::scene {

inline constexpr uint32_t kMaxImageSide = 16384;
inline constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;  // decoded, RGBA8

/// Decodes one picture; grey, palette, 16 bit and CMYK become RGBA8. The header's size is checked before anything is
/// allocated for it. The refusal's message says why, without naming the picture: the caller knows its name. `name` is
/// left empty.
Expected<Image> decodeImage(std::span<const uint8_t> bytes);

}  // namespace tandem::scene
