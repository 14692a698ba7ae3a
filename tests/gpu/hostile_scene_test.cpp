// Scenes and rays that mean ill: corners that are not finite or far out, triangles without area, meshes and scenes of
// nothing, instances scaled to nothing, mirrored, tiny. Whatever can be hit is seen as if the rest were not there,
// nothing hangs, and no pixel is NaN or infinite.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <glm/gtc/matrix_transform.hpp>
#include <limits>
#include <random>

#include "gpu/traced_scene.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/path_tracer.h"
#include "trace/host_scene.h"

namespace tandem::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kBadNumbers[] = {kNan, kInfinity, -kInfinity, 1e30f, -1e30f, 3.4e38f, 1e13f};

class HostileScene : public GpuFixture {};

TestMesh goodMesh() {
  std::mt19937 random(7);
  const auto number = [&](float extent) { return extent * (float(random() >> 8) * 0x1p-23f - 1.0f); };
  TestMesh mesh;
  for (int i = 0; i < 400; i++) {
    const vec3 at(number(2.0f), number(2.0f), number(2.0f));
    for (int k = 0; k < 3; k++) {
      mesh.indices.push_back(uint32_t(mesh.positions.size()));
      mesh.positions.push_back(at + vec3(number(0.7f), number(0.7f), number(0.7f)));
    }
  }
  return mesh;
}

void addTriangle(TestMesh& mesh, vec3 a, vec3 b, vec3 c) {
  for (const vec3 corner : {a, b, c}) {
    mesh.indices.push_back(uint32_t(mesh.positions.size()));
    mesh.positions.push_back(corner);
  }
}

/// After the good triangles, so that theirs keep their numbers.
TestMesh withBadTriangles(TestMesh mesh) {
  for (const float bad : kBadNumbers) {
    for (int axis = 0; axis < 3; axis++) {
      vec3 corner(0.1f);
      corner[axis] = bad;
      addTriangle(mesh, corner, {1, 0, 0}, {0, 1, 0});
      addTriangle(mesh, {1, 0, 0}, corner, {0, 1, 0});
      addTriangle(mesh, corner, corner, corner);
    }
  }
  for (int i = 0; i < 50; i++) {
    const vec3 at(0.1f * float(i) - 2.5f, 0.3f, 0.2f);
    addTriangle(mesh, at, at, at);                                      // a point
    addTriangle(mesh, at, at + vec3(1, 0, 0), at + vec3(2, 0, 0));      // a line
    addTriangle(mesh, at, at + vec3(1e-38f), at + vec3(0, 1e-40f, 0));  // smaller than any area
  }
  return mesh;
}

std::vector<Ray> randomRays(size_t count) {
  std::mt19937 random(8);
  const auto number = [&](float extent) { return extent * (float(random() >> 8) * 0x1p-23f - 1.0f); };
  std::vector<Ray> rays(count);
  for (Ray& ray : rays) {
    ray.origin = {number(4.0f), number(4.0f), number(4.0f)};
    ray.direction = vec3(number(1.0f), number(1.0f), number(1.0f)) - 0.3f * ray.origin;
  }
  return rays;
}

/// The same hits; but where a bad instance stands among the good ones, instances have other numbers.
void expectSameHits(const std::vector<Result>& results, const std::vector<Result>& expected, size_t leastHits) {
  size_t hits = 0;
  for (size_t i = 0; i < results.size(); i++) {
    ASSERT_EQ(results[i].flags, expected[i].flags) << "ray " << i;
    ASSERT_EQ(results[i].t, expected[i].t) << "ray " << i;
    if (!expected[i].hit()) continue;
    ASSERT_EQ(results[i].primitive, expected[i].primitive) << "ray " << i;
    hits++;
  }
  EXPECT_GE(hits, leastHits);
}

