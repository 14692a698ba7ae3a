// "skinned": stalks that sway on their joints, beside a ball that morph targets squeeze.
#include <algorithm>
#include <cmath>

#include "scene/builtin_shapes.h"
#include "scene/environment.h"

namespace tandem::scene {

namespace {

constexpr float kPi = 3.14159265358979f;
constexpr uint32_t kStalks = 16;
constexpr uint32_t kJoints = 12;  // of a stalk, 0.25 m apart
constexpr float kBone = 0.25f;
constexpr uint32_t kKeys = 41;  // of each channel, a quarter of a second apart

vec3 rootOf(uint32_t stalk) {
  return {-3.0f + 2.0f * static_cast<float>(stalk % 4), 0.0f, -3.0f + 2.0f * static_cast<float>(stalk / 4)};
}

/// A vertex of a stalk between the joints below and above it, as it grew: straight up from `root`.
void addVertex(Mesh& mesh, uint32_t stalk, float height, float angle) {
  const float radius = 0.28f * (1.0f - 0.8f * height / (kBone * kJoints));
  const vec3 normal(std::cos(angle), 0.0f, -std::sin(angle));
  mesh.positions.push_back(rootOf(stalk) + vec3(0.0f, height, 0.0f) + radius * normal);
  mesh.normals.push_back(normal);
  const float place = std::clamp(height / kBone, 0.0f, static_cast<float>(kJoints - 1));
  const auto below = std::min(static_cast<uint32_t>(place), kJoints - 2);
  const float above = place - static_cast<float>(below);
  const auto first = static_cast<uint16_t>(stalk * kJoints + below);
  const auto next = static_cast<uint16_t>(above > 0.0f ? first + 1 : 0);
  mesh.binding.joints.insert(mesh.binding.joints.end(), {first, next, 0, 0});
  mesh.binding.weights.insert(mesh.binding.weights.end(), {1.0f - above, above, 0.0f, 0.0f});
}

/// All stalks in one mesh of about so many vertices.
Mesh makeStalks(uint64_t vertices, uint32_t material) {
  const double each = static_cast<double>(vertices) / kStalks;
  const auto sides = std::max<uint32_t>(static_cast<uint32_t>(std::sqrt(each / 3.0)), 6);
  const auto rings = std::max<uint32_t>(static_cast<uint32_t>(std::lround(each / (sides + 1))), 8) - 1;
  Mesh mesh;
  mesh.material = material;
  mesh.binding.influences = 4;
  mesh.binding.leastJoints = kStalks * kJoints;
  for (uint32_t stalk = 0; stalk < kStalks; ++stalk) {
    const auto base = static_cast<uint32_t>(mesh.positions.size());
    for (uint32_t ring = 0; ring <= rings; ++ring) {
      const float height = kBone * kJoints * static_cast<float>(ring) / static_cast<float>(rings);
      for (uint32_t side = 0; side <= sides; ++side)
        addVertex(mesh, stalk, height, 2.0f * kPi * static_cast<float>(side) / static_cast<float>(sides));
    }
    for (uint32_t ring = 0; ring < rings; ++ring) {
      for (uint32_t side = 0; side < sides; ++side) {
        const uint32_t a = base + ring * (sides + 1) + side, above = a + sides + 1;
        mesh.indices.insert(mesh.indices.end(), {a, a + 1, above + 1, a, above + 1, above});
      }
    }
  }
  return mesh;
}

/// Turns a joint back and forth; later joints follow earlier ones.
Channel swayJoint(uint32_t node, uint32_t stalk, uint32_t joint) {
  Channel channel;
  channel.node = node;
  channel.path = AnimatedPath::Rotation;
  const float heading = 2.4f * static_cast<float>(stalk);
  const vec3 axis(std::cos(heading), 0.0f, std::sin(heading));
  for (uint32_t key = 0; key < kKeys; ++key) {
    const float seconds = 0.25f * static_cast<float>(key);
    const float phase = 2.0f * kPi * 0.4f * seconds - 0.5f * static_cast<float>(joint) + heading;
    const quat q = glm::angleAxis(0.22f * std::sin(phase), axis);
    channel.times.push_back(seconds);
    channel.values.insert(channel.values.end(), {q.x, q.y, q.z, q.w});
  }
  return channel;
}

/// Nodes of all joints, and the skin.
void addJoints(Scene& scene, Animation& animation) {
  Skin skin;
  for (uint32_t stalk = 0; stalk < kStalks; ++stalk) {
    for (uint32_t joint = 0; joint < kJoints; ++joint) {
      const auto index = static_cast<uint32_t>(scene.nodes.size());
      Node node;
      node.parent = joint == 0 ? kNone : index - 1;
      node.translation = joint == 0 ? rootOf(stalk) : vec3(0.0f, kBone, 0.0f);
      scene.nodes.push_back(std::move(node));
      skin.joints.push_back(index);
      mat4 inverse(1.0f);
      inverse[3] = vec4(-rootOf(stalk) - vec3(0.0f, kBone * static_cast<float>(joint), 0.0f), 1.0f);
      skin.inverseBind.push_back(inverse);
      animation.channels.push_back(swayJoint(index, stalk, joint));
    }
  }
  scene.skins.push_back(std::move(skin));
}

/// A ball with one target that flattens it, normals too, and its weight.
void addBall(Scene& scene, uint32_t material, Animation& animation) {
  Mesh ball = makeSphere(0.7f, 48, 24, material);
  ball.morphs.count = 1;
  for (size_t i = 0; i < ball.positions.size(); ++i) {
    const vec3 p = ball.positions[i], n = ball.normals[i];
    const vec3 flat = glm::normalize(n / vec3(1.3f, 0.4f, 1.3f));
    ball.morphs.starts.push_back(static_cast<uint32_t>(i));
    ball.morphs.deltas.push_back({0, p * vec3(0.3f, -0.6f, 0.3f), flat - n, vec3(0.0f)});
  }
  ball.morphs.starts.push_back(static_cast<uint32_t>(ball.positions.size()));
  const uint32_t node = addShape(scene, "ball", std::move(ball), vec3(0.0f, 0.7f, 4.6f));
  scene.nodes[node].weights = {0.0f};
  Channel channel;
  channel.node = node;
  channel.path = AnimatedPath::Weights;
  channel.interpolation = Interpolation::CubicSpline;
  for (uint32_t key = 0; key <= 20; ++key) {
    channel.times.push_back(0.5f * static_cast<float>(key));
    channel.values.insert(channel.values.end(), {0.0f, key % 2 == 0 ? 0.0f : 1.0f, 0.0f});
  }
  animation.channels.push_back(std::move(channel));
}

}  // namespace

Scene makeSkinned(uint64_t vertices) {
  Scene scene;
  const uint32_t floor = addMaterial(scene, "floor", vec3(0.5f, 0.45f, 0.4f), 0.6f);
  const uint32_t leaf = addMaterial(scene, "leaf", vec3(0.12f, 0.45f, 0.1f), 0.4f);
  const uint32_t rubber = addMaterial(scene, "rubber", vec3(0.75f, 0.12f, 0.08f), 0.35f);
  addShape(scene, "floor",
           makeQuad(vec3(-12.0f, 0.0f, -12.0f), vec3(0.0f, 0.0f, 24.0f), vec3(24.0f, 0.0f, 0.0f), floor));
  Animation animation;
  animation.name = "sway";
  addJoints(scene, animation);
  const uint32_t stalks = addShape(scene, "stalks", makeStalks(vertices, leaf));
  scene.nodes[stalks].skin = 0;
  addBall(scene, rubber, animation);
  scene.animations.push_back(std::move(animation));
  addSun(scene, vec3(-0.5f, -1.0f, -0.4f), vec3(1.0f, 0.95f, 0.88f), 6.0f);
  addCamera(scene, "camera", vec3(0.0f, 4.2f, 10.5f), vec3(0.0f, 1.1f, 0.0f), 42.0f);
  scene.environment = uniformEnvironment(vec3(0.3f, 0.36f, 0.45f));
  return scene;
}

}  // namespace tandem::scene
