// Scenes made in code keep what their tests and benchmarks rely on.
#include "scene/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scene/animation.h"
#include "scene/camera.h"

namespace tandem::scene {
namespace {

Scene mustMake(const std::string& name) {
  auto scene = makeBuiltin(name);
  if (scene) return std::move(*scene);
  ADD_FAILURE() << scene.refusal().message;
  return {};
}

size_t triangles(const Scene& scene) {
  size_t count = 0;
  for (const Mesh& mesh : scene.meshes) count += mesh.indices.size() / 3;
  return count;
}

/// What Scene promises to those who render it.
void expectSound(const Scene& scene) {
  for (const Mesh& mesh : scene.meshes) {
    ASSERT_EQ(mesh.normals.size(), mesh.positions.size());
    ASSERT_TRUE(mesh.material == kNone || mesh.material < scene.materials.size());
    for (size_t i = 0; i < mesh.indices.size(); i += 3) {
      for (size_t k = 0; k < 3; ++k) ASSERT_LT(mesh.indices[i + k], mesh.positions.size());
      const vec3 a = mesh.positions[mesh.indices[i]];
      const vec3 face = glm::cross(mesh.positions[mesh.indices[i + 1]] - a, mesh.positions[mesh.indices[i + 2]] - a);
      ASSERT_GT(glm::length(face), 0.0f);
      // On the terrain's spikes a mean normal may turn away from one of its steep faces; but all of it faces up.
      const bool rough = scene.name.find("terrain") != std::string::npos;
      for (size_t k = 0; k < 3; ++k) {
        const vec3 normal = mesh.normals[mesh.indices[i + k]];
        ASSERT_GT(rough ? std::min(face.y, normal.y) : glm::dot(face, normal), 0.0f);
      }
    }
    for (const vec3 normal : mesh.normals) ASSERT_NEAR(glm::length(normal), 1.0f, 1e-4f);
  }
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    ASSERT_TRUE(scene.nodes[i].parent == kNone || scene.nodes[i].parent < i);
    for (const uint32_t mesh : scene.nodes[i].meshes) ASSERT_LT(mesh, scene.meshes.size());
  }
  for (const Animation& animation : scene.animations) {
    for (const Channel& channel : animation.channels) {
      ASSERT_LT(channel.node, scene.nodes.size());
      for (size_t i = 1; i < channel.times.size(); ++i) ASSERT_GT(channel.times[i], channel.times[i - 1]);
    }
  }
}

TEST(Builtin, AllAreSoundAndHaveACamera) {
  for (const std::string name :
       {"furnace", "sphere", "cornell", "terrain?triangles=5000", "spinners", "skinned?vertices=3000"}) {
    SCOPED_TRACE(name);
    const Scene scene = mustMake(name);
    expectSound(scene);
    EXPECT_EQ(scene.name, "builtin:" + name);
    const auto camera = chooseCamera(scene, {});
    ASSERT_TRUE(camera);
    EXPECT_NE(camera->node, kNone);
  }
}

TEST(Builtin, FurnaceIsWhiteInUniformLight) {
  const Scene scene = mustMake("furnace");
  for (const Material& material : scene.materials) EXPECT_EQ(material.baseColor, vec4(1.0f));
  for (const vec3 radiance : scene.environment.radiance) EXPECT_EQ(radiance, vec3(1.0f));
  EXPECT_TRUE(scene.lights.empty());
}

TEST(Builtin, SphereIsLambertUnderOneSun) {
  const Scene scene = mustMake("sphere");
  ASSERT_EQ(scene.lights.size(), 1u);
  EXPECT_EQ(scene.lights[0].kind, LightKind::Directional);
  EXPECT_EQ(scene.materials.at(0).specular, 0.0f);
  EXPECT_EQ(scene.materials.at(0).metallic, 0.0f);
  EXPECT_TRUE(scene.environment.radiance.empty());
  for (size_t i = 0; i < scene.meshes[0].positions.size(); ++i) {
    ASSERT_NEAR(glm::length(scene.meshes[0].positions[i]), 1.0f, 1e-5f);
    ASSERT_LT(glm::length(scene.meshes[0].positions[i] - scene.meshes[0].normals[i]), 1e-5f);
  }
  // The sun's node turns its -Z down, left and away.
  const Pose pose = poseAt(scene, 0.0);
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    if (scene.nodes[i].light == kNone) continue;
    EXPECT_LT(glm::length(-vec3(pose.world[i][2]) - glm::normalize(vec3(-1.0f))), 1e-5f);
  }
}

TEST(Builtin, CornellHasALampThatShinesDown) {
  const Scene scene = mustMake("cornell");
  size_t lamps = 0;
  for (const Mesh& mesh : scene.meshes) {
    if (scene.materials[mesh.material].emissive == vec3(0.0f)) continue;
    ++lamps;
    for (const vec3 normal : mesh.normals) EXPECT_EQ(normal, vec3(0, -1, 0));
  }
  EXPECT_EQ(lamps, 1u);
}

TEST(Builtin, TerrainHasTheTrianglesAskedFor) {
  EXPECT_EQ(triangles(mustMake("terrain")), 1002528u);
  EXPECT_EQ(triangles(mustMake("terrain?triangles=2")), 2u);
  EXPECT_EQ(triangles(mustMake("terrain?triangles=20000")), 20000u);  // 2 * 100^2
}

TEST(Builtin, SpinnersTurn) {
  const Scene scene = mustMake("spinners");
  ASSERT_TRUE(isAnimated(scene));
  const Pose before = poseAt(scene, 1.0);
  const Pose after = poseAt(scene, 1.0 + 1.0 / 24.0);
  size_t moved = 0;
  for (size_t i = 0; i < scene.nodes.size(); ++i) moved += before.world[i] != after.world[i] ? 1 : 0;
  EXPECT_EQ(moved, scene.animations[0].channels.size());
}

TEST(Builtin, UnknownNamesAndParametersAreRefusedWithTheList) {
  for (const char* name :
       {"", "teapot", "terrain?size=3", "terrain?triangles=", "terrain?triangles=1", "terrain?triangles=-5",
        "terrain?triangles=10x", "terrain?triangles=99999999999", "sphere?radius=2"}) {
    const auto scene = makeBuiltin(name);
    ASSERT_FALSE(scene) << name;
    EXPECT_EQ(scene.refusal().exit, ExitCode::WrongUsage);
    EXPECT_NE(scene.refusal().message.find("terrain"), std::string::npos) << scene.refusal().message;
  }
  for (const char* name : {"skinned?vertices=9", "skinned?triangles=5000", "skinned?vertices=99999999999"}) {
    const auto scene = makeBuiltin(name);
    ASSERT_FALSE(scene) << name;
    EXPECT_NE(scene.refusal().message.find("vertices=N, N from 1000"), std::string::npos) << scene.refusal().message;
  }
  EXPECT_EQ(builtinNames().size(), 6u);
}

}  // namespace
}  // namespace tandem::scene
