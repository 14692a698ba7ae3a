#include "jobs/whole_picture.h"

#include <ImathBox.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <vector>

#include "output/sequence.h"
#include "scene/image_file.h"

namespace tandem::jobs {
namespace {

/// Our files are single-part scan lines, written downwards: the last block is the last that a truncated file would
/// lack.
std::optional<Extent> sizeOfWholeExr(const std::string& path) {
  try {
    Imf::InputFile file(path.c_str(), 0);
    if (!file.isComplete()) return std::nullopt;
    const Imath::Box2i window = file.header().dataWindow();
    const char* bytes = nullptr;
    int count = 0;
    file.rawPixelData(window.max.y, bytes, count);
    return Extent{static_cast<uint32_t>(window.max.x - window.min.x + 1),
                  static_cast<uint32_t>(window.max.y - window.min.y + 1)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<Extent> sizeOfWholePng(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return std::nullopt;
  const auto image = scene::decodeImage({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!image) return std::nullopt;
  return Extent{image->width, image->height};
}

}  // namespace

std::optional<Extent> sizeOfWholePicture(const std::string& path) {
  const auto format = output::formatOf(path);
  if (!format) return std::nullopt;
  return *format == output::Format::Exr ? sizeOfWholeExr(path) : sizeOfWholePng(path);
}

}  // namespace tandem::jobs
