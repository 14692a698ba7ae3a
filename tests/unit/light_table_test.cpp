// The tables that lights are chosen by, against the probabilities that they promise; no GPU.
#include "trace/light_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>

#include "scene/environment.h"
#include "trace/ggx_albedo.h"

namespace tandem::trace {
namespace {

/// Probability of each entry: its own bin up to the threshold, and what other bins lend it.
std::vector<double> probabilities(const AliasTable& table) {
  std::vector<double> p(table.bins.size(), 0.0);
  for (size_t i = 0; i < p.size(); i++) {
    p[i] += static_cast<double>(table.bins[i].threshold);
    p[table.bins[i].alias] += 1.0 - static_cast<double>(table.bins[i].threshold);
  }
  for (double& value : p) value /= static_cast<double>(p.size());
  return p;
}

void expectShares(const std::vector<double>& weights) {
  const AliasTable table = makeAliasTable(weights);
  ASSERT_EQ(table.bins.size(), weights.size());
  const std::vector<double> p = probabilities(table);
  for (size_t i = 0; i < weights.size(); i++) {
    EXPECT_NEAR(p[i], weights[i] / table.total, 1e-6) << "entry " << i << " of " << weights.size();
    EXPECT_LT(table.bins[i].alias, weights.size());
  }
}

TEST(AliasTable, GivesEveryEntryItsShare) {
  expectShares({1.0});
  expectShares({3.0, 1.0});
  expectShares({0.0, 0.0, 5.0, 0.0});
  expectShares({1e-12, 1e12, 1.0});
  std::mt19937 random(1);
  std::vector<double> weights(1000);
  for (double& w : weights) w = std::exp(20.0 * std::generate_canonical<double, 53>(random));
  expectShares(weights);
}

TEST(AliasTable, CountsNonsenseAsNothing) {
  const AliasTable table =
      makeAliasTable(std::vector<double>{std::nan(""), 1.0, -2.0, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(table.total, 1.0);
  const std::vector<double> p = probabilities(table);
  EXPECT_NEAR(p[1], 1.0, 1e-6);
  EXPECT_EQ(makeAliasTable({}).total, 0.0);
  EXPECT_EQ(makeAliasTable(std::vector<double>{0.0, 0.0}).total, 0.0);
}

double texelLuminance(const scene::Environment& e, int x, int y) {
  const auto width = static_cast<int>(e.width), height = static_cast<int>(e.height);
  return luminance(e.radiance[static_cast<size_t>(std::clamp(y, 0, height - 1) * width + (x + width) % width)]);
}

/// Luminance times cosine of latitude at a place of the picture, as shading looks it up.
double bilinear(const scene::Environment& e, double u, double v) {
  const double x = u * e.width - 0.5, y = v * e.height - 0.5;
  const int x0 = static_cast<int>(std::floor(x)), y0 = static_cast<int>(std::floor(y));
  const double fx = x - x0, fy = y - y0;
  const double top = std::lerp(texelLuminance(e, x0, y0), texelLuminance(e, x0 + 1, y0), fx);
  const double bottom = std::lerp(texelLuminance(e, x0, y0 + 1), texelLuminance(e, x0 + 1, y0 + 1), fx);
  return std::lerp(top, bottom, fy) * std::sin(v * std::numbers::pi);
}

TEST(EnvironmentTable, FollowsTheIntegralOfLuminance) {
  scene::Environment e{"random", 12, 32, {}};
  std::mt19937 random(7);
  for (size_t i = 0; i < size_t{12} * 32; i++) {
    const float bright = std::generate_canonical<float, 24>(random);
    e.radiance.push_back(vec3(bright * bright, 0.5f * bright, i % 5 == 0 ? 3.0f : 0.0f));
  }
  const EnvironmentTable table = makeEnvironmentTable(e);
  ASSERT_FALSE(table.black);
  std::vector<double> integrals;
  double total = 0.0;
  constexpr int kSteps = 32;
  for (uint32_t y = 0; y < e.height; y++) {
    for (uint32_t x = 0; x < e.width; x++) {
      double sum = 0.0;
      for (int k = 0; k < kSteps * kSteps; k++) {
        sum += bilinear(e, (x + (k % kSteps + 0.5) / kSteps) / e.width, (y + (k / kSteps + 0.5) / kSteps) / e.height);
      }
      integrals.push_back(sum);
      total += sum;
    }
  }
  for (uint32_t y = 0; y < e.height; y++) {
    for (uint32_t x = 0; x < e.width; x++) {
      const size_t at = size_t{y} * (e.width + 1) + x;
      const double chance = static_cast<double>(table.rows[y + 1] - table.rows[y]) *
                            static_cast<double>(table.columns[at + 1] - table.columns[at]);
      const double expected = integrals[size_t{y} * e.width + x] / total;
      // The table takes the cosine as constant over a texel, which near the poles, where it falls to 0, is a coarse
      // guess.
      const double fromPole = std::min(y, e.height - 1 - y) + 1.0;
      EXPECT_NEAR(chance, expected, 0.2 / fromPole * expected + 1e-6) << x << ", " << y;
      if (expected > 0.0) {
        EXPECT_GT(chance, 0.0);
      }
    }
  }
}

TEST(EnvironmentTable, EndsAtOneAndNeverFalls) {
  const EnvironmentTable table = makeEnvironmentTable(scene::defaultSky());
  ASSERT_FALSE(table.black);
  EXPECT_EQ(table.rows.front(), 0.0f);
  EXPECT_EQ(table.rows.back(), 1.0f);
  for (size_t i = 1; i < table.rows.size(); i++) EXPECT_GE(table.rows[i], table.rows[i - 1]);
  const size_t stride = table.columns.size() / (table.rows.size() - 1);
  for (size_t i = 0; i < table.columns.size(); i++) {
    if (i % stride == 0) {
      EXPECT_EQ(table.columns[i], 0.0f);
    } else {
      EXPECT_GE(table.columns[i], table.columns[i - 1]);
    }
    if (i % stride == stride - 1) {
      EXPECT_EQ(table.columns[i], 1.0f);
    }
  }
}

/// What environment_find of shaders/lib/environment.glsl does with a guide, and without.
uint32_t found(std::span<const float> begins, std::span<const uint32_t> guide, float u) {
  const auto cells = static_cast<uint32_t>(begins.size() - 1);
  const uint32_t bin = std::min(static_cast<uint32_t>(u * static_cast<float>(cells)), cells - 1);
  uint32_t low = guide[bin], high = guide[std::min(bin + 2, cells)] + 1;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (begins[middle] <= u ? low : high) = middle;
  }
  return low;
}

uint32_t searched(std::span<const float> begins, float u) {
  const auto cells = begins.first(begins.size() - 1);
  return static_cast<uint32_t>(std::ranges::upper_bound(cells, u) - cells.begin()) - 1;
}

TEST(EnvironmentTable, GuidesLeadToTheCellsThatASearchFinds) {
  scene::Environment e = scene::defaultSky();
  for (size_t i = 0; i < e.radiance.size(); i += 97) e.radiance[i] = vec3(i % 2 == 0 ? 0.0f : 5000.0f);
  const EnvironmentTable table = makeEnvironmentTable(e);
  ASSERT_EQ(table.rowGuide.size(), e.height + 1);
  ASSERT_EQ(table.columnGuide.size(), table.columns.size());
  std::mt19937 random(5);
  const auto expectSame = [&](std::span<const float> begins, std::span<const uint32_t> guide) {
    const auto cells = static_cast<float>(begins.size() - 1);
    for (int k = 0; k < 200; k++) {
      // Anywhere, at a cell's beginning, at a bin's, and the neighbours of both.
      const float any = static_cast<float>(random() >> 8) * 0x1p-24f;
      const float cell = begins[random() % (begins.size() - 1)];
      const float bin = std::floor(any * cells) / cells;
      for (const float u : {any, cell, bin, std::nextafter(cell, 0.0f), std::nextafter(bin, 0.0f),
                            std::nextafter(bin, 1.0f), std::nextafter(1.0f, 0.0f)}) {
        if (u >= 1.0f) continue;
        ASSERT_EQ(found(begins, guide, u), searched(begins, u)) << u;
      }
    }
  };
  expectSame(table.rows, table.rowGuide);
  const size_t stride = e.width + 1;
  for (size_t y = 0; y < e.height; y += 7) {
    expectSame(std::span(table.columns).subspan(y * stride, stride),
               std::span(table.columnGuide).subspan(y * stride, stride));
  }
}

TEST(EnvironmentTable, KnowsBlack) {
  EXPECT_TRUE(makeEnvironmentTable({}).black);
  EXPECT_TRUE(makeEnvironmentTable(scene::uniformEnvironment(vec3(0.0f))).black);
  EXPECT_FALSE(makeEnvironmentTable(scene::uniformEnvironment(vec3(1.0f))).black);
}

TEST(GgxAlbedo, SmoothSurfacesReflectByFresnelAlone) {
  const GgxAlbedo& table = ggxAlbedo();
  for (uint32_t column = 8; column < shared::kAlbedoCosines; column++) {
    const double cosine = std::pow(column / (shared::kAlbedoCosines - 1.0), 2.0);
    const double schlick = std::pow(1.0 - cosine, 5.0);
    EXPECT_NEAR(table.entries[column].scale, 1.0 - schlick, 2e-3) << cosine;
    EXPECT_NEAR(table.entries[column].bias, schlick, 2e-3) << cosine;
  }
}

TEST(GgxAlbedo, LosesMoreTheRougherAndNeverGains) {
  const GgxAlbedo& table = ggxAlbedo();
  float before = 1.0f;
  for (uint32_t row = 0; row < shared::kAlbedoRoughnesses; row++) {
    const shared::AlbedoEntry& facing =
        table.entries[size_t{row} * shared::kAlbedoCosines + shared::kAlbedoCosines - 1];
    EXPECT_LE(facing.scale + facing.bias, before + 1e-3f) << row;
    before = facing.scale + facing.bias;
    for (uint32_t column = 0; column < shared::kAlbedoCosines; column++) {
      const shared::AlbedoEntry& entry = table.entries[size_t{row} * shared::kAlbedoCosines + column];
      EXPECT_GT(entry.scale + entry.bias, 0.2f);
      EXPECT_LE(entry.scale + entry.bias, 1.0f + 1e-5f);
    }
  }
  // alpha = 1 seen from straight above, in closed form: i.z is uniform in (-1, 1), G2 / G1 = 2 i.z / (1 + i.z); so 1 -
  // ln 2.
  EXPECT_NEAR(static_cast<double>(before), 1.0 - std::numbers::ln2, 1e-3);
}

}  // namespace
}  // namespace tandem::trace
