// Smaller levels of textures: known answers for every size, in linear light, with what alpha hides left out.
#include "gpu/mip_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tandem::gpu {
namespace {

double linearOf(int code) {
  const double c = code / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

struct Picture {
  uint32_t width, height;
  std::vector<uint8_t> rgba;
  TextureSource source(bool srgb, MipFilter filter = MipFilter::Mean) const {
    TextureSource s{"picture", width, height, rgba.data(), srgb};
    s.filter = filter;
    return s;
  }
};

Picture noise(uint32_t width, uint32_t height) {
  std::mt19937 random(width * 1000 + height);
  Picture picture{width, height, {}};
  for (uint32_t i = 0; i < width * height * 4; i++) picture.rgba.push_back(uint8_t(random()));
  return picture;
}

/// The last level: one texel.
std::vector<int> last(const std::vector<uint8_t>& chain) { return {chain.end() - 4, chain.end()}; }

TEST(MipChain, CountsLevelsAndBytesAsVulkanDoes) {
  EXPECT_EQ(mipLevels(1, 1), 1u);
  EXPECT_EQ(mipLevels(2, 1), 2u);
  EXPECT_EQ(mipLevels(255, 3), 8u);
  EXPECT_EQ(mipLevels(256, 256), 9u);
  EXPECT_EQ(mipSize(5, 1), 2u);
  EXPECT_EQ(mipSize(5, 7), 1u);
  EXPECT_EQ(mipBytes(4, 2), 4u * (8 + 2 + 1));
  EXPECT_EQ(mipBytes(65536, 65536) >> 30, 21u);  // past 32 bits
  EXPECT_EQ(makeMipChain(noise(5, 3).source(false)).size(), 4u * (2 + 1));
  EXPECT_TRUE(makeMipChain(noise(1, 1).source(true)).empty());
}

TEST(MipChain, OfACheckerIsItsMeanInLinearLight) {
  Picture checker{8, 8, {}};
  for (int i = 0; i < 64; i++) {
    const uint8_t c = (i % 8 + i / 8) % 2 ? 255 : 0;
    checker.rgba.insert(checker.rgba.end(), {c, c, c, c});
  }
  // Half the light of white: sRGB 188, and as data 128.
  const std::vector<uint8_t> chain = makeMipChain(checker.source(true));
  for (size_t i = 0; i < chain.size(); i++) EXPECT_EQ(chain[i], i % 4 == 3 ? 128 : 188) << i;
  for (const uint8_t value : makeMipChain(checker.source(false))) EXPECT_EQ(value, 128);
}

TEST(MipChain, KeepsTheMeanOfPicturesOfEverySize) {
  for (const auto& [width, height] : {std::pair(64u, 64u), {63u, 64u}, {7u, 5u}, {3u, 1u}, {1u, 9u}, {100u, 37u}}) {
    SCOPED_TRACE(testing::Message() << width << " x " << height);
    const Picture picture = noise(width, height);
    for (const bool srgb : {false, true}) {
      const std::vector<int> mean = last(makeMipChain(picture.source(srgb)));
      for (int k = 0; k < 4; k++) {
        double expected = 0.0;
        for (size_t i = size_t(k); i < picture.rgba.size(); i += 4)
          expected += srgb && k < 3 ? linearOf(picture.rgba[i]) : picture.rgba[i] / 255.0;
        expected /= double(width) * height;
        const double found = srgb && k < 3 ? linearOf(mean[k]) : mean[k] / 255.0;
        EXPECT_NEAR(found, expected, 0.6 / 255.0 * (srgb ? 2.2 : 1.0)) << "channel " << k;
      }
    }
  }
}

TEST(MipChain, LeavesOutColoursThatAlphaHides) {
  // A green leaf of every fourth texel in a black that no one sees.
  Picture leaf{16, 16, {}};
  for (int i = 0; i < 256; i++) {
    const bool there = i % 2 == 0 && i / 16 % 2 == 0;
    leaf.rgba.insert(leaf.rgba.end(), {0, uint8_t(there ? 200 : 0), 0, uint8_t(there ? 255 : 0)});
  }
  const std::vector<uint8_t> weighted = makeMipChain(leaf.source(true, MipFilter::AlphaWeighted));
  for (size_t i = 0; i < weighted.size(); i += 4) {
    EXPECT_EQ(weighted[i + 1], 200);
    EXPECT_EQ(weighted[i + 3], 64);
  }
  EXPECT_LT(last(makeMipChain(leaf.source(true)))[1], 110);
  Picture nothing{4, 4, std::vector<uint8_t>(64, 0)};
  for (const uint8_t value : makeMipChain(nothing.source(true, MipFilter::AlphaWeighted))) EXPECT_EQ(value, 0);
}

TEST(MipChain, OfNormalsIsTheMeansDirectionAndItsLength) {
  // Half of the normals lean to +x, half to -x, by the angle of (0.6, 0.8): their mean is 0.8 long and upright.
  Picture ridges{8, 8, {}};
  for (int i = 0; i < 64; i++) ridges.rgba.insert(ridges.rgba.end(), {uint8_t(i % 2 ? 204 : 51), 128, 230, 17});
  const std::vector<uint8_t> chain = makeMipChain(ridges.source(false, MipFilter::Normals));
  for (size_t i = 0; i < chain.size(); i += 4) {
    EXPECT_NEAR(chain[i], 128, 1);
    EXPECT_NEAR(chain[i + 1], 128, 1);
    EXPECT_EQ(chain[i + 2], 255);
    EXPECT_NEAR(chain[i + 3], 0.8 * 255, 1);
  }
  // A flat map is as long as it was, whatever its alpha said.
  Picture flat{4, 4, {}};
  for (int i = 0; i < 16; i++) flat.rgba.insert(flat.rgba.end(), {128, 128, 255, 3});
  const std::vector<uint8_t> same = makeMipChain(flat.source(false, MipFilter::Normals));
  for (size_t i = 3; i < same.size(); i += 4) EXPECT_EQ(same[i], 255);
}

TEST(MipChain, IsTheSameOnEveryRun) {
  const Picture picture = noise(300, 211);
  EXPECT_EQ(makeMipChain(picture.source(true)), makeMipChain(picture.source(true)));
}

}  // namespace
}  // namespace tandem::gpu
