// Scenes on their way to the device: bytes arrive whole through small staging memory, and what a scene takes is known
// before it is taken.
#include "trace/gpu_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "gpu/uploader.h"
#include "scene/builtin.h"
#include "scene/gltf.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

class GpuSceneTest : public GpuFixture {};

std::vector<uint32_t> numbers(size_t count, uint32_t from) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST_F(GpuSceneTest, UploadsOfManyPiecesArriveWhole) {
  // Longer than both pieces of staging together, with small ones before and after, which share a piece.
  const std::vector<uint32_t> first = numbers(7, 1), large = numbers((80u << 20) / 4 + 3, 100), last = numbers(1000, 5);
  const uint64_t largeAt = 64, lastAt = largeAt + large.size() * 4 + 60, total = lastAt + last.size() * 4;
  const gpu::Buffer target(device(), total, gpu::Memory::Device, "target");
  gpu::Uploader uploader(device(), "test");
  uploader.add(target, 0, std::as_bytes(std::span(first)));
  uploader.add(target, 0, {});
  uploader.add(target, largeAt, std::as_bytes(std::span(large)));
  uploader.add(target, lastAt, std::as_bytes(std::span(last)));
  uploader.finish();
  const std::vector<uint32_t> found = download<uint32_t>(device(), target, total / 4);
  const auto expectAt = [&](const std::vector<uint32_t>& expected, uint64_t offset) {
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin() + std::ptrdiff_t(offset / 4))) << offset;
  };
  expectAt(first, 0);
  expectAt(large, largeAt);
  expectAt(last, lastAt);
  uploader.finish();  // nothing is left: no submission
}

TEST_F(GpuSceneTest, AnUploaderCanBeUsedAgainAndDroppedHalfway) {
  const std::vector<uint32_t> values = numbers(1000, 9);
  const gpu::Buffer target(device(), 4000, gpu::Memory::Device, "target");
  {
    gpu::Uploader uploader(device(), "test");
    uploader.add(target, 0, std::as_bytes(std::span(values)));
    uploader.finish();
    const std::vector<uint32_t> others = numbers(500, 70'000);
    uploader.add(target, 2000, std::as_bytes(std::span(others)));
    uploader.finish();
    uploader.add(target, 0, std::as_bytes(std::span(others)));  // never finished: nothing may be under way afterwards
  }
  const std::vector<uint32_t> found = download<uint32_t>(device(), target, 1000);
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 500, found.begin()));
  EXPECT_EQ(found[500], 70'000u);
}

TEST_F(GpuSceneTest, EstimatesWhatItTakes) {
  auto courtyard = scene::loadGltf(TANDEM_SOURCE_DIR "/assets/scenes/courtyard.glb");
  ASSERT_TRUE(courtyard);
  for (const scene::Scene& scene : {courtyard->scene, *scene::makeBuiltin("terrain?triangles=20000")}) {
    const trace::HostScene host(scene);
    const trace::GpuScene onDevice(device(), host);
    const auto taken = double(onDevice.bytes());
    EXPECT_NEAR(double(trace::estimateGpuBytes(host)), taken, 0.02 * taken + 100'000) << scene.name;
  }
}

}  // namespace
}  // namespace tandem::test
