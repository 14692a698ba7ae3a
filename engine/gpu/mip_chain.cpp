#include "gpu/mip_chain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/math.h"
#include "base/parallel.h"

namespace tandem::gpu {
namespace {

constexpr size_t kRows = 16;  // that one thread makes at a time

/// A level in linear light; alpha in w. Colours are multiplied by alpha where they are weighed by it; normals are
/// not normalised again.
struct Level {
  uint32_t width, height;
  std::vector<vec4> texels;
};

const std::array<float, 256>& linearOfSrgb() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> values{};
    for (size_t i = 0; i < values.size(); i++) {
      const double c = static_cast<double>(i) / 255.0;
      values[i] = static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return values;
  }();
  return table;
}

/// The sRGB code nearest to a linear value, by 16 bits of it: a code is at least 20 steps wide.
const std::array<uint8_t, 65536>& srgbOfLinear() {
  static const std::array<uint8_t, 65536> table = [] {
    std::array<uint8_t, 65536> codes{};
    for (size_t i = 0; i < codes.size(); i++) {
      const double c = static_cast<double>(i) / 65535.0;
      const double coded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055;
      codes[i] = static_cast<uint8_t>(std::lround(255.0 * coded));
    }
    return codes;
  }();
  return table;
}

vec4 decode(const uint8_t* rgba, const TextureSource& source) {
  vec4 texel(0.0f, 0.0f, 0.0f, static_cast<float>(rgba[3]) / 255.0f);
  for (int k = 0; k < 3; k++) texel[k] = source.srgb ? linearOfSrgb()[rgba[k]] : static_cast<float>(rgba[k]) / 255.0f;
  if (source.filter == MipFilter::AlphaWeighted) return vec4(vec3(texel) * texel.w, texel.w);
  if (source.filter != MipFilter::Normals) return texel;
  const vec3 normal = vec3(texel) * 2.0f - 1.0f;
  const float length = glm::length(normal);
  return vec4(length > 0.0f ? normal / length : vec3(0.0f, 0.0f, 1.0f), 1.0f);
}

vec4 encodedNormal(vec3 mean) {
  const float length = glm::length(mean);
  const vec3 direction = length > 1e-6f ? mean / length : vec3(0.0f, 0.0f, 1.0f);
  return vec4(direction * 0.5f + 0.5f, length);
}

void encode(vec4 texel, const TextureSource& source, uint8_t* rgba) {
  if (source.filter == MipFilter::AlphaWeighted && texel.w > 0.0f) texel = vec4(vec3(texel) / texel.w, texel.w);
  if (source.filter == MipFilter::Normals) texel = encodedNormal(vec3(texel));
  texel = glm::clamp(texel, vec4(0.0f), vec4(1.0f));
  for (int k = 0; k < 3; k++) {
    rgba[k] = source.srgb ? srgbOfLinear()[static_cast<size_t>(std::lround(texel[k] * 65535.0f))]
                          : static_cast<uint8_t>(std::lround(texel[k] * 255.0f));
  }
  rgba[3] = static_cast<uint8_t>(std::lround(texel.w * 255.0f));
}

/// Which texels one smaller texel covers along an axis, and how much of each. Three where the size is odd, else two;
/// one where it was 1 already.
struct Cover {
  uint32_t first = 0, count = 1;
  float weights[3] = {1.0f, 0.0f, 0.0f};
};

Cover coverOf(uint32_t index, uint32_t from, uint32_t to) {
  const double begin = static_cast<double>(index) * from / to, end = static_cast<double>(index + 1) * from / to;
  Cover cover{static_cast<uint32_t>(begin), 0, {}};
  for (uint32_t i = cover.first; i < from && i < end && cover.count < 3; i++) {
    const double part = std::min(end, i + 1.0) - std::max(begin, static_cast<double>(i));
    cover.weights[cover.count++] = static_cast<float>(part * to / from);
  }
  return cover;
}

/// `at(x, y)`: a texel of the level above, whose size is `width` x `height`.
template <class At>
Level halved(uint32_t width, uint32_t height, const At& at) {
  Level level{mipSize(width, 1), mipSize(height, 1), {}};
  level.texels.resize(size_t{level.width} * level.height);
  std::vector<Cover> across;
  for (uint32_t x = 0; x < level.width; x++) across.push_back(coverOf(x, width, level.width));
  parallelFor(level.height, kRows, [&](size_t begin, size_t end) {
    for (size_t y = begin; y < end; y++) {
      const Cover down = coverOf(static_cast<uint32_t>(y), height, level.height);
      for (uint32_t x = 0; x < level.width; x++) {
        vec4 sum(0.0f);
        for (uint32_t j = 0; j < down.count; j++) {
          for (uint32_t i = 0; i < across[x].count; i++)
            sum += down.weights[j] * across[x].weights[i] * at(across[x].first + i, down.first + j);
        }
        level.texels[y * level.width + x] = sum;
      }
    }
  });
  return level;
}

}  // namespace

uint32_t mipLevels(uint32_t width, uint32_t height) {
  return static_cast<uint32_t>(std::bit_width(std::max({width, height, 1u})));
}

uint64_t mipBytes(uint32_t width, uint32_t height) {
  uint64_t bytes = 0;
  for (uint32_t level = 0; level < mipLevels(width, height); level++)
    bytes += uint64_t{4} * mipSize(width, level) * mipSize(height, level);
  return bytes;
}

std::vector<uint8_t> makeMipChain(const TextureSource& source) {
  std::vector<uint8_t> chain(mipBytes(source.width, source.height) - uint64_t{4} * source.width * source.height);
  uint8_t* out = chain.data();
  Level level{source.width, source.height, {}};
  for (uint32_t k = 1; k < mipLevels(source.width, source.height); k++) {
    const Level above = std::move(level);
    if (k == 1) {
      level = halved(source.width, source.height, [&](uint32_t x, uint32_t y) {
        return decode(source.rgba + (size_t{y} * source.width + x) * 4, source);
      });
    } else {
      level = halved(above.width, above.height,
                     [&](uint32_t x, uint32_t y) { return above.texels[size_t{y} * above.width + x]; });
    }
    parallelFor(level.texels.size(), kRows * 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; i++) encode(level.texels[i], source, out + 4 * i);
    });
    out += 4 * level.texels.size();
  }
  return chain;
}

}  // namespace tandem::gpu
