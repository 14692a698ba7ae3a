#include "scene/environment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/log.h"

namespace tandem::scene {

namespace {

constexpr uint64_t kMaxSide = 65536;
constexpr uint64_t kMaxTexels = uint64_t{1} << 28;  // 3 GiB as floats
constexpr float kMaxRadiance = 1e9f;                // far above any sun; sums over a picture stay finite

Refusal unusable(const std::filesystem::path& path, std::string_view why) {
  return refuse(ExitCode::UnusableInput, "{}: {}", path.string(), why);
}

Expected<std::vector<uint8_t>> readFile(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return unusable(path, "no such file");
  if (std::filesystem::is_directory(status)) return unusable(path, "is a directory; give a Radiance .hdr file");
  if (!std::filesystem::is_regular_file(status)) return unusable(path, "is not a regular file");
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return unusable(path, "its size cannot be read: " + error.message());
  std::vector<uint8_t> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) return unusable(path, "cannot be read; check its permissions");
  return bytes;
}

/// Walks through a Radiance file: text lines first, then scanlines of RGBE bytes (Ward, "Real Pixels", Graphics Gems
/// II, 1991).
class RadianceReader {
 public:
  RadianceReader(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) : path_(path), bytes_(bytes) {}

  Expected<Environment> read() {
    if (auto no = readHeader()) return *no;
    Environment environment;
    environment.width = width_;
    environment.height = height_;
    std::vector<uint8_t> row;
    for (uint32_t y = 0; y < height_; ++y) {
      // Rows are added as they decode: a header that lies about the size costs no memory.
      if (auto no = readRow(y, row)) return *no;
      for (uint32_t x = 0; x < width_; ++x) environment.radiance.push_back(toRadiance(&row[size_t{x} * 4]));
    }
    if (clamped_ > 0) {
      log::warn("{}: {} texels brighter than {} were clamped to it", path_.string(), clamped_, kMaxRadiance);
    }
    return environment;
  }

 private:
  std::optional<std::string_view> nextLine() {
    constexpr size_t kMaxLine = 4096;
    const size_t end = std::min(bytes_.size(), at_ + kMaxLine);
    for (size_t i = at_; i < end; ++i) {
      if (bytes_[i] != '\n') continue;
      std::string_view line(reinterpret_cast<const char*>(&bytes_[at_]), i - at_);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      at_ = i + 1;
      return line;
    }
    return std::nullopt;
  }

  /// Variables (EXPOSURE, PRIMARIES, a second magic line, ...) are passed over: texels are taken as Rec.709 radiance as
  /// they stand.
  std::optional<Refusal> readHeader() {
    auto line = nextLine();
    if (!line || line->substr(0, 2) != "#?") {
      return unusable(path_, "is not a Radiance picture: it does not begin with '#?'");
    }
    while (true) {
      line = nextLine();
      if (!line) return unusable(path_, "the header of this Radiance picture does not end");
      if (line->empty()) break;
      if (line->substr(0, 7) == "FORMAT=" && *line != "FORMAT=32-bit_rle_rgbe") {
        return unusable(path_, fmt::format("{} is not supported; only 32-bit_rle_rgbe is", *line));
      }
    }
    line = nextLine();
    return line ? readResolution(std::string(*line)) : unusable(path_, "the resolution line is missing");
  }

  std::optional<Refusal> readResolution(const std::string& line) {
    long long height = 0;
    long long width = 0;
    int used = 0;
    if (std::sscanf(line.c_str(), "-Y %lld +X %lld%n", &height, &width, &used) != 2 ||
        static_cast<size_t>(used) != line.size()) {
      return unusable(path_, "the resolution line is not of the form '-Y height +X width'");
    }
    const auto unsignedHeight = static_cast<uint64_t>(height);
    const auto unsignedWidth = static_cast<uint64_t>(width);
    if (height <= 0 || width <= 0) {
      return unusable(path_, fmt::format("the resolution {} x {} is not positive", width, height));
    }
    if (unsignedHeight > kMaxSide || unsignedWidth > kMaxSide || unsignedWidth * unsignedHeight > kMaxTexels) {
      return unusable(path_, fmt::format("the resolution {} x {} is too large (at most {} on a side, {} texels in all)",
                                         width, height, kMaxSide, kMaxTexels));
    }
    width_ = static_cast<uint32_t>(width);
    height_ = static_cast<uint32_t>(height);
    return std::nullopt;
  }

