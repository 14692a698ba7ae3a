// White surfaces in white light from everywhere cannot be told from the background: where the model conserves energy,
// every pixel is 1.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"

namespace tandem::test {
namespace {

class Furnace : public GpuFixture {};

struct Case {
  float roughness;
  float metallic;
  float base = 1.0f;
};

/// One sphere, convex, so that one bounce ends in the environment.
scene::Scene makeScene(const Case& c, float scale = 1.0f) {
  scene::Scene scene;
  const uint32_t material = scene::addMaterial(scene, "white", vec3(c.base), c.roughness);
  scene.materials[material].metallic = c.metallic;
  scene::addShape(scene, "sphere", scene::makeSphere(scale, 256, 128, material));
  scene::addCamera(scene, "camera", vec3(0.0f, 0.0f, 4.0f * scale), vec3(0.0f), 40.0f);
  scene.environment = scene::uniformEnvironment(vec3(1.0f));
  return scene;
}

/// Blocks of 8 x 8 pixels: no block's mean exceeds `most` by more than four of its standard errors.
void expectNowhereAbove(const TracedPicture& picture, double most) {
  for (uint32_t by = 0; by < picture.size.height; by += 8) {
    for (uint32_t bx = 0; bx < picture.size.width; bx += 8) {
      double sum = 0.0, squares = 0.0;
      for (uint32_t k = 0; k < 64; k++) {
        const double value = picture.radiance[picture.at(bx + k % 8, by + k / 8)].y;
        sum += value;
        squares += value * value;
      }
      const double mean = sum / 64.0;
      const double error = std::sqrt(std::max(squares / 64.0 - mean * mean, 0.0) / 63.0);
      EXPECT_LE(mean, most + 4.0 * error) << "block at " << bx << ", " << by;
    }
  }
}

TEST_F(Furnace, WhiteVanishesAtAnyRoughnessAndMetallic) {
  for (const float roughness : {0.0f, 0.1f, 0.25f, 0.5f, 0.75f, 1.0f}) {
    for (const float metallic : {0.0f, 0.5f, 1.0f}) {
      SCOPED_TRACE(testing::Message() << "roughness " << roughness << ", metallic " << metallic);
      const TracedPicture picture = tracePicture(device(), makeScene({roughness, metallic}), {{64, 64}, 64, 1});
      EXPECT_NEAR(picture.mean().y, 1.0, 0.005);
      expectNowhereAbove(picture, 1.005);
      // The first hit's albedo says the same without tracing on. In eight bits.
      for (size_t i = 0; i < picture.albedo.size(); i++) {
        if (picture.depth[i] < 1e30f && picture.albedo[i].w == 1.0f) {
          EXPECT_NEAR(picture.albedo[i].y, 1.0, 0.006);
        }
      }
    }
  }
}

TEST_F(Furnace, GreyIsDarker) {
  for (const float metallic : {0.0f, 1.0f}) {
    const TracedPicture picture = tracePicture(device(), makeScene({0.6f, metallic, 0.5f}), {{64, 64}, 16, 1});
    EXPECT_LT(picture.radiance[picture.at(32, 32)].y, 0.7f);
    expectNowhereAbove(picture, 1.005);
  }
}

TEST_F(Furnace, LightSamplingAloneFindsAll) {
  // No bounce at all: the last vertex counts light sampling in full.
  const TracedPicture picture = tracePicture(device(), makeScene({0.7f, 0.0f}), {{64, 64}, 256, 0});
  EXPECT_NEAR(picture.mean().y, 1.0, 0.005);
}

TEST_F(Furnace, ManyBouncesBetweenWhiteSpheres) {
  const auto scene = scene::makeBuiltin("furnace");
  ASSERT_TRUE(scene);
  const TracedPicture picture = tracePicture(device(), *scene, {{64, 64}, 64, 32});
  EXPECT_NEAR(picture.mean().y, 1.0, 0.005);
  expectNowhereAbove(picture, 1.005);
}

TEST_F(Furnace, MillimetresAndTenKilometres) {
  for (const float scale : {1e-3f, 1e4f}) {
    SCOPED_TRACE(scale);
    const TracedPicture picture = tracePicture(device(), makeScene({0.5f, 0.0f}, scale), {{64, 64}, 64, 1});
    EXPECT_NEAR(picture.mean().y, 1.0, 0.005);
    expectNowhereAbove(picture, 1.005);
  }
}

}  // namespace
}  // namespace tandem::test
