// Key frame interpolation (glTF 2.0 appendix C) and the pose of a node tree.
#include "scene/animation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::scene {
namespace {

constexpr float kPi = 3.14159265358979f;

Scene oneNode(Channel channel) {
  Scene scene;
  scene.nodes.emplace_back();
  channel.node = 0;
  scene.animations.push_back({"a", {std::move(channel)}});
  return scene;
}

Channel slide(Interpolation interpolation, std::vector<float> values) {
  Channel channel;
  channel.path = AnimatedPath::Translation;
  channel.interpolation = interpolation;
  channel.times = {1.0f, 3.0f};
  channel.values = std::move(values);
  return channel;
}

vec3 placeAt(const Scene& scene, double seconds) { return vec3(poseAt(scene, seconds).world[0][3]); }

void expectNear(vec3 a, vec3 b, float tolerance = 1e-5f) {
  EXPECT_LT(glm::length(a - b), tolerance) << a.x << " " << a.y << " " << a.z;
}

TEST(Animation, LinearRunsStraightAndHoldsItsEnds) {
  const Scene scene = oneNode(slide(Interpolation::Linear, {0, 0, 0, 4, 8, 0}));
  expectNear(placeAt(scene, -5.0), vec3(0));
  expectNear(placeAt(scene, 1.0), vec3(0));
  expectNear(placeAt(scene, 1.5), vec3(1, 2, 0));
  expectNear(placeAt(scene, 3.0), vec3(4, 8, 0));
  expectNear(placeAt(scene, 99.0), vec3(4, 8, 0));
}

TEST(Animation, StepHoldsUntilTheNextKey) {
  const Scene scene = oneNode(slide(Interpolation::Step, {1, 0, 0, 2, 0, 0}));
  expectNear(placeAt(scene, 0.0), vec3(1, 0, 0));
  expectNear(placeAt(scene, 2.9999), vec3(1, 0, 0));
  expectNear(placeAt(scene, 3.0), vec3(2, 0, 0));
}

TEST(Animation, CubicSplineFollowsItsPolynomial) {
  // x(t) = t^3 over one span of 2 s from t = 1 to t = 3: tangents are its derivative, 3 t^2.
  const Scene scene =
      oneNode(slide(Interpolation::CubicSpline, {0, 0, 0, 1, 0, 0, 3, 0, 0, 27, 0, 0, 27, 0, 0, 0, 0, 0}));
  for (const float t : {1.0f, 1.25f, 2.0f, 2.75f, 3.0f}) expectNear(placeAt(scene, t), vec3(t * t * t, 0, 0), 1e-4f);
  expectNear(placeAt(scene, 9.0), vec3(27, 0, 0));
}

TEST(Animation, RotationTakesTheShorterArcAtConstantSpeed) {
  Channel channel;
  channel.path = AnimatedPath::Rotation;
  channel.times = {0.0f, 1.0f};
  const quat quarter = glm::angleAxis(0.5f * kPi, vec3(0, 1, 0));
  for (const float sign : {1.0f, -1.0f}) {  // q and -q are the same rotation
    channel.values = {0, 0, 0, 1, sign * quarter.x, sign * quarter.y, sign * quarter.z, sign * quarter.w};
    const Scene scene = oneNode(channel);
    for (const float t : {0.0f, 0.25f, 0.5f, 1.0f}) {
      const vec3 x(poseAt(scene, t).world[0] * vec4(1, 0, 0, 0));
      const float angle = 0.5f * kPi * t;
      expectNear(x, vec3(std::cos(angle), 0, -std::sin(angle)));
    }
  }
}

TEST(Animation, RotationWithoutDirectionIsNone) {
  Channel channel;
  channel.path = AnimatedPath::Rotation;
  channel.times = {0.0f, 1.0f};
  channel.values = {0, 0, 0, 0, 0, 0, 0, 0};
  expectNear(vec3(poseAt(oneNode(channel), 0.5).world[0] * vec4(1, 2, 3, 0)), vec3(1, 2, 3));
}

TEST(Animation, KeysFarFromZeroKeepTheirPrecision) {
  Channel channel = slide(Interpolation::Linear, {0, 0, 0, 1, 0, 0});
  channel.times = {4096.0f, 4097.0f};
  const Scene scene = oneNode(channel);
  // 1/50,000 s apart at 4096 s: a float clock would not move at all.
  const float step = placeAt(scene, 4096.50002).x - placeAt(scene, 4096.5).x;
  EXPECT_NEAR(step, 2e-5f, 1e-6f);
}

TEST(Animation, TheFirstOfTwoAnimationsWins) {
  Scene scene = oneNode(slide(Interpolation::Linear, {1, 0, 0, 1, 0, 0}));
  scene.animations.push_back(scene.animations[0]);
  scene.animations[1].channels[0].values = {9, 0, 0, 9, 0, 0};
  expectNear(placeAt(scene, 2.0), vec3(1, 0, 0));
}

TEST(Animation, ParentsCarryTheirChildren) {
  Scene scene;
  Node parent;
  parent.rotation = glm::angleAxis(0.5f * kPi, vec3(0, 0, 1));
  parent.scale = vec3(2.0f);
  Node child;
  child.parent = 0;
  child.hasMatrix = true;
  child.matrix[3] = vec4(3, 0, 0, 1);
  scene.nodes = {parent, child};
  expectNear(vec3(poseAt(scene, 0.0).world[1][3]), vec3(0, 6, 0));
}

TEST(Animation, BoundsCoverInstancesAndSkipWhatIsNotFinite) {
  Scene scene;
  Mesh mesh;
  mesh.positions = {vec3(0), vec3(1, 0, 0), vec3(0, 1, 0), vec3(NAN, 500, 500)};
  mesh.normals.assign(4, vec3(0, 0, 1));
  mesh.indices = {0, 1, 2};
  scene.meshes.push_back(mesh);
  Node a;
  a.meshes = {0};
  Node b = a;
  b.translation = vec3(10, 0, -4);
  Node lost = a;
  lost.scale = vec3(INFINITY);
  scene.nodes = {a, b, lost};
  const Bounds bounds = boundsOf(scene, poseAt(scene, 0.0));
  expectNear(bounds.min, vec3(0, 0, -4));
  expectNear(bounds.max, vec3(11, 1, 0));
  EXPECT_TRUE(boundsOf(Scene{}, Pose{}).empty());
}

}  // namespace
}  // namespace tandem::scene
