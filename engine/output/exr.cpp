#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFloatAttribute.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfIntAttribute.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfStringAttribute.h>

#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <deque>
#include <glm/gtc/packing.hpp>

#include "output/image_writer.h"

namespace tandem::output {

namespace {

/// OpenEXR writes here; OpenEXR seeks back to fill in the table of line offsets.
class MemoryStream : public Imf::OStream {
 public:
  explicit MemoryStream(const std::string& path) : Imf::OStream(path.c_str()) {}
  void write(const char bytes[], int count) override {
    const size_t end = place_ + static_cast<size_t>(count);
    if (end > bytes_.size()) bytes_.resize(end);
    std::memcpy(bytes_.data() + place_, bytes, static_cast<size_t>(count));
    place_ = end;
  }
  uint64_t tellp() override { return place_; }
  void seekp(uint64_t place) override { place_ = place; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::vector<char> bytes_;
  uint64_t place_ = 0;
};

Imf::Compression compressionOf(Compression compression) {
  switch (compression) {
    case Compression::Zip:
      return Imf::ZIP_COMPRESSION;
    case Compression::Piz:
      return Imf::PIZ_COMPRESSION;
    case Compression::None:
      return Imf::NO_COMPRESSION;
  }
  throw BrokenPromise("unknown EXR compression");
}

/// Columns here, rows there: m[i][j] is the same number in both.
Imath::M44f rowVectors(const mat4& m) {
  Imath::M44f rows;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) rows[i][j] = m[i][j];
  }
  return rows;
}

void addCamera(Imf::Header& header, const ExrCamera& camera) {
  mat4 mirror(1.0f);
  mirror[2][2] = -1.0f;
  // Clip (-1, 1), y up, to (0, 1), y down: x' = (x + w) / 2, y' = (w - y) / 2.
  mat4 toNdc(1.0f);
  toNdc[0][0] = 0.5f;
  toNdc[1][1] = -0.5f;
  toNdc[3][0] = 0.5f;
  toNdc[3][1] = 0.5f;
  Imf::addWorldToCamera(header, rowVectors(mirror * camera.worldToView));
  Imf::addWorldToNDC(header, rowVectors(toNdc * camera.viewToClip * camera.worldToView));
}

void addDate(Imf::Header& header) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y:%m:%d %H:%M:%S", &local);
  Imf::addCapDate(header, text);
  Imf::addUtcOffset(header, static_cast<float>(-local.tm_gmtoff));
}

Imf::Header makeHeader(const ExrImage& image) {
  const ExrMetadata& data = image.metadata;
  TANDEM_CHECK(data.framesPerSecondNumerator > 0 && data.framesPerSecondDenominator > 0, "a frame rate of {}/{}",
               data.framesPerSecondNumerator, data.framesPerSecondDenominator);
  Imf::Header header(static_cast<int>(image.size.width), static_cast<int>(image.size.height), 1.0f);
  header.compression() = compressionOf(image.compression);
  Imf::addChromaticities(header, Imf::Chromaticities());  // the default is Rec.709 with D65
  Imf::addFramesPerSecond(
      header, Imf::Rational(data.framesPerSecondNumerator, static_cast<unsigned>(data.framesPerSecondDenominator)));
  Imf::addExpTime(header, data.shutterSeconds);
  addDate(header);
  addCamera(header, data.camera);
  header.insert("ev", Imf::FloatAttribute(data.exposureEv));
  header.insert("frame", Imf::IntAttribute(static_cast<int>(data.frame)));
  header.insert("software", Imf::StringAttribute(data.software));
  for (const auto& [name, text] : data.more) header.insert(name, Imf::StringAttribute(text));
  return header;
}

/// Octahedral map, inverse (Cigolle et al. 2014, "A Survey of Efficient Representations for Independent Unit Vectors").
vec3 decodeNormal(shared::NormalTexel texel) {
  if (texel.oct == 0) return vec3(0.0f);
  const vec2 e = glm::unpackSnorm2x16(texel.oct);
  vec3 v(e.x, e.y, 1.0f - std::abs(e.x) - std::abs(e.y));
  if (v.z < 0.0f) {
    const vec2 folded = 1.0f - glm::abs(vec2(v.y, v.x));
    v.x = v.x >= 0.0f ? folded.x : -folded.x;
    v.y = v.y >= 0.0f ? folded.y : -folded.y;
  }
  return glm::normalize(v);
}