TEST_F(HostileScene, BadTrianglesChangeNothing) {
  const std::vector<Ray> rays = randomRays(50'000);
  TracedScene clean(device(), {goodMesh()}, {{0, mat4(1)}});
  TracedScene mixed(device(), {withBadTriangles(goodMesh())}, {{0, mat4(1)}});
  expectSameHits(mixed.trace(rays), clean.trace(rays), 20'000);
}

TEST_F(HostileScene, MeshesOfNothingButBadTrianglesAreMissed) {
  // Some of these can be hit by no ray, and the trees of the others hold nothing at all.
  TracedScene scene(device(), {withBadTriangles({}), {}}, {{0, mat4(1)}, {1, mat4(1)}});
  for (const Result& result : scene.trace(randomRays(20'000))) ASSERT_EQ(result.flags, 0u);
}

TEST_F(HostileScene, BadPlacesChangeNothing) {
  const mat4 good = glm::translate(mat4(1), {0.5f, 0, 0}), mirrored = glm::scale(mat4(1), {-1, 1, 1});
  std::vector<Placed> placed = {{0, good}, {0, mirrored}};
  TracedScene clean(device(), {goodMesh()}, placed);
  for (const float bad : kBadNumbers) {
    for (int column = 0; column < 4; column++) {
      mat4 matrix(1);
      matrix[column][1] = bad;
      // Far out but sound places are for rays that find them, if any: only what has no place is to change nothing.
      if (!std::isfinite(bad) || std::abs(bad) > 1e20f || column == 3) placed.push_back({0, matrix});
    }
  }
  for (const vec3 scale : {vec3(0), vec3(1, 0, 1), vec3(1e-30f), vec3(1e-38f), vec3(1, 1, 1e-25f), vec3(1e30f)})
    placed.push_back({0, glm::scale(mat4(1), scale)});
  TracedScene mixed(device(), {goodMesh()}, placed);
  const std::vector<Ray> rays = randomRays(20'000);
  expectSameHits(mixed.trace(rays), clean.trace(rays), 8'000);
}

TEST_F(HostileScene, TinyAndHugeInstancesAreHitWhereTheyAre) {
  // A triangle across the axis, at scales of many powers of ten: each hit at its own distance.
  TestMesh mesh;
  addTriangle(mesh, {-1, -1, -1}, {2, -1, -1}, {-1, 2, -1});
  for (const float scale : {1e-15f, 1e-6f, 1.0f, 1e6f, 1e11f}) {
    TracedScene scene(device(), {mesh}, {{0, glm::scale(mat4(1), {scale, scale, -scale})}});
    const Result hit = scene.trace({{.origin = vec3(0), .direction = {0, 0, 1}}})[0];
    EXPECT_EQ(hit.flags, 3u) << scale;
    EXPECT_NEAR(hit.t / scale, 1.0f, 1e-5f) << scale;
  }
}

TEST_F(HostileScene, BadRaysComeBack) {
  std::vector<Ray> rays;
  for (const float bad : {kNan, kInfinity, -kInfinity, 3.4e38f, 1e30f, 1e-40f, 0.0f}) {
    for (int axis = 0; axis < 3; axis++) {
      Ray ray{.origin = vec3(0.2f), .direction = vec3(0.3f, 0.5f, 0.7f)};
      ray.origin[axis] = bad;
      rays.push_back(ray);
      ray.origin = vec3(0.2f);
      ray.direction[axis] = bad;
      rays.push_back(ray);
    }
    rays.push_back({.origin = vec3(bad), .direction = vec3(bad)});
    rays.push_back({.origin = vec3(0), .tMin = 0.0f, .direction = vec3(1, 2, 3), .tMax = bad});
  }
  TracedScene scene(device(), {goodMesh()}, {{0, mat4(1)}, {0, glm::scale(mat4(1), vec3(-2, 1, 1))}});
  const std::vector<Result> results = scene.trace(rays);
  ASSERT_EQ(results.size(), rays.size());
  for (size_t i = 0; i < rays.size(); i++) {
    const vec3 sum = rays[i].origin + rays[i].direction;
    const bool nan = std::isnan(sum.x + sum.y + sum.z);
    EXPECT_FALSE(nan && results[i].flags != 0) << "ray " << i << " is NaN and has hit";
    EXPECT_TRUE(!results[i].hit() || std::isfinite(results[i].t)) << "ray " << i;
  }
}

scene::Mesh sceneMesh(const TestMesh& test) {
  scene::Mesh mesh;
  mesh.positions = test.positions;
  mesh.indices = test.indices;
  mesh.normals.assign(mesh.positions.size(), vec3(0, 0, 1));
  return mesh;
}

scene::Scene litScene(scene::Mesh mesh) {
  scene::Scene scene;
  scene::addShape(scene, "sphere",
                  scene::makeSphere(0.7f, 24, 12, scene::addMaterial(scene, "red", {0.8f, 0.2f, 0.1f}, 0.5f)));
  mesh.material = scene::addMaterial(scene, "grey", vec3(0.5f), 0.5f);
  scene::addShape(scene, "mesh", std::move(mesh));
  scene::addSun(scene, vec3(-1, -1, -1), vec3(1), 2.0f);
  scene::addCamera(scene, "camera", vec3(0, 0, 6), vec3(0), 45.0f);
  scene.environment = scene::uniformEnvironment(vec3(0.5f));
  return scene;
}

const trace::PathTraceSettings kSettings{.size = {48, 32}, .samples = 4, .bounces = 3};

void expectFinite(const TracedPicture& picture) {
  for (const vec4& pixel : picture.radiance) {
    for (int k = 0; k < 4; k++) ASSERT_TRUE(std::isfinite(pixel[k]) && pixel[k] >= 0.0f);
  }
}

TEST_F(HostileScene, PicturesAreThoseOfTheSoundPart) {
  const scene::Scene clean = litScene(sceneMesh(goodMesh()));
  scene::Scene mixed = litScene(sceneMesh(withBadTriangles(goodMesh())));
  // Instances that are not merged: their nodes have no place.
  for (const vec3 scale : {vec3(0), vec3(1, 0, 1), vec3(kNan, 1, 1), vec3(1e-30f)}) {
    scene::Node node;
    node.scale = scale;
    node.meshes = {0};
    mixed.nodes.push_back(node);
  }
  mixed.meshes.emplace_back();  // a mesh of nothing
  mixed.nodes.emplace_back().meshes = {2};
  const trace::HostScene host(mixed);
  // Points and lines are kept: rays miss them.
  EXPECT_EQ(host.leftOut().triangles, std::size(kBadNumbers) * 9);
  EXPECT_EQ(host.leftOut().instances, 4u);
  EXPECT_EQ(trace::HostScene(clean).leftOut().triangles + trace::HostScene(clean).leftOut().instances, 0u);
  const TracedPicture expected = tracePicture(device(), clean, kSettings);
  const TracedPicture picture = tracePicture(device(), mixed, kSettings);
  expectFinite(picture);
  // The same hits, but trees of another shape: what lies on two triangles at once may fall to either.
  size_t other = 0;
  for (size_t i = 0; i < picture.radiance.size(); i++) other += picture.radiance[i] != expected.radiance[i];
  EXPECT_LE(other, 2u) << "of " << picture.radiance.size();
}

TEST_F(HostileScene, ScenesOfNothingShowTheSky) {
  for (const bool badMesh : {false, true}) {
    scene::Scene scene;
    scene::addCamera(scene, "camera", vec3(0, 0, 6), vec3(0), 45.0f);
    scene.environment = scene::uniformEnvironment(vec3(0.5f));
    if (badMesh) {
      scene::Mesh mesh;
      for (const float bad : {kNan, kInfinity, 1e30f}) {
        for (int k = 0; k < 3; k++) mesh.positions.push_back(vec3(bad));
      }
      mesh.indices = {0, 1, 2, 3, 4, 5, 6, 7, 8};
      mesh.normals.assign(9, vec3(kNan));
      mesh.material = scene::addEmitter(scene, "lamp", vec3(10));
      scene::addShape(scene, "bad", std::move(mesh));
    }
    const TracedPicture picture = tracePicture(device(), scene, kSettings);
    for (const vec4& pixel : picture.radiance) ASSERT_EQ(vec3(pixel), vec3(0.5f));
  }
}

TEST_F(HostileScene, BadNormalsMakeNoBadPixels) {
  scene::Mesh mesh = scene::makeSphere(1.5f, 32, 16, 0);
  std::mt19937 random(9);
  for (vec3& normal : mesh.normals) {
    const float bad = kBadNumbers[random() % std::size(kBadNumbers)];
    if (random() % 3 == 0) normal = random() % 2 ? vec3(0) : vec3(bad, 0, 1);
  }
  expectFinite(tracePicture(device(), litScene(std::move(mesh)), kSettings));
}

}  // namespace
}  // namespace tandem::test
