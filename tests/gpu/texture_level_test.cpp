// The level of a texture by ray cones, by pictures whose answers are known: what is near keeps every texel, what is far
// is its mean without shimmering, at one sample a pixel; in mirrors as seen directly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"

namespace tandem::test {
namespace {

constexpr uint32_t kTexels = 256;
constexpr float kHalf = 1.0f;  // of the quad, metres

class TextureLevel : public GpuFixture {};

/// Squares of `cell` x `cell` texels, black and white.
scene::Image checker(uint32_t cell) {
  scene::Image image{"checker", kTexels, kTexels, {}};
  for (uint32_t y = 0; y < kTexels; y++) {
    for (uint32_t x = 0; x < kTexels; x++) {
      const uint8_t c = (x / cell + y / cell) % 2 ? 255 : 0;
      image.pixels.insert(image.pixels.end(), {c, c, c, 255});
    }
  }
  return image;
}

scene::TextureUse addTexture(scene::Scene& scene, scene::Image image, bool linear = true) {
  scene.images.push_back(std::move(image));
  scene::Texture texture;
  texture.image = uint32_t(scene.images.size() - 1);
  texture.linearFilter = linear;
  scene.textures.push_back(texture);
  scene::TextureUse use;
  use.texture = uint32_t(scene.textures.size() - 1);
  return use;
}

/// A quad that shines with its texture, `repeats` times across, filling an orthographic view.
scene::Scene makeScene(uint32_t cell, float repeats, bool linear = true) {
  scene::Scene scene;
  const uint32_t material = scene::addMaterial(scene, "checker", vec3(1), 1.0f);
  scene.materials[material].unlit = true;
  scene.materials[material].baseColorTexture = addTexture(scene, checker(cell), linear);
  scene.materials[material].baseColorTexture.scale = vec2(repeats);
  scene::addShape(scene, "quad", scene::makeQuad({-kHalf, -kHalf, 0}, {2 * kHalf, 0, 0}, {0, 2 * kHalf, 0}, material));
  scene::addCamera(scene, "camera", vec3(0, 0, 5), vec3(0), 40.0f);
  scene.lenses[0].orthographic = true;
  scene.lenses[0].xmag = scene.lenses[0].ymag = kHalf;
  return scene;
}

trace::PathTraceSettings settings(uint32_t side, uint32_t samples = 1, uint32_t bounces = 0) {
  return {.size = {side, side}, .samples = samples, .bounces = bounces};
}

struct Spread {
  float least = 1e9f, most = -1e9f;
  double mean = 0.0;
};

/// Over the middle of the picture, several frames: other random numbers each.
Spread spreadOf(gpu::Device& device, const scene::Scene& scene, const trace::PathTraceSettings& how) {
  Spread spread;
  size_t count = 0;
  for (uint32_t frame = 0; frame < 4; frame++) {
    const TracedPicture picture = tracePicture(device, scene, how, frame);
    for (uint32_t y = how.size.height / 4; y < how.size.height * 3 / 4; y++) {
      for (uint32_t x = how.size.width / 4; x < how.size.width * 3 / 4; x++) {
        const float value = picture.radiance[picture.at(x, y)].y;
        spread.least = std::min(spread.least, value);
        spread.most = std::max(spread.most, value);
        spread.mean += value;
        count++;
      }
    }
  }
  spread.mean /= double(count);
  return spread;
}

TEST_F(TextureLevel, FarAwayACheckerIsItsMeanAndDoesNotShimmer) {
  // 16 texels a pixel, then 60 (not a power of two), then all the texture in less than a pixel.
  for (const float repeats : {2.0f, 7.5f, 64.0f}) {
    const Spread spread = spreadOf(device(), makeScene(1, repeats), settings(32));
    EXPECT_NEAR(spread.least, 0.5f, 0.01f) << repeats;
    EXPECT_NEAR(spread.most, 0.5f, 0.01f) << repeats;
  }
}

TEST_F(TextureLevel, NearByEveryTexelIsSeen) {
  // 4 pixels a texel, unfiltered: black or white, as the texel says.
  const uint32_t side = 64;
  const float repeats = float(side) / 4.0f / kTexels;
  const TracedPicture picture = tracePicture(device(), makeScene(1, repeats, false), settings(side));
  for (uint32_t y = 0; y < side; y++) {
    for (uint32_t x = 0; x < side; x++) {
      const float expected = (x / 4 + y / 4) % 2 ? 1.0f : 0.0f;
      ASSERT_EQ(picture.radiance[picture.at(x, y)].y, expected) << x << ", " << y;
    }
  }
}

TEST_F(TextureLevel, ContrastGoesWhereThePixelOutgrowsTheSquares) {
  // Squares of 8 texels. At 2 texels a pixel they stand sharp, at 32 they are gone.
  const Spread sharp = spreadOf(device(), makeScene(8, 0.25f), settings(32));
  EXPECT_LT(sharp.least, 0.01f);
  EXPECT_GT(sharp.most, 0.99f);
  const Spread gone = spreadOf(device(), makeScene(8, 4.0f), settings(32));
  EXPECT_NEAR(gone.least, 0.5f, 0.01f);
  EXPECT_NEAR(gone.most, 0.5f, 0.01f);
}

TEST_F(TextureLevel, ManySamplesEachStandForTheirShare) {
  // 16 texels a pixel: one sample takes level 4; of 256, each takes its sixteenth of the width: level 0, and black or
  // white. The mean is the same.
  const scene::Scene scene = makeScene(16, 2.0f, false);
  const Spread one = spreadOf(device(), scene, settings(32)), many = spreadOf(device(), scene, settings(32, 256));
  EXPECT_NEAR(one.mean, 0.5, 0.02);
  EXPECT_NEAR(many.mean, 0.5, 0.02);
  EXPECT_LT(many.least, 0.3f);
  EXPECT_GT(many.most, 0.7f);
}

TEST_F(TextureLevel, ConesWidenWithDistance) {
  // A floor of squares of 8 texels from near the eye to far away: bright and dark squares below, grey at the horizon.
  scene::Scene scene = makeScene(8, 1.0f);
  scene.meshes[0] = scene::makeQuad({-200, 0, 200}, {400, 0, 0}, {0, 0, -400}, 0);
  scene.materials[0].baseColorTexture.scale = vec2(400.0f / 16.0f);  // 0.5 m a square
  scene.nodes.pop_back();
  scene.lenses.clear();
  scene::addCamera(scene, "camera", vec3(0, 1, 0), vec3(0, 0.97f, -1), 50.0f);
  const TracedPicture picture = tracePicture(device(), scene, settings(64));
  const auto rangeOfRow = [&](uint32_t y) {
    float least = 1e9f, most = -1e9f;
    for (uint32_t x = 0; x < 64; x++) {
      least = std::min(least, picture.radiance[picture.at(x, y)].y);
      most = std::max(most, picture.radiance[picture.at(x, y)].y);
    }
    return most - least;
  };
  EXPECT_GT(rangeOfRow(60), 0.95f);
  EXPECT_LT(rangeOfRow(33), 0.1f);
}

TEST_F(TextureLevel, MirrorsShowTheSameLevelsAndRoughOnesBlur) {
  // The camera looks away from the quad, at a mirror that shows it.
  const auto reflected = [&](uint32_t cell, float repeats, float roughness) {
    scene::Scene scene = makeScene(cell, repeats);
    scene.nodes.pop_back();
    scene.lenses.clear();
    scene.meshes[0] = scene::makeQuad({-8, -8, 0}, {16, 0, 0}, {0, 16, 0}, 0);
    const uint32_t mirror = scene::addMaterial(scene, "mirror", vec3(1), roughness);
    scene.materials[mirror].metallic = 1.0f;
    scene::addShape(scene, "mirror", scene::makeQuad({8, -8, 4}, {-16, 0, 0}, {0, 16, 0}, mirror));
    scene::addCamera(scene, "camera", vec3(0, 0, 2), vec3(0, 0, 4), 20.0f);
    return spreadOf(device(), scene, settings(32, 1, 1));
  };
  const Spread far = reflected(1, 16.0f, 0.0f);  // 4 m away through 6 m: 16 texels a pixel and more
  EXPECT_NEAR(far.least, 0.5f, 0.02f);
  EXPECT_NEAR(far.most, 0.5f, 0.02f);
  const Spread near = reflected(64, 1.0f, 0.0f);  // squares of 4 m
  EXPECT_LT(near.least, 0.05f);
  EXPECT_GT(near.most, 0.95f);
  // One sample of a rough mirror stands for all of its lobe: no longer black or white.
  const Spread rough = reflected(16, 1.0f, 0.6f), smooth = reflected(16, 1.0f, 0.0f);
  EXPECT_GT(smooth.most - smooth.least, 0.9f);
  EXPECT_LT(rough.most - rough.least, 0.7f);
}

TEST_F(TextureLevel, NormalsTooSmallToSeeMakeASurfaceRough) {
  // Ridges of one texel that lean by the angle of (0.6, 0.8) to either side, far away: their mean is upright and 0.8
  // long, so by Toksvig alpha^2 grows by 2 * (1 - 0.8) / 0.8 = 0.5. Near by they are the ridges that they are.
  const auto lit = [&](bool mapped, float repeats, float roughness) {
    scene::Scene scene = makeScene(1, repeats);
    scene::Material& material = scene.materials[0];
    material.unlit = false;
    material.roughness = roughness;
    material.metallic = 1.0f;
    material.baseColorTexture = {};
    if (mapped) {
      for (size_t i = 0; i < scene.images[0].pixels.size(); i += 4) {
        const uint8_t normal[4] = {uint8_t(i / 4 % 2 ? 204 : 51), 128, 230, 255};
        std::copy_n(normal, 4, scene.images[0].pixels.begin() + std::ptrdiff_t(i));
      }
      material.normalTexture.texture = 0;
      material.normalTexture.scale = vec2(repeats);
      scene.meshes[0].tangents.assign(scene.meshes[0].positions.size(), vec4(1, 0, 0, 1));
    }
    scene::addSun(scene, vec3(-0.4f, -0.3f, -1), vec3(1), 3.0f);
    return spreadOf(device(), scene, settings(32));
  };
  const float alpha = 0.3f * 0.3f, rough = std::sqrt(std::sqrt(alpha * alpha + 0.5f));
  const Spread far = lit(true, 64.0f, 0.3f), plain = lit(false, 64.0f, rough);
  EXPECT_GT(plain.mean, 0.05);
  EXPECT_NEAR(far.mean, plain.mean, 0.02 * plain.mean);
  EXPECT_LT(far.most - far.least, 0.02f * far.most);
  const Spread near = lit(true, 0.01f, 0.3f);
  EXPECT_GT(near.most, 2.0f * near.least);
  EXPECT_GT(std::abs(near.mean - plain.mean), 0.1 * plain.mean);
}

TEST_F(TextureLevel, AlphaIsTestedSharp) {
  // A mask of one-texel squares far away: half of the light comes through, each sample all of it or nothing; by the
  // mean alpha of a smaller level, which lies on the cutoff, it would be all or nothing everywhere.
  scene::Scene scene = makeScene(1, 2.0f, false);
  for (size_t i = 0; i < scene.images[0].pixels.size(); i += 4) {
    scene.images[0].pixels[i + 3] = scene.images[0].pixels[i];
    for (size_t k = 0; k < 3; k++) scene.images[0].pixels[i + k] = 200;
  }
  scene.materials[0].alphaMode = scene::AlphaMode::Mask;
  const TracedPicture picture = tracePicture(device(), scene, settings(32, 64));
  double coverage = 0.0, light = 0.0;
  for (const vec4& pixel : picture.radiance) {
    coverage += pixel.w;
    light += pixel.y;
    EXPECT_GT(pixel.w, 0.2f);
    EXPECT_LT(pixel.w, 0.8f);
  }
  EXPECT_NEAR(coverage / 1024, 0.5, 0.02);
  // What is hit has the colour of what is there, not of what the mask hides.
  EXPECT_NEAR(light / coverage, std::pow((200.0 / 255.0 + 0.055) / 1.055, 2.4), 0.01);
}

}  // namespace
}  // namespace tandem::test
