#include "post/tonemap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/gtc/packing.hpp>
#include <limits>

#include "gpu/post_bench.h"

namespace tandem::post {
namespace {

using shared::LdrTexel;
using shared::RadianceTexel;
using Colour = std::array<double, 3>;

// The published formulas in double precision, written again from their sources.

double srgb(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1.0 / 2.4) - 0.055;
}

Colour multiply(const double (&m)[3][3], const Colour& v) {
  Colour r{};
  for (int i = 0; i < 3; ++i) r[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return r;
}

/// S. Hill's fit of the ACES RRT and sRGB ODT, exposed so that middle grey stays: the curve is solved for it here, not
/// copied.
double greyExposure() {
  double low = 0.0, high = 1.0;
  for (int step = 0; step < 60; ++step) {
    const double v = 0.5 * (low + high);
    const double shown = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
    (shown < 0.18 ? low : high) = v;
  }
  return low / 0.18;
}

Colour aces(Colour c) {
  for (double& v : c) v *= greyExposure();
  const double in[3][3] = {{0.59719, 0.35458, 0.04823}, {0.07600, 0.90834, 0.01566}, {0.02840, 0.13383, 0.83777}};
  const double out[3][3] = {
      {1.60475, -0.53108, -0.07367}, {-0.10208, 1.10813, -0.00605}, {-0.00327, -0.07276, 1.07602}};
  c = multiply(in, c);
  for (double& v : c) v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
  return multiply(out, c);
}

/// Khronos PBR Neutral: f = x - x^2 / (4 * 0.04) below x = 0.08, else 0.04; then compression of the peak from 0.76,
/// desaturation 0.15.
Colour neutral(Colour c) {
  const double x = std::min({c[0], c[1], c[2]});
  const double f = x < 0.08 ? x - 6.25 * x * x : 0.04;
  for (double& v : c) v -= f;
  const double p = std::max({c[0], c[1], c[2]});
  if (p < 0.76) return c;
  const double n = 1.0 - 0.24 * 0.24 / (p + 0.24 - 0.76);
  const double g = 1.0 / (0.15 * (p - n) + 1.0);
  for (double& v : c) v = v * n / p * g + n * (1.0 - g);
  return c;
}

Colour expected(Tone tone, Colour c) {
  if (tone == Tone::Aces) c = aces(c);
  if (tone == Tone::Neutral) c = neutral(c);
  for (double& v : c) v = 255.0 * srgb(std::clamp(v, 0.0, 1.0));
  return c;
}

RadianceTexel texelOf(vec3 colour) {
  return {{glm::packHalf2x16(vec2(colour)), glm::packHalf2x16(vec2(colour.z, 1.0f))}};
}

class Tonemap : public test::PostBench {
 protected:
  std::vector<LdrTexel> tonemapped(Extent size, std::vector<RadianceTexel> texels, Tone tone, float scale = 1.0f,
                                   uint32_t frame = 1) {
    graph::Graph graph;
    const auto radiance = input(graph, "radiance", std::move(texels), size.height);
    const auto exposure = input(graph, "exposure", std::vector<shared::ExposureState>{{scale, std::log2(scale)}});
    auto values = std::make_shared<PostFrame>();
    values->frame = frame;
    return run(graph, addTonemap(graph, {size, tone}, radiance, exposure, values));
  }
  /// Mean byte per channel over a frame of one colour; also checks that the noise stays within its bounds.
  Colour meanOf(vec3 colour, Tone tone, const Colour& truth) {
    const Extent size{128, 128};
    Colour mean{};
    for (const LdrTexel& texel : tonemapped(size, std::vector(size.pixels(), texelOf(colour)), tone, 2.0f)) {
      EXPECT_EQ(texel.rgba >> 24, 255u);
      for (int c = 0; c < 3; ++c) {
        const double byte = (texel.rgba >> (8 * c)) & 255;
        // +-1 step of noise, half a step of rounding, and the arithmetic's own error.
        EXPECT_LT(std::abs(byte - truth[c]), 1.51);
        mean[c] += byte / static_cast<double>(size.pixels());
      }
    }
    return mean;
  }
};

TEST_F(Tonemap, CurvesAgreeWithTheirSourcesAndDitherKeepsTheMean) {
  const vec3 colours[] = {{0.0005f, 0.0007f, 0.0001f}, {0.09f, 0.09f, 0.09f}, {0.02f, 0.3f, 0.1f},
                          {0.5f, 0.01f, 0.4f},         {1.5f, 0.2f, 0.05f},   {4.0f, 5.0f, 9.0f},
                          {0.3f, 0.41f, 0.37f},        {100.0f, 20.0f, 1.0f}};
  for (const Tone tone : {Tone::Aces, Tone::Neutral, Tone::None}) {
    for (const vec3 colour : colours) {
      Colour exposed{};
      for (int c = 0; c < 3; ++c) exposed[c] = 2.0 * glm::unpackHalf1x16(glm::packHalf1x16(colour[c]));
      const Colour truth = expected(tone, exposed);
      const Colour mean = meanOf(colour, tone, truth);
      // The variance of triangular dither and rounding is at most 1/2 step^2: over 2^14 pixels six sigma of the mean is
      // 0.033 steps.
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(mean[c], truth[c], 0.035) << "tone " << int(tone) << " channel " << c;
    }
  }
}

TEST_F(Tonemap, BlackAndWhiteAreExact) {
  const Extent size{64, 64};
  const auto all = [&](float value, Tone tone, uint32_t wanted) {
    for (const LdrTexel& texel : tonemapped(size, std::vector(size.pixels(), texelOf(vec3(value))), tone)) {
      ASSERT_EQ(texel.rgba, wanted) << value << " tone " << int(tone);
    }
  };
  for (const Tone tone : {Tone::Aces, Tone::Neutral, Tone::None}) {
    all(0.0f, tone, 0xff000000u);
    all(-1.0f, tone, 0xff000000u);
    all(std::numeric_limits<float>::quiet_NaN(), tone, 0xff000000u);
  }
  all(1.0f, Tone::None, 0xffffffffu);
  all(7.0f, Tone::None, 0xffffffffu);
  all(60000.0f, Tone::Aces, 0xffffffffu);
  all(std::numeric_limits<float>::infinity(), Tone::None, 0xffffffffu);
  all(std::numeric_limits<float>::infinity(), Tone::Aces, 0xffffffffu);
}

TEST_F(Tonemap, NoiseComesFromPixelAndFrameAlone) {
  const Extent size{64, 48};
  const std::vector<RadianceTexel> texels(size.pixels(), texelOf(vec3(0.2f)));
  const auto bytes = [&](uint32_t frame) {
    std::vector<uint32_t> values;
    for (const LdrTexel& texel : tonemapped(size, texels, Tone::Aces, 1.0f, frame)) values.push_back(texel.rgba);
    return values;
  };
  const auto first = bytes(1);
  EXPECT_EQ(first, bytes(1));
  EXPECT_NE(first, bytes(2));
}

}  // namespace
}  // namespace tandem::post
