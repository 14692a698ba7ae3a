// The picture over the driver's ray-tracing pipelines against that over our own traversal. Both take the same random
// numbers, so that they differ only where a ray passes so close to an edge, or hits two surfaces at so equal a
// distance, that the two round to different answers, and in what such a path meets afterwards.
#include <gtest/gtest.h>

#include <algorithm>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"

namespace tandem::test {
namespace {

/// Of the pixels, so many may differ by more than 1 %: those of paths that took another turn.
constexpr double kOtherTurns = 0.01;
/// By so much the mean may differ.
constexpr double kMeanDifference = 0.005;

class RayPipeline : public GpuFixture {
 protected:
  void SetUp() override {
    GpuFixture::SetUp();
    if (sharedRayDevice() == nullptr) GTEST_SKIP() << testAdapter().name << " has no ray-tracing pipelines";
  }

  TracedPicture byRt(const scene::Scene& scene, const trace::PathTraceSettings& settings, uint32_t frame = 0,
                     TraceTimes times = {}) {
    return tracePicture(*sharedRayDevice(), scene, settings, frame, times, trace::Tracer::Rt);
  }

  void expectAgreement(const scene::Scene& scene, const trace::PathTraceSettings& settings, uint32_t frame = 0,
                       TraceTimes times = {}) {
    const TracedPicture compute = tracePicture(device(), scene, settings, frame, times);
    const TracedPicture rt = byRt(scene, settings, frame, times);
    EXPECT_EQ(compute.tracer, trace::Tracer::Compute);
    EXPECT_EQ(rt.tracer, trace::Tracer::Rt);
    size_t turns = 0, covered = 0;
    for (size_t i = 0; i < compute.radiance.size(); i++) {
      const vec3 a(compute.radiance[i]), b(rt.radiance[i]);
      const float most = std::max({a.x, a.y, a.z, b.x, b.y, b.z});
      turns += glm::length(a - b) > 0.01f * most ? 1 : 0;
      covered += compute.radiance[i].w > 0.0f ? 1 : 0;
    }
    EXPECT_GT(covered, compute.radiance.size() / 20) << "next to nothing was hit";
    EXPECT_LE(static_cast<double>(turns), kOtherTurns * static_cast<double>(compute.radiance.size()));
    const vec3 a = compute.mean(), b = rt.mean();
    EXPECT_LE(glm::length(a - b), static_cast<float>(kMeanDifference) * glm::length(a))
        << a.x << " " << a.y << " " << a.z << " and " << b.x << " " << b.y << " " << b.z;
    RecordProperty("pixels that took another turn", static_cast<int>(turns));
  }
};

scene::Scene builtin(std::string_view name) { return *scene::makeBuiltin(name); }

/// Holes by mask and by chance before a lit sphere, in instances that move apart and in merged ones.
scene::Scene holes(bool moving) {
  scene::Scene scene;
  const uint32_t white = scene::addMaterial(scene, "white", vec3(0.8f), 0.5f);
  const uint32_t veil = scene::addMaterial(scene, "veil", vec3(0.7f, 0.3f, 0.3f), 0.9f);
  scene.materials[veil].alphaMode = scene::AlphaMode::Blend;
  scene.materials[veil].baseColor.a = 0.4f;
  scene.materials[veil].doubleSided = true;
  const uint32_t gone = scene::addMaterial(scene, "gone", vec3(1.0f, 0.0f, 0.0f), 0.9f);
  scene.materials[gone].alphaMode = scene::AlphaMode::Mask;
  scene.materials[gone].baseColor.a = 0.2f;
  const uint32_t sphere = scene::addShape(scene, "sphere", scene::makeSphere(0.8f, 24, 12, white));
  const uint32_t before = scene::addShape(scene, "veil", scene::makeBox(vec3(1.0f, 1.0f, 0.01f), veil));
  scene.nodes[before].translation = vec3(0.2f, 0.1f, 1.5f);
  const uint32_t unseen = scene::addShape(scene, "gone", scene::makeBox(vec3(1.0f, 1.0f, 0.01f), gone));
  scene.nodes[unseen].translation = vec3(-0.2f, 0.1f, 1.8f);
  if (moving) {
    scene.nodes[before].scale = vec3(-1.0f, 0.7f, 1.0f);
    scene.nodes[sphere].scale = vec3(0.9f, 1.1f, 0.6f);
  }
  scene::addSun(scene, vec3(-0.3f, -1.0f, -0.5f), vec3(1.0f), 2.0f);
  scene::addCamera(scene, "camera", vec3(0.0f, 0.5f, 4.0f), vec3(0.0f), 45.0f);
  scene.environment = scene::uniformEnvironment(vec3(0.5f, 0.6f, 0.8f));
  return scene;
}

TEST_F(RayPipeline, OneTreeUnderSunAndSky) { expectAgreement(builtin("terrain?triangles=20000"), {{61, 37}, 3, 2}); }

TEST_F(RayPipeline, EmissiveTriangles) { expectAgreement(builtin("cornell"), {{48, 48}, 4, 3, 7}); }

TEST_F(RayPipeline, ThingsThatMove) { expectAgreement(builtin("spinners"), {{64, 36}, 2, 2}, 5, {0.2, 0.19, 0.21}); }

TEST_F(RayPipeline, SkinsAndMorphTargets) {
  expectAgreement(builtin("skinned?vertices=3000"), {{64, 36}, 2, 2}, 5, {0.6, 0.58, 0.62});
}

TEST_F(RayPipeline, HolesInSurfaces) {
  expectAgreement(holes(false), {{53, 41}, 5, 3});
  expectAgreement(holes(true), {{53, 41}, 5, 3});
}

/// The furnace's known answer, by this tracer alone.
TEST_F(RayPipeline, AFurnaceHasOneRadiance) {
  const TracedPicture picture = byRt(builtin("furnace"), {{32, 24}, 16, 8});
  const vec3 mean = picture.mean();
  EXPECT_NEAR(mean.x, 1.0f, 0.01f);
  EXPECT_NEAR(mean.y, 1.0f, 0.01f);
  EXPECT_NEAR(mean.z, 1.0f, 0.01f);
}

TEST_F(RayPipeline, TheSameTwiceBitForBit) {
  const scene::Scene scene = builtin("spinners");
  const TracedPicture one = byRt(scene, {{40, 24}, 2, 2}), two = byRt(scene, {{40, 24}, 2, 2});
  EXPECT_EQ(one.words, two.words);
  EXPECT_GT(*std::ranges::max_element(one.words), 0u);
}

TEST_F(RayPipeline, AnEmptySceneIsSky) {
  scene::Scene scene;
  scene.environment = scene::uniformEnvironment(vec3(0.25f));
  scene::addCamera(scene, "camera", vec3(0.0f, 0.0f, 4.0f), vec3(0.0f), 45.0f);
  const TracedPicture picture = byRt(scene, {{8, 8}, 1, 1});
  for (const vec4& texel : picture.radiance) EXPECT_EQ(texel, vec4(0.25f, 0.25f, 0.25f, 0.0f));
}

}  // namespace
}  // namespace tandem::test
