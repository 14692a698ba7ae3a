#include <cstring>

#include "scene/image_file.h"

namespace tandem::scene {

namespace {

constexpr std::string_view kIdentifier("\xabKTX 20\xbb\r\n\x1a\n", 12);
constexpr size_t kFirstLevel = 80;  // of the level index, behind header and index; 24 bytes a level
constexpr uint32_t kRgb8 = 23;      // VK_FORMAT_R8G8B8_UNORM
constexpr uint32_t kRgb8Srgb = 29;
constexpr uint32_t kRgba8 = 37;
constexpr uint32_t kRgba8Srgb = 43;

template <class T>
T littleEndian(std::span<const uint8_t> bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(T{bytes[at + i]} << (8 * i));
  return value;
}

}  // namespace

bool isKtx2(std::span<const uint8_t> bytes) {
  return bytes.size() >= kIdentifier.size() && std::memcmp(bytes.data(), kIdentifier.data(), kIdentifier.size()) == 0;
}

Expected<Image> decodeKtx2(std::span<const uint8_t> bytes) {
  const auto no = [](std::string why) { return Refusal{ExitCode::UnusableInput, std::move(why)}; };
  if (bytes.size() < kFirstLevel + 24) return no("the KTX2 file is shorter than its header");
  const auto word = [&](size_t at) { return littleEndian<uint32_t>(bytes, at); };
  const uint32_t format = word(12);
  const uint64_t width = word(20);
  const uint64_t height = word(24);
  const bool plain =
      word(44) == 0 && (format == kRgb8 || format == kRgb8Srgb || format == kRgba8 || format == kRgba8Srgb);
  if (!plain) return no(std::string(kForeignFormat));
  // Depth, layers; cube maps have six faces.
  if (word(28) != 0 || word(32) > 1 || word(36) != 1) return no("the KTX2 file is no single two-dimensional picture");
  if (width == 0 || height == 0 || width > kMaxImageSide || height > kMaxImageSide ||
      width * height * 4 > kMaxImageBytes) {
    return no(fmt::format("the image has {} x {} pixels; 1 to {} on a side and {} MiB in all can be used", width,
                          height, kMaxImageSide, kMaxImageBytes >> 20));
  }
  const size_t channels = format == kRgb8 || format == kRgb8Srgb ? 3 : 4;
  const auto offset = littleEndian<uint64_t>(bytes, kFirstLevel);
  if (offset > bytes.size() || width * height * channels > bytes.size() - offset) {
    return no("the KTX2 file is cut off before the end of its first level");
  }
  Image image;
  image.width = static_cast<uint32_t>(width);
  image.height = static_cast<uint32_t>(height);
  image.pixels.assign(width * height * 4, 255);
  const uint8_t* from = bytes.data() + offset;
  for (size_t i = 0; i < width * height; ++i) std::memcpy(image.pixels.data() + 4 * i, from + channels * i, channels);
  return image;
}

}  // namespace tandem::scene
