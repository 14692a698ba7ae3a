// KHR_materials_specular: a texel does what a factor of the same value does, and nothing where the extension says so.
// One sun, one surface, no bounce: every pixel is the surface's f times the sun's light, without noise.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "scene/builtin_shapes.h"
#include "shaders/shared/path_trace.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"
#include "trace/host_scene.h"

namespace tandem::test {
namespace {

using Texel = std::array<uint8_t, 4>;

constexpr float kPi = std::numbers::pi_v<float>;
constexpr float kSunAngle = 0.5f;  // radians from the normal
constexpr float kLux = 10.0f;
constexpr uint32_t kSide = 16;

float linearOf(uint8_t srgb) {
  const float c = static_cast<float>(srgb) / 255.0f;
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

/// A square of 2 m seen from straight above; u runs to the right. `scene.materials[0]` is its material.
scene::Scene makeScene(vec3 base) {
  scene::Scene scene;
  scene::addMaterial(scene, "shiny", base, 0.5f);
  scene::addShape(scene, "floor",
                  scene::makeQuad(vec3(-1.0f, 0.0f, 1.0f), vec3(2.0f, 0.0f, 0.0f), vec3(0.0f, 0.0f, -2.0f), 0));
  scene::addSun(scene, vec3(std::sin(kSunAngle), -std::cos(kSunAngle), 0.0f), vec3(1.0f), kLux);
  scene::addCamera(scene, "above", vec3(0.0f, 5.0f, 1e-4f), vec3(0.0f), 40.0f);
  scene.nodes.back().rotation = glm::angleAxis(-0.5f * kPi, vec3(1.0f, 0.0f, 0.0f));
  scene.nodes.back().translation = vec3(0.0f, 5.0f, 0.0f);
  scene.lenses.back().orthographic = true;
  scene.lenses.back().ymag = 1.0f;
  scene.lenses.back().xmag = 1.0f;
  return scene;
}

/// A texture of one row.
scene::TextureUse addTexture(scene::Scene& scene, const std::vector<Texel>& texels) {
  scene::Image image{"row", static_cast<uint32_t>(texels.size()), 1, {}};
  for (const Texel& t : texels) image.pixels.insert(image.pixels.end(), t.begin(), t.end());
  scene::Texture texture;
  texture.image = static_cast<uint32_t>(scene.images.size());
  texture.linearFilter = false;
  scene.images.push_back(std::move(image));
  scene.textures.push_back(texture);
  return {static_cast<uint32_t>(scene.textures.size() - 1)};
}

class SpecularTextures : public GpuFixture {
 protected:
  /// Radiance in the middle of the left and of the right half.
  std::array<vec3, 2> halves(const scene::Scene& scene) {
    const TracedPicture picture = tracePicture(device(), scene, {{kSide, kSide}, 1, 0});
    return {vec3(picture.radiance[picture.at(kSide / 4, kSide / 2)]),
            vec3(picture.radiance[picture.at(3 * kSide / 4, kSide / 2)])};
  }
  vec3 look(const scene::Scene& scene) { return halves(scene)[0]; }
};

/// Relative, per channel. Planes hold half floats (5e-4), and samplers may decode sRGB coarsely.
void expectSame(vec3 found, vec3 expected, float tolerance = 0.01f) {
  for (int k = 0; k < 3; k++) EXPECT_NEAR(found[k], expected[k], tolerance * expected[k]) << "channel " << k;
}

TEST_F(SpecularTextures, NoStrengthLeavesTheTextbookDiffuse) {
  scene::Scene scene = makeScene(vec3(0.5f, 0.25f, 1.0f));
  const vec3 lambert = vec3(0.5f, 0.25f, 1.0f) / kPi * kLux * std::cos(kSunAngle);
  EXPECT_GT(look(scene).x, 1.05f * lambert.x);
  scene.materials[0].specularTexture = addTexture(scene, {{255, 255, 255, 0}});
  expectSame(look(scene), lambert, 0.002f);
}

TEST_F(SpecularTextures, TexelsAreFactors) {
  // A black base: all that is seen is the reflection. The unused channels say something else.
  scene::Scene textured = makeScene(vec3(0.0f));
  textured.materials[0].specularTexture = addTexture(textured, {{0, 0, 0, 128}});
  textured.materials[0].specularColorTexture = addTexture(textured, {{137, 255, 0, 0}});
  textured.materials[0].specular = 0.75f;
  textured.materials[0].specularColor = vec3(1.0f, 0.5f, 1.0f);
  scene::Scene plain = makeScene(vec3(0.0f));
  plain.materials[0].specular = 0.75f * 128.0f / 255.0f;
  plain.materials[0].specularColor = vec3(linearOf(137), 0.5f, 0.0f);
  const vec3 expected = look(plain);
  EXPECT_GT(expected.x, 0.01f);
  EXPECT_GT(expected.y, 1.5f * expected.x);
  expectSame(look(textured), expected);
}

TEST_F(SpecularTextures, ColourIsLimitedAfterItsTextureAndBeforeTheStrength) {
  // F0 = 0.04 * 50 * texel: 0.5 and, limited, 1; then times a half.
  scene::Scene textured = makeScene(vec3(0.0f));
  textured.materials[0].specularColor = vec3(50.0f);
  textured.materials[0].specularColorTexture = addTexture(textured, {{137, 255, 137, 255}});
  textured.materials[0].specularTexture = addTexture(textured, {{255, 255, 255, 128}});
  scene::Scene plain = makeScene(vec3(0.0f));
  plain.materials[0].specularColor = vec3(50.0f * linearOf(137), 25.0f, 50.0f * linearOf(137));
  plain.materials[0].specular = 128.0f / 255.0f;
  expectSame(look(textured), look(plain));
}

TEST_F(SpecularTextures, MetalsKeepTheirReflection) {
  scene::Scene scene = makeScene(vec3(0.9f, 0.6f, 0.3f));
  scene.materials[0].metallic = 1.0f;
  const vec3 without = look(scene);
  scene.materials[0].specularTexture = addTexture(scene, {{255, 255, 255, 0}});
  scene.materials[0].specularColorTexture = addTexture(scene, {{0, 0, 0, 255}});
  EXPECT_GT(without.x, 0.1f);
  expectSame(look(scene), without, 0.001f);
}

TEST_F(SpecularTextures, EachHasItsCoordinatesAndTransform) {
  // Left without, right with a reflection; the second set of coordinates runs the other way, as does a move by half.
  const Texel off{0, 0, 0, 0}, on{255, 255, 255, 255};
  for (const bool color : {false, true}) {
    for (const int way : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << (color ? "colour" : "strength") << ", way " << way);
      scene::Scene scene = makeScene(vec3(0.0f));
      for (const vec2 uv : scene.meshes[0].uv0) scene.meshes[0].uv1.push_back(vec2(1.0f - uv.x, uv.y));
      scene::TextureUse use = addTexture(scene, {off, on});
      if (way == 1) use.uvSet = 1;
      if (way == 2) use.offset = vec2(0.5f, 0.0f);
      scene::Material& material = scene.materials[0];
      (color ? material.specularColorTexture : material.specularTexture) = use;
      const auto seen = halves(scene);
      const float dark = seen[way == 0 ? 0 : 1].x, bright = seen[way == 0 ? 1 : 0].x;
      // A black colour still reflects at grazing angles; here, 0.25 radians from the mirror's axis, hardly.
      EXPECT_LT(dark, 0.01f * bright);
      expectSame(vec3(bright), vec3(look(makeScene(vec3(0.0f))).x), 0.001f);
    }
  }
}

TEST_F(SpecularTextures, ScenesWithoutDoNotPay) {
  scene::Scene scene = makeScene(vec3(0.5f));
  scene.materials[0].baseColorTexture = addTexture(scene, {{255, 255, 255, 255}});
  EXPECT_EQ(trace::HostScene(scene).features() & shared::kFeatureSpecularTextures, 0u);
  scene.materials[0].specularColorTexture = scene.materials[0].baseColorTexture;
  EXPECT_NE(trace::HostScene(scene).features() & shared::kFeatureSpecularTextures, 0u);
}

}  // namespace
}  // namespace tandem::test