/// Collects channels and the slices they are read from; owns what had to be converted first.
class Channels {
 public:
  Channels(Imf::Header& header, Extent size) : header_(header), size_(size) {}

  /// A channel within `texels`, `offset` bytes into each.
  template <class Texel>
  void add(const char* name, Imf::PixelType type, std::span<const Texel> texels, size_t offset) {
    TANDEM_CHECK(texels.size() == size_.pixels(), "EXR channel {}: {} texels for {}x{} pixels", name, texels.size(),
                 size_.width, size_.height);
    header_.channels().insert(name, Imf::Channel(type));
    // Imf reads only, but its slices are not const.
    char* base = const_cast<char*>(reinterpret_cast<const char*>(texels.data())) + offset;
    buffer_.insert(name, Imf::Slice(type, base, sizeof(Texel), sizeof(Texel) * size_.width));
  }

  /// Three half channels made from one value a texel.
  template <class Texel, class Decode>
  void addConverted(const char* const (&names)[3], std::span<const Texel> texels, Decode decode) {
    std::vector<std::array<uint16_t, 3>>& halves = converted_.emplace_back();
    halves.reserve(texels.size());
    for (const Texel& texel : texels) {
      const vec3 v = decode(texel);
      halves.push_back({glm::packHalf1x16(v.x), glm::packHalf1x16(v.y), glm::packHalf1x16(v.z)});
    }
    const std::span<const std::array<uint16_t, 3>> view(halves);
    for (size_t i = 0; i < 3; ++i) add(names[i], Imf::HALF, view, 2 * i);
  }

  const Imf::FrameBuffer& buffer() const { return buffer_; }

 private:
  Imf::Header& header_;
  Extent size_;
  Imf::FrameBuffer buffer_;
  std::deque<std::vector<std::array<uint16_t, 3>>> converted_;  // a deque: slices point into its elements
};

void addChannels(Channels& channels, const ExrImage& image) {
  channels.add("R", Imf::HALF, image.radiance, 0);
  channels.add("G", Imf::HALF, image.radiance, 2);
  channels.add("B", Imf::HALF, image.radiance, 4);
  if (image.coverage) channels.add("A", Imf::HALF, image.radiance, 6);
  if (!image.albedo.empty()) {
    channels.addConverted({"albedo.R", "albedo.G", "albedo.B"}, image.albedo,
                          [](shared::AlbedoTexel texel) { return vec3(glm::unpackUnorm4x8(texel.rgba)); });
  }
  if (!image.normal.empty()) {
    channels.addConverted({"normal.X", "normal.Y", "normal.Z"}, image.normal, decodeNormal);
  }
  if (!image.depth.empty()) channels.add("depth.Z", Imf::FLOAT, image.depth, 0);
  if (!image.motion.empty()) {
    channels.add("motion.X", Imf::HALF, image.motion, 0);
    channels.add("motion.Y", Imf::HALF, image.motion, 2);
  }
}

}  // namespace

void writeExr(const std::string& path, const ExrImage& image, Existing existing, const FileOps& ops) {
  TANDEM_CHECK(image.size.pixels() > 0 && image.size.width <= INT32_MAX && image.size.height <= INT32_MAX,
               "an EXR of {}x{} pixels", image.size.width, image.size.height);
  MemoryStream stream(path);
  try {
    Imf::Header header = makeHeader(image);
    Channels channels(header, image.size);
    addChannels(channels, image);
    Imf::OutputFile file(stream, header);
    file.setFrameBuffer(channels.buffer());
    file.writePixels(static_cast<int>(image.size.height));
    // The destructor of OutputFile, at the end of this block, writes the table of line offsets.
  } catch (const Iex::BaseExc& error) {
    throw adverse("cannot write {}: OpenEXR failed: {}; try another --compression", path, error.what());
  }
  writeWholeFile(path, stream.bytes(), existing, ops);
}

}  // namespace tandem::output