  std::optional<Refusal> readRow(uint32_t y, std::vector<uint8_t>& row) {
    const auto ends = [&] { return unusable(path_, fmt::format("ends in row {} of {}: truncated", y, height_)); };
    row.assign(size_t{width_} * 4, 0);
    if (bytes_.size() - at_ < 4) return ends();
    const uint8_t* p = &bytes_[at_];
    const bool packed = width_ >= 8 && width_ < 32768 && p[0] == 2 && p[1] == 2 && (p[2] & 0x80) == 0;
    if (!packed) {
      if (bytes_.size() - at_ < row.size()) return ends();
      std::memcpy(row.data(), p, row.size());
      at_ += row.size();
      return std::nullopt;
    }
    if ((uint32_t{p[2]} << 8 | p[3]) != width_) {
      return unusable(
          path_, fmt::format("row {} says that it is {} texels wide, not {}", y, uint32_t{p[2]} << 8 | p[3], width_));
    }
    at_ += 4;
    for (uint32_t channel = 0; channel < 4; ++channel) {
      if (auto no = readRuns(y, channel, row)) return no;
    }
    return std::nullopt;
  }

  /// One channel of one row: runs (length + 128, value) and literals (length, values...).
  std::optional<Refusal> readRuns(uint32_t y, uint32_t channel, std::vector<uint8_t>& row) {
    for (uint32_t x = 0; x < width_;) {
      if (bytes_.size() - at_ < 2) return unusable(path_, fmt::format("ends in row {} of {}: truncated", y, height_));
      const uint32_t code = bytes_[at_++];
      const bool run = code > 128;
      const uint32_t length = run ? code - 128 : code;
      if (length == 0 || length > width_ - x) {
        return unusable(path_, fmt::format("row {}: a run of {} passes the end of the scanline", y, length));
      }
      if (!run && bytes_.size() - at_ < length) {
        return unusable(path_, fmt::format("ends in row {} of {}: truncated", y, height_));
      }
      for (uint32_t i = 0; i < length; ++i) row[size_t{x + i} * 4 + channel] = bytes_[at_ + (run ? 0 : i)];
      at_ += run ? 1 : length;
      x += length;
    }
    return std::nullopt;
  }

  vec3 toRadiance(const uint8_t* rgbe) {
    if (rgbe[3] == 0) return vec3(0.0f);
    const float scale = std::ldexp(1.0f, static_cast<int>(rgbe[3]) - (128 + 8));
    vec3 radiance(scale * rgbe[0], scale * rgbe[1], scale * rgbe[2]);
    if (!(std::max({radiance.x, radiance.y, radiance.z}) <= kMaxRadiance)) {
      ++clamped_;
      radiance = glm::min(radiance, vec3(kMaxRadiance));
    }
    return radiance;
  }

  const std::filesystem::path& path_;
  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  uint64_t clamped_ = 0;
};

}  // namespace

Expected<Environment> loadEnvironment(const std::filesystem::path& path) {
  auto bytes = readFile(path);
  if (!bytes) return bytes.refusal();
  constexpr std::array<uint8_t, 4> kExrMagic{0x76, 0x2f, 0x31, 0x01};
  if (path.extension() == ".exr" ||
      (bytes->size() >= 4 && std::equal(kExrMagic.begin(), kExrMagic.end(), bytes->begin()))) {
    return unusable(path, "EXR environments are not supported; convert it to a Radiance .hdr file");
  }
  auto environment = RadianceReader(path, *bytes).read();
  if (environment) environment->name = path.filename().string();
  return environment;
}

Environment defaultSky() {
  // Relative radiances of a clear sky away from the sun: about three times brighter at the horizon than overhead.
  const vec3 zenith(0.16f, 0.29f, 0.56f);
  const vec3 horizon(0.92f, 1.0f, 1.06f);
  const vec3 ground(0.22f, 0.21f, 0.20f);
  constexpr uint32_t kWidth = 512;
  constexpr uint32_t kHeight = 256;
  constexpr float kPi = 3.14159265358979f;
  Environment sky;
  sky.name = "default sky";
  sky.width = kWidth;
  sky.height = kHeight;
  sky.radiance.reserve(size_t{kWidth} * kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    const float up = std::sin((0.5f - (static_cast<float>(y) + 0.5f) / kHeight) * kPi);
    // Haze thins out with the sine of the elevation; below, it ends within some degrees.
    const vec3 colour =
        up >= 0.0f ? glm::mix(zenith, horizon, std::exp(-4.0f * up)) : glm::mix(ground, horizon, std::exp(16.0f * up));
    sky.radiance.insert(sky.radiance.end(), kWidth, colour);
  }
  return sky;
}

Environment uniformEnvironment(vec3 radiance) {
  Environment environment;
  environment.name = "uniform";
  environment.width = 2;
  environment.height = 1;
  environment.radiance.assign(2, radiance);
  return environment;
}

}  // namespace tandem::scene
