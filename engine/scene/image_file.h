// PNG and JPEG bytes -> RGBA8, by stb_image; KTX2 files that hold plain RGB8 or RGBA8 texels. Other formats are
// refused.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "scene/scene.h"

namespace tandem::scene {

inline constexpr uint32_t kMaxImageSide = 16384;
inline constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;  // decoded, RGBA8

/// The refusal's message for pictures that are fine, but in a format of the glTF extensions that cannot be read.
inline constexpr std::string_view kForeignFormat = "KTX2/Basis and WebP textures are not supported";

/// Decodes one picture; grey, palette, 16 bit and CMYK become RGBA8. The header's size is checked before anything is
/// allocated for it. The refusal's message says why, without naming the picture: the caller knows its name. `name` is
/// left empty.
Expected<Image> decodeImage(std::span<const uint8_t> bytes);

bool isKtx2(std::span<const uint8_t> bytes);

/// The largest level of a KTX2 file of uncompressed 8-bit texels (The Khronos Texture Format 2.0, section 3).
Expected<Image> decodeKtx2(std::span<const uint8_t> bytes);

}  // namespace tandem::scene
