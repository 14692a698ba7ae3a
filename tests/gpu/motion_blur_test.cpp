#include "post/motion_blur.h"

#include <cmath>
#include <functional>
#include <glm/gtc/packing.hpp>
#include <random>

#include "gpu/post_bench.h"

namespace tandem::post {
namespace {

using shared::DepthTexel;
using shared::MotionTexel;
using shared::RadianceTexel;

/// What one pixel of a test picture holds.
struct Pixel {
  vec3 colour{0.0f};
  float coverage = 1.0f;
  vec2 motion{0.0f};
  float depth = 10.0f;
};

struct Picture {
  Extent size;
  std::vector<RadianceTexel> radiance;
  std::vector<MotionTexel> motion;
  std::vector<DepthTexel> depth;
};

Picture paint(Extent size, const std::function<Pixel(int x, int y)>& pixelAt) {
  Picture picture{size, {}, {}, {}};
  for (uint32_t y = 0; y < size.height; ++y) {
    for (uint32_t x = 0; x < size.width; ++x) {
      const Pixel pixel = pixelAt(static_cast<int>(x), static_cast<int>(y));
      picture.radiance.push_back(
          {{glm::packHalf2x16(vec2(pixel.colour)), glm::packHalf2x16(vec2(pixel.colour.z, pixel.coverage))}});
      picture.motion.push_back({glm::packHalf2x16(pixel.motion)});
      picture.depth.push_back({pixel.depth});
    }
  }
  return picture;
}

float red(const RadianceTexel& texel) { return glm::unpackHalf2x16(texel.rgba.x).x; }

bool sameBits(const RadianceTexel& a, const RadianceTexel& b) { return a.rgba == b.rgba; }

class MotionBlur : public test::PostBench {
 protected:
  std::vector<RadianceTexel> blurred(const Picture& picture, uint32_t maxRadius = 16, uint32_t frame = 1) {
    graph::Graph graph;
    const auto radiance = input(graph, "radiance", picture.radiance, picture.size.height);
    const auto motion = input(graph, "motion", picture.motion, picture.size.height);
    const auto depth = input(graph, "depth", picture.depth, picture.size.height);
    auto values = std::make_shared<PostFrame>();
    values->frame = frame;
    MotionBlurSettings settings{picture.size};
    settings.maxRadius = maxRadius;
    return run(graph, addMotionBlur(graph, settings, radiance, motion, depth, values));
  }
};

TEST_F(MotionBlur, NothingThatMovesChangesNothing) {
  std::mt19937 random(3);
  const Picture picture = paint({101, 67}, [&](int x, int) {
    const float value = static_cast<float>(random() % 60000);
    // Less than half a pixel in all is no motion.
    return Pixel{
        {value, 0.1f, value * 0.3f}, 0.5f, {x % 2 ? 0.3f : 0.0f, -0.3f}, static_cast<float>(1 + random() % 100)};
  });
  const auto result = blurred(picture);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_TRUE(sameBits(result[i], picture.radiance[i])) << i;
}

TEST_F(MotionBlur, DisabledAddsNoPass) {
  graph::Graph graph;
  const auto radiance = input(graph, "radiance", std::vector<RadianceTexel>(64));
  const auto motion = input(graph, "motion", std::vector<MotionTexel>(64));
  const auto depth = input(graph, "depth", std::vector<DepthTexel>(64));
  MotionBlurSettings settings{{8, 8}};
  settings.enabled = false;
  const auto out = addMotionBlur(graph, settings, radiance, motion, depth, std::make_shared<PostFrame>());
  EXPECT_EQ(out.index, radiance.index);
  EXPECT_EQ(graph.passes().size(), 3u);
}

/// Share of the shutter interval in which a square from `begin` to `end`, moving by `motion` about that place, covers
/// the pixel at x.
double coverage(double x, double begin, double end, double motion) {
  const double low = std::max(x - end, -motion / 2), high = std::min(x - begin, motion / 2);
  return std::max(0.0, high - low) / motion;
}

/// Along the motion, the mean over all rows of a bright square over black.
void expectBoxProfile(const std::vector<double>& profile, int begin, int end, double motion) {
  double energy = 0.0;
  for (size_t x = 0; x < profile.size(); ++x) {
    // A sample lands on whole pixels (1 / 24 of coverage) and 40 rows of 15 jittered samples leave less than 0.01 of
    // noise.
    EXPECT_NEAR(profile[x], 4.0 * coverage(static_cast<double>(x) + 0.5, begin, end, motion), 4.0 * 0.05) << "at " << x;
    energy += profile[x];
  }
  EXPECT_NEAR(energy, 4.0 * (end - begin), 0.02 * 4.0 * (end - begin));
}

TEST_F(MotionBlur, AMovingSquareHasTheProfileOfTheShutter) {
  const auto inside = [](int v) { return v >= 60 && v < 100; };
  for (const bool upright : {false, true}) {
    const vec2 motion = upright ? vec2(0, 24) : vec2(24, 0);
    const Picture picture = paint({160, 160}, [&](int x, int y) {
      return inside(x) && inside(y) ? Pixel{vec3(4.0f), 1.0f, motion, 5.0f} : Pixel{vec3(0.0f), 0.0f, {}, 1e30f};
    });
    const auto result = blurred(picture);
    std::vector<double> profile(160, 0.0);
    for (int across = 60; across < 100; ++across) {
      for (int along = 0; along < 160; ++along) {
        const int x = upright ? across : along, y = upright ? along : across;
        profile[along] += red(result[static_cast<size_t>(y) * 160 + x]) / 40.0;
      }
    }
    expectBoxProfile(profile, 60, 100, 24.0);
    // Nothing leaves the square sideways.
    EXPECT_EQ(red(result[upright ? 80u * 160 + 59 : 59u * 160 + 80]), 0.0f);
  }
}

TEST_F(MotionBlur, ASlowThingBesideAFastOneKeepsItsOwnBlur) {
  // The fast square sets the line of the gather for the slow one's tiles; the slow one must still blur by its own 8
  // pixels.
  const auto inside = [](int v, int from) { return v >= from && v < from + 40; };
  const Picture picture = paint({160, 96}, [&](int x, int y) {
    if (inside(x, 60) && inside(y, 2)) return Pixel{vec3(4.0f), 1.0f, {8, 0}, 5.0f};
    if (inside(x, 60) && inside(y, 44)) return Pixel{vec3(4.0f), 1.0f, {24, 0}, 5.0f};
    return Pixel{vec3(0.0f), 0.0f, {}, 1e30f};
  });
  const auto result = blurred(picture);
  // Rows whose tiles of 16 have the fast square beside them.
  double energy = 0.0;
  for (size_t x = 0; x < 160; ++x) {
    double value = 0.0;
    for (size_t y = 16; y < 42; ++y) value += red(result[y * 160 + x]) / 26.0;
    // The slow path is met by a third of the samples: whole pixels are 1 / 8 of coverage, the soft end of the path is a
    // tenth of 4.
    EXPECT_NEAR(value, 4.0 * coverage(static_cast<double>(x) + 0.5, 60, 100, 8.0), 4.0 * 0.12) << "at " << x;
    energy += value;
  }
  EXPECT_NEAR(energy, 160.0, 0.02 * 160.0);
}

TEST_F(MotionBlur, AThingThatMovesAcrossTheGatherDoesNotLeakAlongIt) {
  // What is at the right moves sideways and faster: it sets the line for the tiles beside the bar at the left, which
  // moves upright.
  const Picture picture = paint({120, 96}, [](int x, int) {
    if (x >= 24 && x < 56) return Pixel{vec3(4.0f), 1.0f, {0, 20}, 5.0f};
    if (x >= 60) return Pixel{vec3(2.0f), 1.0f, {28, 0}, 6.0f};
    return Pixel{vec3(0.0f), 0.0f, {}, 1e30f};
  });
  const auto result = blurred(picture);
  for (size_t y = 0; y < 96; ++y) {
    for (size_t x = 0; x < 24; ++x) ASSERT_EQ(red(result[y * 120 + x]), 0.0f) << x << ", " << y;
  }
}

TEST_F(MotionBlur, WhatStandsInFrontIsNotSmeared) {
  const auto fence = [](int x) { return x % 20 < 4; };
  const Picture picture = paint({160, 64}, [&](int x, int y) {
    if (fence(x)) return Pixel{{0.37f, 1.0f, 2.0f}, 1.0f, {}, 2.0f};
    return Pixel{vec3(y % 2 ? 9.0f : 7.0f), 1.0f, {20, 0}, 8.0f};
  });
  const auto result = blurred(picture);
  for (size_t i = 0; i < result.size(); ++i) {
    if (fence(static_cast<int>(i % 160))) ASSERT_TRUE(sameBits(result[i], picture.radiance[i])) << i;
    // And the fence does not leak into what moves behind it more than the samples that it hides.
    else
      ASSERT_GT(red(result[i]), 3.5f) << i;
  }
}

TEST_F(MotionBlur, APanOverASlopingFloorIsTheMeanOverThePath) {
  // Everything moves alike while depth changes along the motion: blur must still be the plain mean over 20 pixels.
  std::mt19937 random(5);
  std::vector<float> texture(200);
  for (float& value : texture) value = static_cast<float>(random() % 1000) / 1000.0f;
  const Picture picture = paint({200, 64}, [&](int x, int) {
    return Pixel{vec3(texture[static_cast<size_t>(x)]), 1.0f, {20, 0}, 3.0f + 0.05f * static_cast<float>(x)};
  });
  const auto result = blurred(picture);
  double worst = 0.0;
  for (size_t x = 20; x < 180; ++x) {
    double truth = 0.0, mean = 0.0;
    for (size_t i = x - 10; i <= x + 10; ++i) truth += texture[i] * (i == x - 10 || i == x + 10 ? 0.5 : 1.0) / 20.0;
    for (size_t y = 0; y < 64; ++y) mean += red(result[y * 200 + x]) / 64.0;
    worst = std::max(worst, std::abs(mean - truth));
  }
  // Texels are uniform in [0, 1]. 64 rows of 15 stratified samples: noise of a row's mean is below 0.08, of 64 rows
  // 0.01; four sigma.
  EXPECT_LT(worst, 0.04);
}

TEST_F(MotionBlur, LongMotionIsCutToTheRadius) {
  const Picture picture = paint({160, 40}, [](int x, int) {
    return x >= 60 && x < 100 ? Pixel{vec3(4.0f), 1.0f, {500, 0}, 5.0f} : Pixel{vec3(0.0f), 0.0f, {}, 1e30f};
  });
  const auto result = blurred(picture, 12);
  std::vector<double> profile(160, 0.0);
  for (size_t i = 0; i < result.size(); ++i) profile[i % 160] += red(result[i]) / 40.0;
  expectBoxProfile(profile, 60, 100, 24.0);
}

TEST_F(MotionBlur, BrokenMotionIsNoMotion) {
  const Picture picture = paint({32, 32}, [](int x, int) {
    const float broken[] = {NAN, INFINITY, -INFINITY, 0.0f};
    return Pixel{vec3(static_cast<float>(x)), 1.0f, {broken[x % 4], 0.0f}, 5.0f};
  });
  const auto result = blurred(picture);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_TRUE(sameBits(result[i], picture.radiance[i])) << i;
}

TEST_F(MotionBlur, NoiseComesFromPixelAndFrameAlone) {
  const Picture picture = paint({96, 64}, [](int x, int y) {
    return Pixel{vec3(static_cast<float>((x * 31 + y * 17) % 23)), 1.0f, {14, 9}, 5.0f};
  });
  const auto same = [](const std::vector<RadianceTexel>& a, const std::vector<RadianceTexel>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), sameBits);
  };
  const auto first = blurred(picture);
  EXPECT_TRUE(same(first, blurred(picture)));
  EXPECT_FALSE(same(first, blurred(picture, 16, 2)));
}

}  // namespace
}  // namespace tandem::post
