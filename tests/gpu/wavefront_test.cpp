// The path tracer in stages makes the picture of the one kernel, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"

namespace tandem::test {
namespace {

class Wavefront : public GpuFixture {
 protected:
  /// Traces both ways and compares all planes. That both ways ran shows in the memory that stages keep.
  void expectSame(const scene::Scene& scene, trace::PathTraceSettings settings, uint32_t frame = 0,
                  TraceTimes times = {}) {
    settings.inStages = false;
    const TracedPicture one = tracePicture(device(), scene, settings, frame, times);
    settings.inStages = true;
    const TracedPicture stages = tracePicture(device(), scene, settings, frame, times);
    EXPECT_EQ(one.stateBytes, 0u);
    EXPECT_GT(stages.stateBytes, 0u);
    EXPECT_GT(*std::ranges::max_element(one.words), 0u);
    size_t differing = 0;
    for (size_t i = 0; i < one.words.size(); i++) differing += one.words[i] != stages.words[i] ? 1 : 0;
    EXPECT_EQ(differing, 0u) << "of " << one.words.size() << " words";
  }
};

scene::Scene builtin(std::string_view name) { return *scene::makeBuiltin(name); }

/// A single-sided quad that faces away before a veiled one, a masked one and a lit sphere: what the camera looks
/// through, and what rays pass by chance.
scene::Scene veils() {
  scene::Scene scene;
  const uint32_t white = scene::addMaterial(scene, "white", vec3(0.8f), 0.5f);
  const uint32_t veil = scene::addMaterial(scene, "veil", vec3(0.7f, 0.3f, 0.3f), 0.9f);
  scene.materials[veil].alphaMode = scene::AlphaMode::Blend;
  scene.materials[veil].baseColor.a = 0.4f;
  scene.materials[veil].doubleSided = true;
  scene::addShape(scene, "sphere", scene::makeSphere(0.8f, 24, 12, white));
  const uint32_t inside = scene::addShape(scene, "shell", scene::makeSphere(0.9f, 24, 12, white));
  scene.nodes[inside].scale = vec3(-1.0f);
  const uint32_t before = scene::addShape(scene, "veil", scene::makeBox(vec3(1.0f, 1.0f, 0.01f), veil));
  scene.nodes[before].translation = vec3(0.2f, 0.1f, 1.5f);
  scene::addSun(scene, vec3(-0.3f, -1.0f, -0.5f), vec3(1.0f), 2.0f);
  scene::addCamera(scene, "camera", vec3(0.0f, 0.5f, 4.0f), vec3(0.0f), 45.0f);
  scene.environment = scene::uniformEnvironment(vec3(0.5f, 0.6f, 0.8f));
  return scene;
}

TEST_F(Wavefront, OneTreeUnderSunAndSky) { expectSame(builtin("terrain?triangles=20000"), {{61, 37}, 3, 2}); }

TEST_F(Wavefront, EmissiveTriangles) { expectSame(builtin("cornell"), {{48, 48}, 4, 3, 7}); }

TEST_F(Wavefront, ThingsThatMove) { expectSame(builtin("spinners"), {{64, 36}, 2, 2}, 5); }

TEST_F(Wavefront, SkinsAndMorphTargets) {
  expectSame(builtin("skinned?vertices=3000"), {{64, 36}, 2, 2}, 5, {0.6, 0.58, 0.62});
}

TEST_F(Wavefront, BackFacesAndVeils) { expectSame(veils(), {{53, 41}, 5, 3}); }

TEST_F(Wavefront, NoBouncesOnePixel) {
  expectSame(builtin("cornell"), {{1, 1}, 1, 0});
  expectSame(builtin("cornell"), {{3, 2}, 2, 90});
}

TEST_F(Wavefront, InSeveralRounds) {
  trace::PathTraceSettings settings{{50, 45}, 2, 2};
  settings.stateBytes = 1;  // a row of groups at a time
  expectSame(veils(), settings);
}

TEST_F(Wavefront, EachWayOfFindingLight) {
  for (const auto strategy : {trace::LightStrategy::LightSampling, trace::LightStrategy::BsdfSampling}) {
    trace::PathTraceSettings settings{{32, 32}, 2, 2};
    settings.strategy = strategy;
    expectSame(builtin("cornell"), settings);
  }
}

}  // namespace
}  // namespace tandem::test
