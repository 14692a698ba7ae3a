// `--tracer auto`: the quicker of two measured tracers, for all GPUs of a run together, and the file that remembers it.
#include "jobs/tracer_choice.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "scene/builtin.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;
using frame::Tracer;

gpu::Adapter card(uint32_t device, uint32_t driver) {
  gpu::Adapter adapter;
  adapter.vendorId = 0x10de;
  adapter.deviceId = device;
  adapter.driverVersion = driver;
  return adapter;
}

TEST(TracerChoice, TheQuickerOneWins) {
  const TracerKind two{0, 2};
  EXPECT_EQ(quickerTracer(std::array{two}, std::array{TracerTimes{4.0, 9.0}}), Tracer::Compute);
  EXPECT_EQ(quickerTracer(std::array{two}, std::array{TracerTimes{9.0, 4.0}}), Tracer::Rt);
  EXPECT_EQ(quickerTracer(std::array{two}, std::array{TracerTimes{4.04, 4.0}}), Tracer::Compute) << "a tie";
}

/// 1/4 + 1/10 frames a millisecond by compute, 1/8 + 1/3 by rt; and then as many slow ones that the sum turns.
TEST(TracerChoice, UnlikeGpusTakeWhatIsQuickerTogether) {
  const std::array times{TracerTimes{4.0, 8.0}, TracerTimes{10.0, 3.0}};
  EXPECT_EQ(quickerTracer(std::array{TracerKind{0, 1}, TracerKind{1, 1}}, times), Tracer::Rt);
  EXPECT_EQ(quickerTracer(std::array{TracerKind{0, 3}, TracerKind{1, 1}}, times), Tracer::Compute);
}

TEST(TracerChoice, KindsAreVendorDeviceAndDriver) {
  const std::vector<gpu::Adapter> adapters{card(1, 580), card(2, 580), card(1, 580), card(1, 570)};
  const auto kinds = kindsOf(adapters, std::array{2u, 1u, 0u, 3u});
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].adapter, 2u);
  EXPECT_EQ(kinds[0].count, 2u);
  EXPECT_EQ(kinds[1].count, 1u);
  EXPECT_EQ(kinds[2].adapter, 3u);
}

TEST(TracerChoice, TheKeyHangsOnEverythingThatMattersAndNothingElse) {
  const std::string key = tracerKey(card(1, 580), "abc", 2);
  EXPECT_EQ(key, tracerKey(card(1, 580), "abc", 2));
  EXPECT_NE(key, tracerKey(card(2, 580), "abc", 2));
  EXPECT_NE(key, tracerKey(card(1, 581), "abc", 2));
  EXPECT_NE(key, tracerKey(card(1, 580), "abd", 2));
  EXPECT_NE(key, tracerKey(card(1, 580), "abc", 3));
}

TEST(TracerChoice, TheSceneIsWhatRaysSee) {
  auto cornell = scene::makeBuiltin("cornell");
  ASSERT_TRUE(cornell);
  const std::string hash = traceHash(*cornell);
  scene::Scene repainted = *cornell;
  repainted.materials.front().baseColor = vec4(0.1f, 0.2f, 0.3f, 1.0f);
  EXPECT_EQ(traceHash(repainted), hash);
  scene::Scene moved = *cornell;
  moved.nodes.back().translation.x += 0.5f;
  EXPECT_NE(traceHash(moved), hash);
  scene::Scene reshaped = *cornell;
  reshaped.meshes.front().positions.front().y += 0.5f;
  EXPECT_NE(traceHash(reshaped), hash);
  scene::Scene masked = *cornell;
  masked.materials.front().alphaMode = scene::AlphaMode::Mask;
  EXPECT_NE(traceHash(masked), hash);
}

TEST(TracerChoice, TimesAreKeptAndDamageIsNoTime) {
  const fs::path folder = fs::temp_directory_path() / ("tandem_tracers" + std::to_string(::getpid()));
  const gpu::KeptJson kept(folder, "tracers.json", "times");
  EXPECT_FALSE(findTracerTimes(kept, "a"));
  storeTracerTimes(kept, "a", {1.5, 2.5});
  storeTracerTimes(kept, "b", {3.5, 4.5});
  ASSERT_TRUE(findTracerTimes(kept, "a"));
  EXPECT_EQ(findTracerTimes(kept, "a")->computeMs, 1.5);
  EXPECT_EQ(findTracerTimes(kept, "b")->rtMs, 4.5);
  for (const char* entry : {"7", "{}", R"({"computeMs": "x", "rtMs": 1})", R"({"computeMs": 1, "rtMs": -1})"}) {
    kept.store("a", nlohmann::ordered_json::parse(entry));
    EXPECT_FALSE(findTracerTimes(kept, "a")) << entry;
  }
  std::ofstream(folder / "tracers.json", std::ios::binary) << "[not";
  EXPECT_FALSE(findTracerTimes(kept, "b"));
  storeTracerTimes(kept, "b", {3.5, 4.5});
  EXPECT_TRUE(findTracerTimes(kept, "b"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tandem::jobs
