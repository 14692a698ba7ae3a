#include <cstdlib>
#include <memory>
#include <vector>

#include "output/image_writer.h"

#ifdef __clang_analyzer__                     // clang-tidy would judge stb's own code
extern int stbi_write_png_compression_level;  // NOLINT(readability-identifier-naming): stb's names
// NOLINTNEXTLINE(readability-identifier-naming)
unsigned char* stbi_write_png_to_mem(const unsigned char* pixels, int stride, int x, int y, int n, int* length);
#else
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>
#endif

namespace tandem::output {

namespace {

/// stb's level 8, its default, takes more than twice the time of 5 for a file 3 % smaller: at 4K that is more than a
/// second a frame.
void chooseLevel() {
  static const int level = stbi_write_png_compression_level = 5;
  static_cast<void>(level);
}

}  // namespace

void writePng(const std::string& path, Extent size, std::span<const uint32_t> rgba8, Existing existing,
              const FileOps& ops) {
  // stb counts bytes in int.
  TANDEM_CHECK(size.pixels() > 0 && size.pixels() < (1u << 29) && rgba8.size() == size.pixels(),
               "a PNG of {}x{} pixels from {} texels", size.width, size.height, rgba8.size());
  chooseLevel();
  std::vector<unsigned char> rgb(3 * size.pixels());
  for (size_t i = 0; i < rgba8.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) rgb[3 * i + c] = static_cast<unsigned char>(rgba8[i] >> (8 * c));
  }
  const int width = static_cast<int>(size.width);
  int length = 0;
  const std::unique_ptr<unsigned char, decltype(&std::free)> png(
      stbi_write_png_to_mem(rgb.data(), 3 * width, width, static_cast<int>(size.height), 3, &length), std::free);
  if (!png) throw adverse("cannot write {}: no memory for a PNG of {}x{}; free some", path, size.width, size.height);
  writeWholeFile(path, std::as_bytes(std::span(png.get(), static_cast<size_t>(length))), existing, ops);
}

}  // namespace tandem::output
