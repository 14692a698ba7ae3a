// Light is found in several ways that must agree: the environment's sampling with numeric integration, and light
// sampling, BSDF sampling and their combination with one another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"
#include "trace/light_table.h"

namespace tandem::test {
namespace {

constexpr uint32_t kThreads = 2048, kPerThread = 64;

struct EnvironmentSums {
  float all, upward, disagree, uniform;
};

struct Push {
  uint64_t sums;
  uint64_t texels, rows, columns, rowGuide, columnGuide;
  uint32_t width, height;
  uint32_t perThread = kPerThread;
};

struct Statistic {
  double mean = 0.0;
  double error = 0.0;  // standard error of the mean
};

template <class Get>
Statistic statistic(size_t count, Get get) {
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double value = get(i);
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(count), mean = sum / n;
  return {mean, std::sqrt(std::max(squares / n - mean * mean, 0.0) / (n - 1.0))};
}

/// Dark, with one small bright spot and a black band.
scene::Environment spottedEnvironment() {
  scene::Environment e{"spots", 64, 32, std::vector<vec3>(64 * 32, vec3(0.1f))};
  std::mt19937 random(3);
  for (uint32_t y = 0; y < 32; y++) {
    for (uint32_t x = 0; x < 64; x++) {
      vec3& texel = e.radiance[size_t{y} * 64 + x];
      texel *= std::generate_canonical<float, 24>(random);
      if (x >= 20 && x < 30) texel = vec3(0.0f);
    }
  }
  e.radiance[9 * 64 + 50] = vec3(400.0f);
  return e;
}

/// Luminance as shading looks it up.
double lookUp(const scene::Environment& e, double u, double v) {
  const double x = u * e.width - 0.5, y = v * e.height - 0.5;
  const int x0 = static_cast<int>(std::floor(x)), y0 = static_cast<int>(std::floor(y));
  const auto width = static_cast<int>(e.width), height = static_cast<int>(e.height);
  const auto texel = [&](int tx, int ty) {
    return double{trace::luminance(
        e.radiance[static_cast<size_t>(std::clamp(ty, 0, height - 1) * width + (tx + width) % width)])};
  };
  return std::lerp(std::lerp(texel(x0, y0), texel(x0 + 1, y0), x - x0),
                   std::lerp(texel(x0, y0 + 1), texel(x0 + 1, y0 + 1), x - x0), y - y0);
}

class LightSampling : public GpuFixture {};

TEST_F(LightSampling, EnvironmentIntegralsAreUnbiased) {
  const scene::Environment e = spottedEnvironment();
  const trace::EnvironmentTable table = trace::makeEnvironmentTable(e);
  const gpu::Buffer sums = upload(device(), std::vector<EnvironmentSums>(kThreads), "sums");
  const gpu::Buffer texels = upload(device(), e.radiance, "texels");
  const gpu::Buffer rows = upload(device(), table.rows, "rows"), columns = upload(device(), table.columns, "columns");
  const gpu::Buffer rowGuide = upload(device(), table.rowGuide, "row guide");
  const gpu::Buffer columnGuide = upload(device(), table.columnGuide, "column guide");
  gpu::runOnce(device(), "environment test", [&](gpu::Commands& commands) {
    commands.barrier();
    commands.dispatch("test/environment_test",
                      Push{sums.address(), texels.address(), rows.address(), columns.address(), rowGuide.address(),
                           columnGuide.address(), e.width, e.height},
                      {kThreads / 64, 1, 1});
    commands.barrier();
  });
  double all = 0.0, upward = 0.0;
  constexpr int kSteps = 16;  // a texel
  const double du = 1.0 / (e.width * kSteps), dv = 1.0 / (e.height * kSteps);
  for (uint32_t y = 0; y < e.height * kSteps; y++) {
    const double latitude = (0.5 - (y + 0.5) * dv) * std::numbers::pi;
    for (uint32_t x = 0; x < e.width * kSteps; x++) {
      const double part = lookUp(e, (x + 0.5) * du, (y + 0.5) * dv) * std::cos(latitude) * 2.0 * std::numbers::pi *
                          std::numbers::pi * du * dv;
      all += part;
      upward += part * std::max(std::sin(latitude), 0.0);
    }
  }
  const auto values = download<EnvironmentSums>(device(), sums, kThreads);
  const Statistic a = statistic(kThreads, [&](size_t i) { return values[i].all / kPerThread; });
  EXPECT_NEAR(a.mean, all, 3.0 * a.error + 1e-4 * all);
  const Statistic up = statistic(kThreads, [&](size_t i) { return values[i].upward / kPerThread; });
  EXPECT_NEAR(up.mean, upward, 3.0 * up.error + 1e-4 * upward);
  // A direction on a border of texels may be taken for either side's.
  EXPECT_LT(statistic(kThreads, [&](size_t i) { return values[i].disagree / kPerThread; }).mean, 2e-3);
  const Statistic whole = statistic(kThreads, [&](size_t i) { return values[i].uniform / kPerThread; });
  EXPECT_NEAR(whole.mean, 1.0, 3.5 * whole.error);
}

/// Mean of the picture's green over seeds, with its standard error.
Statistic meanOver(gpu::Device& device, const scene::Scene& scene, trace::PathTraceSettings settings,
                   trace::LightStrategy strategy) {
  constexpr uint32_t kSeeds = 8;
  std::vector<double> means;
  settings.strategy = strategy;
  for (uint32_t seed = 0; seed < kSeeds; seed++) {
    settings.seed = seed + 100 * static_cast<uint32_t>(strategy);
    means.push_back(tracePicture(device, scene, settings).mean().y);
  }
  return statistic(kSeeds, [&](size_t i) { return means[i]; });
}

void expectStrategiesAgree(gpu::Device& device, const scene::Scene& scene, const trace::PathTraceSettings& settings,
                           double precision) {
  const Statistic mis = meanOver(device, scene, settings, trace::LightStrategy::Mis);
  const Statistic light = meanOver(device, scene, settings, trace::LightStrategy::LightSampling);
  const Statistic bsdf = meanOver(device, scene, settings, trace::LightStrategy::BsdfSampling);
  EXPECT_GT(mis.mean, 0.01);
  EXPECT_NEAR(light.mean, mis.mean, 4.5 * std::hypot(light.error, mis.error));
  EXPECT_NEAR(bsdf.mean, mis.mean, 4.5 * std::hypot(bsdf.error, mis.error));
  // The comparison is only worth something where the noise is small.
  for (const Statistic& s : {mis, light, bsdf}) EXPECT_LT(s.error, precision * mis.mean);
}

TEST_F(LightSampling, StrategiesAgreeInTheCornellBox) {
  const auto scene = scene::makeBuiltin("cornell");
  ASSERT_TRUE(scene);
  expectStrategiesAgree(device(), *scene, {{32, 32}, 64, 2}, 0.01);
}

TEST_F(LightSampling, StrategiesAgreeOnGlossUnderASpottedSky) {
  scene::Scene scene;
  const uint32_t metal = scene::addMaterial(scene, "metal", vec3(0.9f, 0.7f, 0.5f), 0.4f);
  scene.materials[metal].metallic = 0.7f;
  scene::addShape(scene, "sphere", scene::makeSphere(1.0f, 128, 64, metal));
  scene::addShape(scene, "floor",
                  scene::makeQuad(vec3(-3.0f, -1.0f, -3.0f), vec3(0.0f, 0.0f, 6.0f), vec3(6.0f, 0.0f, 0.0f), metal));
  const uint32_t lamp = scene::addEmitter(scene, "lamp", vec3(5.0f));
  scene::addShape(scene, "lamp", scene::makeSphere(0.3f, 16, 8, lamp), vec3(1.2f, 0.8f, 0.6f));
  scene::addCamera(scene, "camera", vec3(0.0f, 1.0f, 5.0f), vec3(0.0f), 40.0f);
  scene.environment = spottedEnvironment();
  for (vec3& texel : scene.environment.radiance) texel = glm::min(texel, vec3(20.0f));
  expectStrategiesAgree(device(), scene, {{32, 32}, 64, 2}, 0.02);
}

TEST_F(LightSampling, ManyLightsShareOneChoice) {
  // 64 point lights of unequal strength over a floor, seen as one picture: the sum of 64 pictures with one light each.
  scene::Scene scene;
  const uint32_t floor = scene::addMaterial(scene, "floor", vec3(0.5f), 1.0f);
  scene.materials[floor].specular = 0.0f;
  scene::addShape(scene, "floor",
                  scene::makeQuad(vec3(-4.0f, 0.0f, -4.0f), vec3(0.0f, 0.0f, 8.0f), vec3(8.0f, 0.0f, 0.0f), floor));
  scene::addCamera(scene, "camera", vec3(0.0f, 10.0f, 0.01f), vec3(0.0f), 30.0f);
  for (uint32_t i = 0; i < 64; i++) {
    scene::Node node;
    node.light = static_cast<uint32_t>(scene.lights.size());
    node.translation = vec3(static_cast<float>(i % 8) - 3.5f, 1.0f, static_cast<float>(i / 8) - 3.5f);
    scene::Light light;
    light.intensity = i % 7 == 0 ? 5.0f : 0.2f;
    scene.lights.push_back(light);
    scene.nodes.push_back(node);
  }
  // Irradiance at the floor by hand, at the centre of each pixel.
  const uint32_t side = 32;
  const TracedPicture picture = tracePicture(device(), scene, {{side, side}, 256, 0});
  double traced = 0.0, expected = 0.0;
  const double half = 10.0 * std::tan(15.0 * std::numbers::pi / 180.0);
  for (uint32_t y = 0; y < side; y++) {
    for (uint32_t x = 0; x < side; x++) {
      const double px = ((x + 0.5) / side * 2.0 - 1.0) * half, pz = ((y + 0.5) / side * 2.0 - 1.0) * half;
      for (uint32_t i = 0; i < 64; i++) {
        const glm::dvec3 to(i % 8 - 3.5 - px, 1.0, i / 8 - 3.5 - pz);
        expected += 0.5 / std::numbers::pi * double{scene.lights[i].intensity} * to.y / std::pow(glm::dot(to, to), 1.5);
      }
      traced += picture.radiance[picture.at(x, y)].x;
    }
  }
  EXPECT_NEAR(traced / expected, 1.0, 0.01);
}

}  // namespace
}  // namespace tandem::test
