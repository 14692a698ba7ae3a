// Scenes whose pictures can be worked out on paper: a lit sphere, punctual lights, holes and veils, motion.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"

namespace tandem::test {
namespace {

using glm::dvec3;
constexpr float kPi = std::numbers::pi_v<float>;

class LitScene : public GpuFixture {};

uint32_t addLambert(scene::Scene& scene, vec3 base) {
  const uint32_t material = scene::addMaterial(scene, "lambert", base, 1.0f);
  scene.materials[material].specular = 0.0f;
  return material;
}

/// A camera that looks straight down on the XZ plane from `height`; x to the right, z downwards; `half` metres to each
/// side.
void addMapCamera(scene::Scene& scene, float height, float half) {
  scene::addCamera(scene, "map", vec3(0.0f, height, 1e-4f), vec3(0.0f), 40.0f);
  scene.nodes.back().rotation = glm::angleAxis(-0.5f * kPi, vec3(1.0f, 0.0f, 0.0f));
  scene.nodes.back().translation = vec3(0.0f, height, 0.0f);
  scene.lenses.back().orthographic = true;
  scene.lenses.back().ymag = half;
  scene.lenses.back().xmag = half;
}

void addFloor(scene::Scene& scene, uint32_t material, float half, float y = 0.0f) {
  scene::addShape(
      scene, "floor",
      scene::makeQuad(vec3(-half, y, -half), vec3(0.0f, 0.0f, 2.0f * half), vec3(2.0f * half, 0.0f, 0.0f), material));
}

scene::Light& addLight(scene::Scene& scene, scene::LightKind kind, vec3 position, float intensity) {
  scene::Node node;
  node.translation = position;
  node.rotation = glm::angleAxis(-0.5f * kPi, vec3(1.0f, 0.0f, 0.0f));  // shines downwards
  node.light = static_cast<uint32_t>(scene.lights.size());
  scene.nodes.push_back(node);
  scene::Light light;
  light.kind = kind;
  light.intensity = intensity;
  scene.lights.push_back(light);
  return scene.lights.back();
}

struct SphereView {
  bool whole = false;  // the pixel and its surroundings lie well inside the disc and the light
  double radiance = 0.0, depth = 0.0;
  dvec3 normal{0.0};
};

/// A pixel's view of the sphere of radius `scale` from 4 * scale away, lit from (1, 1, 1): exact, averaged over the
/// pixel.
SphereView lookAtSphere(uint32_t x, uint32_t y, uint32_t side, double scale) {
  SphereView view{true};
  const double tangent = std::tan(20.0 * std::numbers::pi / 180.0);
  const dvec3 sun = glm::normalize(dvec3(1.0));
  constexpr int kSteps = 8;
  for (int k = 0; k < kSteps * kSteps; k++) {
    const double px = (x + (k % kSteps + 0.5) / kSteps) / side * 2.0 - 1.0,
                 py = (y + (k / kSteps + 0.5) / kSteps) / side * 2.0 - 1.0;
    const dvec3 d = glm::normalize(dvec3(px * tangent, -py * tangent, -1.0)), eye(0.0, 0.0, 4.0 * scale);
    const double b = glm::dot(eye, d), discriminant = b * b - glm::dot(eye, eye) + scale * scale;
    if (discriminant <= 0.0) return {};
    const double t = -b - std::sqrt(discriminant);
    const dvec3 n = (eye + t * d) / scale;
    if (glm::dot(n, sun) < 0.1 || -glm::dot(n, d) < 0.3) view.whole = false;
    view.radiance += 0.5 / std::numbers::pi * 2.0 * std::numbers::pi * glm::dot(n, sun) / (kSteps * kSteps);
    view.depth += -t * d.z / (kSteps * kSteps);
    view.normal += n / double{kSteps * kSteps};
  }
  view.normal = glm::normalize(view.normal);
  return view;
}

void expectTextbookSphere(gpu::Device& device, scene::Scene scene, float scale) {
  for (scene::Mesh& mesh : scene.meshes) {
    for (vec3& p : mesh.positions) p *= scale;
  }
  for (scene::Node& node : scene.nodes) node.translation *= scale;
  constexpr uint32_t kSide = 96;
  const TracedPicture picture = tracePicture(device, scene, {{kSide, kSide}, 64, 0});
  uint32_t compared = 0;
  for (uint32_t y = 0; y < kSide; y++) {
    for (uint32_t x = 0; x < kSide; x++) {
      const SphereView expected = lookAtSphere(x, y, kSide, static_cast<double>(scale));
      if (!expected.whole) continue;
      compared++;
      const size_t at = picture.at(x, y);
      EXPECT_NEAR(picture.radiance[at].x, expected.radiance, 0.005 * expected.radiance) << x << ", " << y;
      EXPECT_EQ(picture.radiance[at].w, 1.0f);
      EXPECT_NEAR(picture.albedo[at].x, 0.5, 0.003);
      EXPECT_NEAR(picture.depth[at] / scale, expected.depth / static_cast<double>(scale), 0.05);
      EXPECT_GT(glm::dot(dvec3(picture.normal[at]), expected.normal), 0.998);
      EXPECT_EQ(picture.motion[at], vec2(0.0f));
    }
  }
  EXPECT_GT(compared, 1000u);
}

TEST_F(LitScene, SphereHasTheTextbookRadiance) {
  const auto scene = scene::makeBuiltin("sphere");
  ASSERT_TRUE(scene);
  expectTextbookSphere(device(), *scene, 1.0f);
}

TEST_F(LitScene, SphereOfAMillimetreAndOfTenKilometres) {
  const auto scene = scene::makeBuiltin("sphere");
  ASSERT_TRUE(scene);
  expectTextbookSphere(device(), *scene, 1e-3f);
  expectTextbookSphere(device(), *scene, 1e4f);
}

TEST_F(LitScene, PointAndSpotLightsFallOffAsKhronosSays) {
  constexpr uint32_t kSide = 64;
  for (const bool spot : {false, true}) {
    for (const float range : {0.0f, 2.5f}) {
      SCOPED_TRACE(testing::Message() << (spot ? "spot" : "point") << ", range " << range);
      scene::Scene scene;
      addFloor(scene, addLambert(scene, vec3(0.5f)), 3.0f);
      scene::Light& light =
          addLight(scene, spot ? scene::LightKind::Spot : scene::LightKind::Point, vec3(0.0f, 1.5f, 0.0f), 30.0f);
      light.range = range;
      light.innerCone = 0.3f;
      light.outerCone = 0.8f;
      addMapCamera(scene, 5.0f, 2.0f);
      const TracedPicture picture = tracePicture(device(), scene, {{kSide, kSide}, 64, 0});
      for (uint32_t y = 0; y < kSide; y += 3) {
        for (uint32_t x = 0; x < kSide; x += 3) {
          double expected = 0.0;
          for (int k = 0; k < 16; k++) {  // over the pixel
            const double px = ((x + (k % 4 + 0.5) / 4.0) / kSide * 2.0 - 1.0) * 2.0,
                         pz = ((y + (k / 4 + 0.5) / 4.0) / kSide * 2.0 - 1.0) * 2.0;
            const double d = std::sqrt(px * px + pz * pz + 1.5 * 1.5), cosine = 1.5 / d;
            const double window =
                range > 0.0f ? std::clamp(1.0 - std::pow(d / static_cast<double>(range), 4.0), 0.0, 1.0) : 1.0;
            const double cone = std::clamp((cosine - std::cos(0.8)) / (std::cos(0.3) - std::cos(0.8)), 0.0, 1.0);
            expected += 0.5 / std::numbers::pi * 30.0 * cosine / (d * d) * window * (spot ? cone * cone : 1.0) / 16.0;
          }
          EXPECT_NEAR(picture.radiance[picture.at(x, y)].x, expected, 0.01 * expected + 0.002) << x << ", " << y;
        }
      }
    }
  }
}

TEST_F(LitScene, VeilsLetTheirShareThrough) {
  scene::Scene scene;
  addFloor(scene, addLambert(scene, vec3(0.5f)), 3.0f);
  addLight(scene, scene::LightKind::Directional, vec3(0.0f), 2.0f * kPi);
  const uint32_t veil = addLambert(scene, vec3(0.0f));
  scene.materials[veil].baseColor = vec4(0.0f, 0.0f, 0.0f, 0.25f);
  scene.materials[veil].alphaMode = scene::AlphaMode::Blend;
  addFloor(scene, veil, 0.5f, 1.0f);  // over the middle
  const uint32_t hole = addLambert(scene, vec3(0.0f));
  scene.materials[hole].baseColor.w = 0.4f;
  scene.materials[hole].alphaMode = scene::AlphaMode::Mask;
  scene.materials[hole].alphaCutoff = 0.5f;
  addFloor(scene, hole, 3.0f, 1.5f);  // over all, and all of it cut away
  addMapCamera(scene, 5.0f, 1.0f);
  const TracedPicture picture = tracePicture(device(), scene, {{32, 32}, 256, 0});
  // Beside the veil: base / pi * lux. Under it the light comes through once, and the look once more.
  EXPECT_NEAR(picture.radiance[picture.at(1, 1)].x, 1.0, 0.005);
  double sum = 0.0;
  for (uint32_t y = 12; y < 20; y++) {
    for (uint32_t x = 12; x < 20; x++) sum += picture.radiance[picture.at(x, y)].x / 64.0;
  }
  EXPECT_NEAR(sum, 0.75 * 0.75, 0.02);
}

TEST_F(LitScene, UnlitShowsItsColourAndSkyHasNoCoverage) {
  scene::Scene scene;
  const uint32_t sign = scene::addMaterial(scene, "sign", vec3(0.2f, 0.4f, 0.6f), 1.0f);
  scene.materials[sign].unlit = true;
  addFloor(scene, sign, 0.5f);
  addMapCamera(scene, 5.0f, 1.0f);
  scene.environment = scene::uniformEnvironment(vec3(3.0f));
  const TracedPicture picture = tracePicture(device(), scene, {{32, 32}, 4, 4});
  const vec4 middle = picture.radiance[picture.at(16, 16)], corner = picture.radiance[picture.at(0, 0)];
  EXPECT_LT(glm::distance(middle, vec4(0.2f, 0.4f, 0.6f, 1.0f)), 2e-3f);
  EXPECT_LT(glm::distance(corner, vec4(3.0f, 3.0f, 3.0f, 0.0f)), 1e-2f);
  EXPECT_EQ(picture.depth[0], 1e30f);
  EXPECT_NEAR(picture.depth[picture.at(16, 16)], 5.0f, 1e-3f);
}

TEST_F(LitScene, OneSidedEmittersShineForward) {
  for (const bool doubleSided : {false, true}) {
    scene::Scene scene;
    addFloor(scene, addLambert(scene, vec3(0.5f)), 3.0f);
    const uint32_t lamp = scene::addEmitter(scene, "lamp", vec3(10.0f));
    scene.materials[lamp].doubleSided = doubleSided;
    addFloor(scene, lamp, 0.5f, 2.0f);  // faces up, away from the floor
    addMapCamera(scene, 1.0f, 1.0f);    // below the lamp
    const float light = tracePicture(device(), scene, {{16, 16}, 16, 1}).mean().x;
    if (doubleSided) {
      EXPECT_GT(light, 0.1f);
    } else {
      EXPECT_EQ(light, 0.0f);
    }
  }
}

TEST_F(LitScene, MotionIsThatOfCameraAndObject) {
  scene::Scene scene;
  const uint32_t grey = addLambert(scene, vec3(0.5f));
  addFloor(scene, grey, 0.25f);  // moves
  const auto mover = static_cast<uint32_t>(scene.nodes.size() - 1);
  addFloor(scene, grey, 3.0f, -1.0f);  // stands
  addMapCamera(scene, 5.0f, 1.0f);
  const auto channel = [](uint32_t node, vec3 from, vec3 to) {
    scene::Channel c;
    c.node = node;
    c.times = {0.0f, 1.0f};
    c.values = {from.x, from.y, from.z, to.x, to.y, to.z};
    return c;
  };
  // One metre is 32 pixels. The object goes right by 0.2 m a second, the camera towards +z (down the picture) by 0.1 m.
  const auto camera = static_cast<uint32_t>(scene.nodes.size() - 1);
  scene.animations.push_back({"move",
                              {channel(mover, vec3(0.0f), vec3(0.2f, 0.0f, 0.0f)),
                               channel(camera, vec3(0.0f, 5.0f, 0.0f), vec3(0.0f, 5.0f, 0.1f))}});
  const TracedPicture picture = tracePicture(device(), scene, {{64, 64}, 1, 0}, 0, {0.25, 0.0, 0.5});
  EXPECT_LT(glm::distance(picture.motion[picture.at(32, 32)], vec2(3.2f, -1.6f)), 0.02f);
  EXPECT_LT(glm::distance(picture.motion[picture.at(5, 5)], vec2(0.0f, -1.6f)), 0.02f);
}

TEST_F(LitScene, SameNumbersSamePictureOtherNumbersAnother) {
  const auto scene = scene::makeBuiltin("cornell");
  ASSERT_TRUE(scene);
  trace::PathTraceSettings settings{{48, 32}, 2, 2, 5};
  const std::vector<uint32_t> first = tracePicture(device(), *scene, settings, 3).words;
  EXPECT_EQ(first, tracePicture(device(), *scene, settings, 3).words);
  EXPECT_NE(first, tracePicture(device(), *scene, settings, 4).words);
  settings.seed = 6;
  EXPECT_NE(first, tracePicture(device(), *scene, settings, 3).words);
}

TEST_F(LitScene, BrokenGeometryLeavesNoBrokenPixels) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  scene::Scene scene;
  const uint32_t glossy = scene::addMaterial(scene, "glossy", vec3(1.0f), 0.0f);
  scene::Mesh mesh = scene::makeSphere(1.0f, 32, 16, glossy);
  for (size_t i = 0; i < mesh.normals.size(); i += 3) mesh.normals[i] = i % 2 ? vec3(0.0f) : vec3(kNan);
  mesh.indices.insert(mesh.indices.end(), {0, 0, 0, 1, 1, 2});
  scene::addShape(scene, "broken", std::move(mesh));
  const uint32_t lamp = scene::addEmitter(scene, "lamp", vec3(1e30f));
  scene::addShape(scene, "lamp",
                  scene::makeQuad(vec3(-1.0f, 2.0f, -1.0f), vec3(2.0f, 0.0f, 0.0f), vec3(0.0f, 0.0f, 2.0f), lamp));
  addLight(scene, scene::LightKind::Point, vec3(0.0f, 1.0f, 0.0f), 1e30f);
  scene::addShape(scene, "flat", scene::makeSphere(1.0f, 8, 4, glossy), vec3(0.5f));
  scene.nodes.back().scale = vec3(1.0f, 0.0f, 1.0f);
  scene::addCamera(scene, "camera", vec3(0.0f, 0.5f, 4.0f), vec3(0.0f), 60.0f);
  scene.environment = scene::defaultSky();
  const TracedPicture picture = tracePicture(device(), scene, {{48, 48}, 8, 4});
  for (size_t i = 0; i < picture.radiance.size(); i++) {
    for (int k = 0; k < 3; k++) ASSERT_TRUE(picture.radiance[i][k] >= 0.0f && picture.radiance[i][k] <= 65504.0f) << i;
    ASSERT_TRUE(std::isfinite(picture.depth[i]) && std::isfinite(picture.motion[i].x) &&
                std::isfinite(picture.motion[i].y))
        << i;
  }
}

TEST_F(LitScene, AnEmptySceneIsItsSky) {
  scene::Scene scene;
  scene.environment = scene::uniformEnvironment(vec3(0.25f));
  const TracedPicture picture = tracePicture(device(), scene, {{8, 8}, 1, 4});
  EXPECT_NEAR(picture.mean().x, 0.25f, 1e-3f);
}

}  // namespace
}  // namespace tandem::test
