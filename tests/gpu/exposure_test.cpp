#include "post/exposure.h"

#include <cmath>
#include <glm/gtc/packing.hpp>
#include <limits>

#include "gpu/post_bench.h"

namespace tandem::post {
namespace {

using shared::ExposureState;
using shared::RadianceTexel;

RadianceTexel grey(float value) { return {{glm::packHalf2x16(vec2(value)), glm::packHalf2x16(vec2(value, 1.0f))}}; }

/// The value as a half float holds it.
float stored(float value) { return glm::unpackHalf1x16(glm::packHalf1x16(value)); }

class Exposure : public test::PostBench {
 protected:
  ExposureState exposureOf(Extent size, std::vector<RadianceTexel> texels, bool automatic = true, float ev = 0.0f) {
    graph::Graph graph;
    const auto radiance = input(graph, "radiance", std::move(texels), size.height);
    return run(graph, addExposure(graph, {size, automatic, ev}, radiance)).at(0);
  }
  ExposureState exposureOf(std::vector<RadianceTexel> texels) {
    const Extent size{static_cast<uint32_t>(texels.size()), 1};
    return exposureOf(size, std::move(texels));
  }
};

TEST_F(Exposure, AConstantFrameBecomesMiddleGrey) {
  const Extent size{123, 45};
  for (const float light : {0.001f, 0.05f, 0.18f, 0.7f, 1.0f, 3.3f, 1234.0f}) {
    const ExposureState state = exposureOf(size, std::vector(size.pixels(), grey(light)));
    const double expected = 0.18 / stored(light);
    EXPECT_NEAR(state.scale / expected, 1.0, 1e-3) << light;
    EXPECT_NEAR(state.ev, std::log2(expected), 2e-3) << light;
  }
}

TEST_F(Exposure, ColourCountsByItsLuminance) {
  const RadianceTexel colour{{glm::packHalf2x16(vec2(0.5f, 0.25f)), glm::packHalf2x16(vec2(2.0f, 1.0f))}};
  const double light = 0.2126 * 0.5 + 0.7152 * 0.25 + 0.0722 * 2.0;
  EXPECT_NEAR(exposureOf({64, 64}, std::vector(64 * 64, colour)).scale * light, 0.18, 0.18e-3);
}

TEST_F(Exposure, OnlyTheMiddleOfTheHistogramDecides) {
  // 40 % dark, 55 % of light 1, 5 % sun: exactly the trimmed ends.
  std::vector<RadianceTexel> texels;
  for (int i = 0; i < 10000; ++i) texels.push_back(grey(i % 100 < 40 ? 0.01f : i % 100 < 95 ? 1.0f : 60000.0f));
  EXPECT_NEAR(exposureOf(texels).scale, 0.18, 0.18e-3);
}

TEST_F(Exposure, TheMeanIsThatOfTheLogarithms) {
  // Of 200 values the percentiles leave numbers 80 to 189 (in ascending order).
  std::vector<RadianceTexel> texels;
  double sum = 0.0;
  for (int i = 0; i < 200; ++i) {
    const int rank = (i * 77) % 200;
    const float light = std::exp2(static_cast<float>(rank) / 20.0f - 5.0f);
    texels.push_back(grey(light));
    if (rank >= 80 && rank < 190) sum += std::log2(stored(light));
  }
  EXPECT_NEAR(exposureOf(texels).ev, std::log2(0.18) - sum / 110.0, 0.01);
}

TEST_F(Exposure, BlackAndBrokenPixelsSayNothing) {
  EXPECT_EQ(exposureOf({32, 32}, std::vector(32 * 32, grey(0.0f))).ev, 0.0f);
  EXPECT_EQ(exposureOf({32, 32}, std::vector(32 * 32, grey(0.0f))).scale, 1.0f);
  std::vector<RadianceTexel> texels(1000, grey(0.0f));
  for (size_t i = 0; i < 100; ++i) texels[i] = grey(0.36f);
  texels[100] = grey(std::numeric_limits<float>::quiet_NaN());
  EXPECT_NEAR(exposureOf(texels).scale, 0.5, 0.5e-3);
}

TEST_F(Exposure, AFixedValueIsExact) {
  for (const float ev : {0.0f, 1.0f, -3.0f, 2.5f}) {
    const ExposureState state = exposureOf({8, 8}, std::vector(64, grey(123.0f)), false, ev);
    EXPECT_EQ(state.ev, ev);
    EXPECT_FLOAT_EQ(state.scale, std::exp2(ev));
  }
}

}  // namespace
}  // namespace tandem::post
