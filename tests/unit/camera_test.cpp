// Which camera a request finds, and what it sees.
#include "scene/camera.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scene/animation.h"
#include "scene/builtin.h"

namespace tandem::scene {
namespace {

Scene twoCameras() {
  Scene scene;
  scene.lenses.resize(2);
  scene.lenses[0].name = "wide";
  scene.lenses[0].yfov = 1.2f;
  scene.lenses[1].name = "flat";
  scene.lenses[1].orthographic = true;
  scene.lenses[1].ymag = 3.0f;
  Node empty;
  empty.name = "Main";  // a node of that name that is no camera
  Node first;
  first.name = "Main";
  first.lens = 0;
  first.translation = vec3(0, 0, 5);
  first.scale = vec3(100.0f);
  Node second;
  second.lens = 1;
  second.rotation = glm::angleAxis(1.5707963f, vec3(0, 1, 0));  // -Z becomes -X
  scene.nodes = {empty, first, second};
  return scene;
}

Camera resolve(const Scene& scene, const CameraRequest& request) {
  const auto choice = chooseCamera(scene, request);
  if (!choice) {
    ADD_FAILURE() << choice.refusal().message;
    return {};
  }
  return resolveCamera(scene, *choice, poseAt(scene, 0.0));
}

void expectNear(vec3 a, vec3 b) { EXPECT_LT(glm::length(a - b), 1e-5f) << a.x << " " << a.y << " " << a.z; }

void expectOrthonormal(const Camera& camera) {
  EXPECT_NEAR(glm::length(camera.forward), 1.0f, 1e-5f);
  expectNear(glm::cross(camera.right, camera.up), -camera.forward);
}

TEST(Camera, TheScenesFirstUnlessNamed) {
  const Scene scene = twoCameras();
  const Camera first = resolve(scene, {});
  expectNear(first.eye, vec3(0, 0, 5));
  expectNear(first.forward, vec3(0, 0, -1));
  EXPECT_NEAR(first.tanHalfYfov, std::tan(0.6f), 1e-6f);
  expectOrthonormal(first);

  CameraRequest flat;
  flat.name = "flat";
  const Camera second = resolve(scene, flat);
  EXPECT_TRUE(second.orthographic);
  EXPECT_FLOAT_EQ(second.halfHeight, 3.0f);
  expectNear(second.forward, vec3(-1, 0, 0));
  expectOrthonormal(second);
}

TEST(Camera, UnknownNamesAreRefusedWithTheList) {
  CameraRequest request;
  request.name = "Mian";
  const auto choice = chooseCamera(twoCameras(), request);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.refusal().exit, ExitCode::WrongUsage);
  for (const char* word : {"Mian", "'Main'", "'flat'"}) {
    EXPECT_NE(choice.refusal().message.find(word), std::string::npos) << choice.refusal().message;
  }
}

TEST(Camera, ByNumbers) {
  CameraRequest request;
  request.eye = vec3(1, 2, 3);
  request.target = vec3(1, 2, -7);
  request.yfovDegrees = 90.0f;
  const Camera camera = resolve(twoCameras(), request);
  expectNear(camera.eye, vec3(1, 2, 3));
  expectNear(camera.forward, vec3(0, 0, -1));
  expectNear(camera.right, vec3(1, 0, 0));
  EXPECT_NEAR(camera.tanHalfYfov, 1.0f, 1e-6f);
}

TEST(Camera, NumbersThatMakeNoCameraAreRefused) {
  const auto refused = [](auto change) {
    CameraRequest request;
    request.eye = vec3(0, 0, 5);
    request.target = vec3(0);
    change(request);
    const auto choice = chooseCamera(twoCameras(), request);
    return !choice && choice.refusal().exit == ExitCode::WrongUsage;
  };
  EXPECT_FALSE(refused([](CameraRequest&) {}));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.target.reset(); }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.eye.reset(); }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.target = r.eye; }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.up = vec3(0, 0, -2); }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.up = vec3(0); }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.eye = vec3(NAN, 0, 0); }));
  EXPECT_TRUE(refused([](CameraRequest& r) { r.name = "Main"; }));
  for (const float degrees : {0.0f, -10.0f, 180.0f, NAN}) {
    EXPECT_TRUE(refused([=](CameraRequest& r) { r.yfovDegrees = degrees; })) << degrees;
  }
}

TEST(Camera, YfovOverridesALens) {
  CameraRequest request;
  request.yfovDegrees = 90.0f;
  EXPECT_NEAR(resolve(twoCameras(), request).tanHalfYfov, 1.0f, 1e-6f);
  request.name = "flat";
  EXPECT_FALSE(chooseCamera(twoCameras(), request));
}

TEST(Camera, WithoutOneTheSceneIsFramed) {
  auto sphere = makeBuiltin("sphere");
  ASSERT_TRUE(sphere);
  for (Node& node : sphere->nodes) node.lens = kNone;
  const Camera camera = resolve(*sphere, {});
  expectOrthonormal(camera);
  // From front, right and above, towards the centre; every point of the sphere inside the 45 degrees.
  EXPECT_GT(camera.eye.x, 0.0f);
  EXPECT_GT(camera.eye.y, 0.0f);
  EXPECT_GT(camera.eye.z, camera.eye.x);
  EXPECT_LT(glm::length(glm::normalize(-camera.eye) - camera.forward), 1e-4f);
  EXPECT_NEAR(camera.tanHalfYfov, std::tan(glm::radians(22.5f)), 1e-6f);
  for (const vec3 p : sphere->meshes[0].positions) {
    const vec3 d = p - camera.eye;
    const float depth = glm::dot(d, camera.forward);
    ASSERT_LE(std::abs(glm::dot(d, camera.up)), depth * camera.tanHalfYfov);
    ASSERT_LE(std::abs(glm::dot(d, camera.right)), depth * camera.tanHalfYfov);
  }
}

TEST(Camera, EmptySceneAndFlattenedCameraStayFinite) {
  const Camera camera = resolve(Scene{}, {});
  expectOrthonormal(camera);
  Scene scene = twoCameras();
  scene.nodes[1].scale = vec3(0.0f);
  expectOrthonormal(resolve(scene, {}));
}

}  // namespace
}  // namespace tandem::scene
