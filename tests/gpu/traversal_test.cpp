// The traversal against Embree, an independent reference (its scene ROBUST, over the same triangles in world space),
// and against the promise of watertightness. Where the two disagree, double precision must show that the question was
// too close to call.
#include <cmath>
#include <cstring>
#include <glm/gtc/matrix_transform.hpp>
#include <limits>
#include <numbers>
#include <random>

#include "gpu/embree_reference.h"
#include "gpu/traced_scene.h"

namespace tandem::test {
namespace {

/// A closed sphere of radius 1: neighbours share their corners to the bit.
TestMesh sphere(uint32_t rings, uint32_t segments) {
  TestMesh mesh;
  mesh.positions = {{0, 1, 0}, {0, -1, 0}};
  for (uint32_t ring = 1; ring < rings; ring++) {
    for (uint32_t k = 0; k < segments; k++) {
      const float theta = std::numbers::pi_v<float> * float(ring) / float(rings);
      const float phi = 2.0f * std::numbers::pi_v<float> * float(k) / float(segments);
      mesh.positions.push_back({std::sin(theta) * std::cos(phi), std::cos(theta), std::sin(theta) * std::sin(phi)});
    }
  }
  const auto at = [&](uint32_t ring, uint32_t k) { return 2 + (ring - 1) * segments + k % segments; };
  const auto add = [&](uint32_t a, uint32_t b, uint32_t c) { mesh.indices.insert(mesh.indices.end(), {a, b, c}); };
  for (uint32_t k = 0; k < segments; k++) {
    add(0, at(1, k + 1), at(1, k));
    add(1, at(rings - 1, k), at(rings - 1, k + 1));
    for (uint32_t ring = 1; ring + 1 < rings; ring++) {
      add(at(ring, k), at(ring, k + 1), at(ring + 1, k));
      add(at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k));
    }
  }
  return mesh;
}

TestMesh cube() {
  TestMesh mesh;
  for (uint32_t i = 0; i < 8; i++) mesh.positions.push_back({i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1});
  mesh.indices = {0, 1, 3, 0, 3, 2, 4, 7, 5, 4, 6, 7, 0, 5, 1, 0, 4, 5,
                  2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
  return mesh;
}

float uniform(std::mt19937& random, float low, float high) {
  return low + (high - low) * (float(random() >> 8) * 0x1p-24f);
}
vec3 uniformPoint(std::mt19937& random, float extent) {
  const float x = uniform(random, -extent, extent), y = uniform(random, -extent, extent);
  return {x, y, uniform(random, -extent, extent)};
}

/// Triangles of all shapes, slivers among them, through each other.
TestMesh soup(uint32_t triangles) {
  std::mt19937 random(11);
  TestMesh mesh;
  for (uint32_t i = 0; i < triangles; i++) {
    const vec3 at = uniformPoint(random, 1.0f);
    const float thin = i % 10 == 0 ? 0.01f : 0.6f;
    for (const vec3 corner : {at, at + uniformPoint(random, 0.6f), at + uniformPoint(random, thin)}) {
      mesh.indices.push_back(uint32_t(mesh.positions.size()));
      mesh.positions.push_back(corner);
    }
  }
  return mesh;
}

mat4 place(vec3 translation, float angle, vec3 axis, vec3 scale) {
  return glm::translate(mat4(1), translation) * glm::rotate(mat4(1), angle, glm::normalize(axis)) *
         glm::scale(mat4(1), scale);
}

/// Rotated, mirrored, unequally scaled, sheared, alpha-tested, interpenetrating.
TracedScene mixedScene(gpu::Device& device) {
  std::vector<Placed> placed = {
      {0, mat4(1)},
      {0, place({1.5f, 0.2f, -0.4f}, 0.7f, {1, 2, 3}, {0.5f, 0.9f, 0.2f})},
      {0, place({-1.5f, 0.4f, 0.6f}, 2.1f, {3, -1, 1}, {-0.7f, 0.7f, 0.7f})},
      {1, place({0.3f, 1.6f, 0.1f}, 1.3f, {0, 1, 1}, {0.6f, 0.3f, 0.5f})},
      {1, place({0.1f, -1.7f, -0.3f}, 0.0f, {0, 1, 0}, {-2.0f, 0.25f, 2.0f})},
      {2, place({0.2f, 0.1f, 1.7f}, 0.4f, {1, 1, 0}, {0.8f, 0.8f, -0.8f})},
      {2, place({-0.4f, 0.3f, -1.9f}, 2.6f, {1, 0, 1}, {0.4f, 1.2f, 0.7f}), true},
  };
  mat4 shear = place({1.7f, -0.6f, 1.4f}, 0.9f, {1, -1, 2}, {0.5f, 0.5f, 0.5f});
  shear[1] += 0.8f * shear[0];
  placed.push_back({1, shear});
  return {device, {sphere(12, 16), cube(), soup(120)}, placed};
}

class Traversal : public GpuFixture {};

TEST_F(Traversal, AMillionRandomRaysAgreeWithEmbree) {
  TracedScene scene = mixedScene(device());
  std::mt19937 random(2);
  std::vector<Ray> rays(1'000'000);
  for (size_t i = 0; i < rays.size(); i++) {
    Ray& ray = rays[i];
    ray.origin = uniformPoint(random, 3.0f);
    do {
      ray.direction = uniformPoint(random, 1.0f) - 0.25f * ray.origin;
    } while (glm::length(ray.direction) < 0.05f);
    ray.direction *= std::exp(uniform(random, -3.0f, 3.0f));  // t is in units of the direction
    if (i % 8 == 0) ray.direction[int(random() % 3)] = 0.0f;
    if (i % 16 == 0) ray.direction[int(random() % 3)] = 0.0f;
    if (ray.direction == vec3(0)) ray.direction.y = i % 32 ? 2.0f : -2.0f;
    const float metre = 1.0f / glm::length(ray.direction);
    if (i % 3 == 1) ray.tMin = uniform(random, 0.0f, 2.0f) * metre;
    if (i % 3 == 2) ray.tMax = uniform(random, 0.5f, 4.0f) * metre;
  }
  const Verdict verdict = compare(scene, rays);
  EXPECT_EQ(verdict.unexplained, 0u);
  EXPECT_LE(verdict.mismatches, 10u);
  EXPECT_GT(verdict.hits, 300'000u);
  EXPECT_LT(verdict.hits, 900'000u);
  RecordProperty("mismatches", int(verdict.mismatches));
  RecordProperty("hits", int(verdict.hits));
}

TEST_F(Traversal, RaysAtEdgesAndCornersAgreeWithEmbree) {
  TracedScene scene = mixedScene(device());
  std::mt19937 random(3);
  std::vector<Ray> rays(200'000);
  for (size_t i = 0; i < rays.size(); i++) {
    const uint32_t instance = random() % scene.instances(), primitive = random() % scene.triangles(instance);
    const int k = int(random() % 3);
    const vec3 a = scene.worldCorner(instance, primitive, k), b = scene.worldCorner(instance, primitive, (k + 1) % 3);
    const vec3 aim = i % 2 ? a : glm::mix(a, b, uniform(random, 0.0f, 1.0f));
    rays[i].origin = uniformPoint(random, 3.0f);
    if (i % 5 == 0) rays[i].origin[int(random() % 3)] = aim[int(random() % 3)];
    rays[i].direction = aim - rays[i].origin;
    if (rays[i].direction == vec3(0)) rays[i].direction = vec3(1, 0, 0);
  }
  // Most of these are close calls; each one must be.
  EXPECT_EQ(compare(scene, rays).unexplained, 0u);
}

/// From points inside a closed mesh through its corners, its edges, and along the axes: nothing gets out.
TEST_F(Traversal, NoRayEscapesFromAClosedSphere) {
  const std::vector<mat4> places = {mat4(1), place({3, -2, 5}, 1.2f, {1, 2, 3}, {2.0f, 0.7f, -1.3f}),
                                    place({100, 50, -70}, 0.3f, {0, 1, 0}, vec3(10))};
  for (const mat4& placed : places) {
    TracedScene scene(device(), {sphere(24, 48)}, {{0, placed}});
    std::mt19937 random(4);
    std::vector<Ray> rays;
    for (int start = 0; start < 40; start++) {
      const vec3 inside = start == 0 ? vec3(0) : uniformPoint(random, 0.5f);
      const vec3 origin(placed * vec4(inside, 1));
      for (uint32_t p = 0; p < scene.triangles(0); p++) {
        for (int k = 0; k < 3; k++) {
          const vec3 a = scene.worldCorner(0, p, k), b = scene.worldCorner(0, p, (k + 1) % 3);
          for (float along : {0.0f, 0.5f, uniform(random, 0.0f, 1.0f)}) {
            rays.push_back({.origin = origin, .direction = glm::mix(a, b, along) - origin});
          }
        }
      }
      for (int axis = 0; axis < 6; axis++) {
        vec3 direction(0);
        direction[axis / 2] = axis % 2 ? -1.0f : 1.0f;
        rays.push_back({.origin = origin, .direction = direction});
      }
    }
    size_t escaped = 0;
    for (const Result& result : scene.trace(rays)) escaped += !result.hit() || !result.blocked();
    EXPECT_EQ(escaped, 0u) << "of " << rays.size();
  }
}

std::vector<Ray> raysAcross() {
  std::mt19937 random(5);
  std::vector<Ray> rays(10'000);
  for (Ray& ray : rays) {
    ray.origin = uniformPoint(random, 3.0f);
    ray.direction = uniformPoint(random, 1.0f) - 0.3f * ray.origin;
  }
  return rays;
}

TEST_F(Traversal, AnEmptySceneIsMissed) {
  TracedScene scene(device(), {cube()}, {});
  for (const Result& result : scene.trace(raysAcross())) {
    ASSERT_EQ(result.flags, 0u);
    ASSERT_EQ(result.t, 1e30f);
  }
}

TEST_F(Traversal, InstancesWithoutAnInverseChangeNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const mat4 flat = glm::scale(mat4(1), {1, 0, 1});
  TracedScene only(device(), {cube()}, {{0, flat}, {0, mat4(0)}});
  for (const Result& result : only.trace(raysAcross())) ASSERT_EQ(result.flags, 0u);

  TracedScene clean(device(), {cube()}, {{0, mat4(1)}});
  TracedScene mixed(device(), {cube()}, {{0, mat4(1)}, {0, flat}, {0, glm::scale(mat4(1), {nan, 1, 1})}});
  const std::vector<Ray> rays = raysAcross();
  const std::vector<Result> expected = clean.trace(rays), results = mixed.trace(rays);
  size_t hits = 0;
  for (size_t i = 0; i < rays.size(); i++) {
    hits += expected[i].hit();
    ASSERT_EQ(results[i].flags, expected[i].flags);
    ASSERT_EQ(results[i].t, expected[i].t);
  }
  EXPECT_GT(hits, 1000u);
}

TEST_F(Traversal, TheSameRaysGiveTheSameBits) {
  TracedScene scene = mixedScene(device());
  const std::vector<Ray> rays = raysAcross();
  const std::vector<Result> first = scene.trace(rays), second = scene.trace(rays);
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(Result)), 0);
}

}  // namespace
}  // namespace tandem::test
