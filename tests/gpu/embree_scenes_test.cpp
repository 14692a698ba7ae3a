// A million random rays over ten scenes, ours against Embree's (ROBUST): the scenes that Tandem makes and ships, and
// generated ones of other kinds. At most ten may differ, and double precision must show that each of those was too
// close to call.
#include <glm/gtc/matrix_transform.hpp>
#include <random>

#include "gpu/embree_reference.h"
#include "gpu/traced_scene.h"
#include "scene/animation.h"
#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/gltf.h"

namespace tandem::test {
namespace {

constexpr size_t kRaysPerScene = 100'000;

/// Numbers that are the same everywhere.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}
  float between(float low, float high) { return low + (high - low) * (float(random_() >> 8) * 0x1p-24f); }
  vec3 within(const Bounds& box) {
    const float x = between(box.min.x, box.max.x), y = between(box.min.y, box.max.y);
    return {x, y, between(box.min.z, box.max.z)};
  }
  vec3 around(vec3 centre, float radius) { return within({centre - vec3(radius), centre + vec3(radius)}); }
  uint32_t below(uint32_t count) { return uint32_t(random_() % count); }

 private:
  std::mt19937 random_;
};

struct Content {
  std::vector<TestMesh> meshes;
  std::vector<Placed> placed;
};

/// As it stands at `seconds`.
Content contentOf(const scene::Scene& scene, double seconds) {
  Content content;
  for (const scene::Mesh& mesh : scene.meshes) content.meshes.push_back({mesh.positions, mesh.indices});
  const scene::Pose pose = scene::poseAt(scene, seconds);
  for (size_t n = 0; n < scene.nodes.size(); n++) {
    for (const uint32_t mesh : scene.nodes[n].meshes) content.placed.push_back({mesh, pose.world[n]});
  }
  return content;
}

Content builtin(const char* name, double seconds = 0.0) { return contentOf(*scene::makeBuiltin(name), seconds); }

Content courtyard() { return contentOf(scene::loadGltf(TANDEM_SOURCE_DIR "/assets/scenes/courtyard.glb")->scene, 0.0); }

TestMesh soup(uint32_t triangles, float size, float thin, uint32_t seed) {
  Numbers numbers(seed);
  TestMesh mesh;
  for (uint32_t i = 0; i < triangles; i++) {
    const vec3 at = numbers.around(vec3(0), 1.0f), b = at + numbers.around(vec3(0), size);
    const vec3 c = glm::mix(at, b, 0.5f) + numbers.around(vec3(0), thin);
    for (const vec3 corner : {at, b, c}) {
      mesh.indices.push_back(uint32_t(mesh.positions.size()));
      mesh.positions.push_back(corner);
    }
  }
  return mesh;
}

mat4 anywhere(Numbers& numbers, float extent, float least, float most) {
  const vec3 at = numbers.around(vec3(0), extent), axis = numbers.around(vec3(0.1f), 1.0f);
  const float angle = numbers.between(0.0f, 6.0f);
  vec3 scale;
  for (int k = 0; k < 3; k++) scale[k] = numbers.between(least, most) * (numbers.below(4) == 0 ? -1.0f : 1.0f);
  return glm::translate(mat4(1), at) * glm::rotate(mat4(1), angle, glm::normalize(axis)) * glm::scale(mat4(1), scale);
}

/// Fifteen hundred instances of few triangles, turned, mirrored, squeezed, through each other.
Content crowd() {
  Content content{{soup(40, 0.8f, 0.5f, 21), soup(3, 1.0f, 1.0f, 22)}, {}};
  Numbers numbers(23);
  for (uint32_t i = 0; i < 1500; i++)
    content.placed.push_back({i % 2, anywhere(numbers, 10.0f, 0.05f, 1.2f), i % 5 == 0});
  return content;
}

/// Sizes over nine powers of ten in one tree, around a corner of space far from the origin.
Content manyScales() {
  TestMesh mesh;
  Numbers numbers(24);
  for (uint32_t i = 0; i < 6000; i++) {
    const float size = std::pow(10.0f, numbers.between(-6.0f, 3.0f));
    const vec3 at = numbers.around(vec3(0), std::max(3.0f * size, 0.5f));
    for (int k = 0; k < 3; k++) {
      mesh.indices.push_back(uint32_t(mesh.positions.size()));
      mesh.positions.push_back(vec3(40, -30, 20) + at + numbers.around(vec3(0), size));
    }
  }
  return {{mesh}, {{0, mat4(1)}}};
}

/// Closed spheres inside each other, each turned, squeezed and mirrored in its own way.
Content shells() {
  const scene::Mesh sphere = scene::makeSphere(1.0f, 64, 32, 0);
  Content content{{{sphere.positions, sphere.indices}}, {}};
  Numbers numbers(26);
  for (uint32_t i = 1; i <= 12; i++)
    content.placed.push_back({0, anywhere(numbers, 0.05f, 0.25f * float(i), 0.3f * float(i)), i % 6 == 0});
  return content;
}

Bounds boundsOf(const TracedScene& scene) {
  Bounds bounds;
  for (uint32_t i = 0; i < scene.instances(); i++) {
    for (uint32_t p = 0; p < scene.triangles(i); p++) {
      for (int k = 0; k < 3; k++) bounds.add(scene.worldCorner(i, p, k));
    }
  }
  return bounds;
}

/// From around the scene into it, from and to all places; of all lengths; some along axes and planes; some with limits.
std::vector<Ray> raysInto(const TracedScene& scene, uint32_t seed) {
  const Bounds bounds = boundsOf(scene);
  const vec3 margin = 0.25f * (bounds.max - bounds.min) + vec3(0.05f * bounds.radius());
  const Bounds around{bounds.min - margin, bounds.max + margin};
  Numbers numbers(seed);
  std::vector<Ray> rays(kRaysPerScene);
  for (size_t i = 0; i < rays.size(); i++) {
    Ray& ray = rays[i];
    ray.origin = numbers.within(around);
    const vec3 target = i % 4 == 0 ? numbers.within(bounds)
                                   : scene.worldCorner(numbers.below(scene.instances()), 0, 0) +
                                         numbers.around(vec3(0), 0.2f * bounds.radius());
    ray.direction = target - ray.origin;
    if (i % 8 == 0) ray.direction[int(numbers.below(3))] = 0.0f;
    if (i % 16 == 0) ray.direction[int(numbers.below(3))] = 0.0f;
    const float length = glm::length(ray.direction);
    if (!(length > 0.0f))
      ray.direction = vec3(0, -1, 0);
    else
      ray.direction *= std::exp(numbers.between(-3.0f, 3.0f)) / length;
    const float metres = bounds.radius() / glm::length(ray.direction);
    if (i % 3 == 1) ray.tMin = numbers.between(0.0f, 0.5f) * metres;
    if (i % 3 == 2) ray.tMax = numbers.between(0.1f, 1.5f) * metres;
  }
  return rays;
}

enum class Walks { OurTree, TheDriver };

/// By both traversals: our own and that of ray-tracing pipelines.
class EmbreeScenes : public GpuFixture, public testing::WithParamInterface<Walks> {
 protected:
  void SetUp() override {
    GpuFixture::SetUp();
    if (GetParam() == Walks::TheDriver && sharedRayDevice() == nullptr)
      GTEST_SKIP() << testAdapter().name << " has no ray-tracing pipelines";
  }
  gpu::Device& tracingDevice() { return GetParam() == Walks::TheDriver ? *sharedRayDevice() : device(); }
};

TEST_P(EmbreeScenes, AMillionRaysOverTenScenesAgree) {
  const std::pair<const char*, Content> scenes[] = {
      {"cornell", builtin("cornell")},
      {"furnace", builtin("furnace")},
      {"sphere", builtin("sphere")},
      {"spinners", builtin("spinners", 1.3)},
      {"terrain", builtin("terrain?triangles=100000")},
      {"courtyard", courtyard()},
      {"soup", {{soup(20'000, 0.1f, 0.1f, 25)}, {{0, mat4(1)}}}},
      {"shells", shells()},
      {"crowd", crowd()},
      {"many scales", manyScales()},
  };
  size_t mismatches = 0, rays = 0;
  uint32_t seed = 100;
  for (const auto& [name, content] : scenes) {
    SCOPED_TRACE(name);
    TracedScene scene(tracingDevice(), content.meshes, content.placed);
    const Verdict verdict = compare(scene, raysInto(scene, seed++));
    EXPECT_EQ(verdict.unexplained, 0u);
    // Neither a scene that all rays miss nor one that all are inside of.
    EXPECT_GT(verdict.hits, kRaysPerScene / 50);
    mismatches += verdict.mismatches;
    rays += kRaysPerScene;
    RecordProperty(fmt::format("{} mismatches", name), int(verdict.mismatches));
    RecordProperty(fmt::format("{} ties", name), int(verdict.ties));
  }
  EXPECT_EQ(rays, 1'000'000u);
  EXPECT_LE(mismatches, 10u);
}

/// Five hundred times as long as they are wide: nearly every ray passes near an edge, and more of them differ.
TEST_P(EmbreeScenes, RaysThroughSliversDifferWhereTheyAreTooCloseToCall) {
  TracedScene scene(tracingDevice(), {soup(3'000, 1.0f, 0.002f, 26)}, {{0, mat4(1)}});
  const Verdict verdict = compare(scene, raysInto(scene, 99));
  EXPECT_EQ(verdict.unexplained, 0u);
  EXPECT_GT(verdict.hits, kRaysPerScene / 50);
  RecordProperty("mismatches", int(verdict.mismatches));
}

INSTANTIATE_TEST_SUITE_P(Both, EmbreeScenes, testing::Values(Walks::OurTree, Walks::TheDriver),
                         [](const auto& tested) { return tested.param == Walks::OurTree ? "OurTree" : "TheDriver"; });

}  // namespace
}  // namespace tandem::test
