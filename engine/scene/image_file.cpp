#include "scene/image_file.h"

#include <cstring>
#include <limits>
#include <memory>

// Static: the copy of stb_image inside libtinygltf's dependencies keeps its own, differently configured one.
#define STB_IMAGE_STATIC
#ifndef __clang_analyzer__  // clang-tidy would judge stb's own code
#define STB_IMAGE_IMPLEMENTATION
#endif
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#include <stb_image.h>

namespace tandem::scene {

static_assert(kMaxImageSide == STBI_MAX_DIMENSIONS);

Expected<Image> decodeImage(std::span<const uint8_t> bytes) {
  const auto no = [](std::string why) { return Refusal{ExitCode::UnusableInput, std::move(why)}; };
  if (bytes.empty()) return no("the image is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return no("the image file is over 2 GiB");
  const int size = static_cast<int>(bytes.size());
  if (isKtx2(bytes)) return decodeKtx2(bytes);
  if (bytes.size() > 12 && std::memcmp(bytes.data() + 8, "WEBP", 4) == 0) return no(std::string(kForeignFormat));

  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(bytes.data(), size, &width, &height, &channels) == 0) {
    const char* reason = stbi_failure_reason();
    return no(fmt::format("not an image that can be read as PNG or JPEG ({})", reason != nullptr ? reason : "unknown"));
  }
  const auto w = static_cast<uint64_t>(width);
  const auto h = static_cast<uint64_t>(height);
  if (width <= 0 || height <= 0) return no(fmt::format("the image has {} x {} pixels", width, height));
  if (w > kMaxImageSide || h > kMaxImageSide || w * h * 4 > kMaxImageBytes) {
    return no(fmt::format("the image has {} x {} pixels; at most {} on a side and {} MiB in all can be used", width,
                          height, kMaxImageSide, kMaxImageBytes >> 20));
  }

  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes.data(), size, &width, &height, &channels, 4), &stbi_image_free);
  if (!pixels) {
    const char* reason = stbi_failure_reason();
    return no(fmt::format("the image is damaged ({})", reason != nullptr ? reason : "unknown"));
  }
  Image image;
  image.width = static_cast<uint32_t>(width);
  image.height = static_cast<uint32_t>(height);
  image.pixels.assign(pixels.get(), pixels.get() + w * h * 4);
  return image;
}

}  // namespace tandem::scene
