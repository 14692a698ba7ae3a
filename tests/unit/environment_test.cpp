// Radiance .hdr files, good and bad, and the default sky.
#include "scene/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace tandem::scene {
namespace {

class EnvironmentFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tandem_environment_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Expected<Environment> load(const std::string& bytes, const std::string& name = "sky.hdr") {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return loadEnvironment(path);
  }
  void expectRefused(const std::string& bytes, const std::string& word) {
    const auto loaded = load(bytes);
    ASSERT_FALSE(loaded) << word;
    EXPECT_EQ(loaded.refusal().exit, ExitCode::UnusableInput);
    EXPECT_NE(loaded.refusal().message.find("sky.hdr"), std::string::npos);
    EXPECT_NE(loaded.refusal().message.find(word), std::string::npos) << loaded.refusal().message;
  }

  std::filesystem::path folder_;
};

const std::string kHead = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n";

std::string texel(int r, int g, int b, int e) {
  return {static_cast<char>(r), static_cast<char>(g), static_cast<char>(b), static_cast<char>(e)};
}

/// A packed row of 8 texels: red a run of 8, green eight literals, blue two runs, exponent a run.
std::string packedRow() {
  std::string row("\2\2\0\x08", 4);
  row += std::string("\x88\x40", 2);
  row += std::string("\x08\0\1\2\3\4\5\6\7", 9);
  row += std::string("\x83\x10\x85\x20", 4);
  row += std::string("\x88\x88", 2);
  return row;
}

TEST_F(EnvironmentFile, FlatTexelsHaveTheirValues) {
  const auto sky = load(kHead + "-Y 1 +X 2\n" + texel(128, 64, 0, 129) + texel(9, 9, 9, 0));
  ASSERT_TRUE(sky) << sky.refusal().message;
  EXPECT_EQ(sky->width, 2u);
  EXPECT_EQ(sky->height, 1u);
  EXPECT_EQ(sky->radiance[0], vec3(1.0f, 0.5f, 0.0f));  // 128 / 256 * 2^(129 - 128)
  EXPECT_EQ(sky->radiance[1], vec3(0.0f));
  EXPECT_EQ(sky->name, "sky.hdr");
}

TEST_F(EnvironmentFile, RunsAndLiterals) {
  const auto sky = load(kHead + "-Y 2 +X 8\n" + packedRow() + packedRow());
  ASSERT_TRUE(sky) << sky.refusal().message;
  for (size_t y = 0; y < 2; ++y) {
    for (size_t x = 0; x < 8; ++x) {
      EXPECT_EQ(sky->radiance[8 * y + x], vec3(64.0f, static_cast<float>(x), x < 3 ? 16.0f : 32.0f));
    }
  }
}

TEST_F(EnvironmentFile, RepeatedMagicAndZeroPrimariesAreTolerated) {
  EXPECT_TRUE(
      load("#?RADIANCE\n#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nPRIMARIES=0 0 0 0 0 0 0 0\nEXPOSURE=1\n\n-Y 1 +X 1\n" +
           texel(1, 1, 1, 128)));
}

TEST_F(EnvironmentFile, BrokenFilesAreRefused) {
  expectRefused("", "#?");
  expectRefused("\x89PNG\r\n", "#?");
  expectRefused("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n", "header");
  expectRefused("#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n", "xyze");
  expectRefused(kHead, "resolution");
  expectRefused(kHead + "-Y 1 +X 1 extra\n" + texel(1, 1, 1, 1), "resolution");
  expectRefused(kHead + "-Y 32 +X -64\n", "positive");
  expectRefused(kHead + "-Y 32 +X 0\n", "positive");
  expectRefused(kHead + "-Y 100000 +X 100000\n", "large");
  expectRefused(kHead + "-Y 65536 +X 65536\n", "large");
  expectRefused(kHead + "-Y 99999999999999999999 +X 2\n", "");
  expectRefused(kHead + "-Y 16000 +X 16000\n", "truncated");
  expectRefused(kHead + "-Y 2 +X 1\n" + texel(1, 1, 1, 128), "truncated");
  expectRefused(kHead + "-Y 2 +X 8\n" + packedRow() + packedRow().substr(0, 9), "truncated");
  std::string overrun = packedRow();
  overrun[4] = '\x89';
  expectRefused(kHead + "-Y 1 +X 8\n" + overrun, "run");
  std::string empty = packedRow();
  empty[4] = '\0';
  expectRefused(kHead + "-Y 1 +X 8\n" + empty, "run");
  const auto exr = load("\x76\x2f\x31\x01", "sky.exr");
  ASSERT_FALSE(exr);
  EXPECT_NE(exr.refusal().message.find("EXR"), std::string::npos);
  EXPECT_FALSE(loadEnvironment(folder_));
  EXPECT_FALSE(loadEnvironment(folder_ / "gone.hdr"));
}

TEST_F(EnvironmentFile, TexelsBeyondAllSunsAreClamped) {
  const auto sky = load(kHead + "-Y 1 +X 1\n" + texel(255, 1, 0, 255));
  ASSERT_TRUE(sky);
  EXPECT_TRUE(std::isfinite(sky->radiance[0].x));
  EXPECT_LE(sky->radiance[0].x, 1e9f);
}

TEST(Sky, IsBlueAboveBrightAtTheHorizonAndGreyBelow) {
  const Environment sky = defaultSky();
  ASSERT_EQ(sky.radiance.size(), size_t{sky.width} * sky.height);
  const auto row = [&](uint32_t y) { return sky.radiance[size_t{y} * sky.width]; };
  const vec3 zenith = row(0);
  const vec3 horizon = row(sky.height / 2 - 1);
  const vec3 nadir = row(sky.height - 1);
  EXPECT_GT(zenith.b, 1.5f * zenith.r);
  EXPECT_NEAR(zenith.g, 0.3f, 0.1f);
  EXPECT_NEAR(horizon.g, 1.0f, 0.1f);
  EXPECT_LT(std::abs(nadir.r - nadir.b), 0.05f);
  for (uint32_t y = 1; y < sky.height; ++y) {
    EXPECT_LT(glm::length(row(y) - row(y - 1)), 0.25f);  // no edge that would show
  }
}

}  // namespace
}  // namespace tandem::scene
