#include "scene/animation.h"

#include <algorithm>
#include <cmath>

namespace tandem::scene {

namespace {

/// Where a time falls among the keys: between `from` and `to`, a fraction `t` of the way, `span` seconds apart.
struct KeySpan {
  size_t from = 0;
  size_t to = 0;
  float t = 0.0f;
  float span = 0.0f;
};

KeySpan findKeys(const std::vector<float>& times, double seconds) {
  const auto after = std::upper_bound(times.begin(), times.end(), seconds,
                                      [](double value, float time) { return value < static_cast<double>(time); });
  if (after == times.begin()) return {};
  const size_t from = static_cast<size_t>(after - times.begin()) - 1;
  if (after == times.end()) return {from, from, 0.0f, 0.0f};
  // In double: near t = 1000 s a float has lost what a shutter's opening needs.
  const double span = static_cast<double>(times[from + 1]) - static_cast<double>(times[from]);
  const double t = (seconds - static_cast<double>(times[from])) / span;
  return {from, from + 1, static_cast<float>(t), static_cast<float>(span)};
}

vec4 keyValue(const Channel& channel, size_t index) {
  const size_t width = channel.path == AnimatedPath::Rotation ? 4 : 3;
  const float* v = channel.values.data() + index * width;
  return vec4(v[0], v[1], v[2], width == 4 ? v[3] : 0.0f);
}

quat toQuat(vec4 v) {
  const float length = glm::length(v);
  if (!(length > 0.0f) || !std::isfinite(length)) return quat(1.0f, 0.0f, 0.0f, 0.0f);
  return quat(v.w / length, v.x / length, v.y / length, v.z / length);
}

/// Spherical interpolation along the shorter arc, glTF 2.0 appendix C.4.
vec4 slerp(vec4 a, vec4 b, float t) {
  const quat q = glm::slerp(toQuat(a), toQuat(b), t);  // glm negates one end where the arc would be the longer one
  return vec4(q.x, q.y, q.z, q.w);
}

/// Cubic Hermite spline, glTF 2.0 appendix C.5.
vec4 cubic(const Channel& channel, const KeySpan& keys) {
  const vec4 p0 = keyValue(channel, 3 * keys.from + 1);
  if (keys.from == keys.to) return p0;
  const vec4 out0 = keyValue(channel, 3 * keys.from + 2);
  const vec4 in1 = keyValue(channel, 3 * keys.to);
  const vec4 p1 = keyValue(channel, 3 * keys.to + 1);
  const float t = keys.t;
  const float t2 = t * t;
  const float t3 = t2 * t;
  return (2.0f * t3 - 3.0f * t2 + 1.0f) * p0 + keys.span * (t3 - 2.0f * t2 + t) * out0 + (-2.0f * t3 + 3.0f * t2) * p1 +
         keys.span * (t3 - t2) * in1;
}

vec4 sampleChannel(const Channel& channel, double seconds) {
  const KeySpan keys = findKeys(channel.times, seconds);
  if (channel.interpolation == Interpolation::CubicSpline) return cubic(channel, keys);
  const vec4 a = keyValue(channel, keys.from);
  if (channel.interpolation == Interpolation::Step || keys.from == keys.to) return a;
  const vec4 b = keyValue(channel, keys.to);
  return channel.path == AnimatedPath::Rotation ? slerp(a, b, keys.t) : a + (b - a) * keys.t;
}

mat4 composeTrs(vec3 translation, quat rotation, vec3 scale) {
  mat4 m = glm::mat4_cast(rotation);
  m[0] *= scale.x;
  m[1] *= scale.y;
  m[2] *= scale.z;
  m[3] = vec4(translation, 1.0f);
  return m;
}

/// A node's own movement at one time, before its parents'.
struct Local {
  vec3 translation;
  quat rotation;
  vec3 scale;
  uint8_t moved = 0;  // one bit a property that a channel has set already
};

void applyChannel(const Channel& channel, double seconds, std::vector<Local>& locals) {
  if (channel.times.empty()) return;
  Local& local = locals[channel.node];
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(channel.path));
  if ((local.moved & bit) != 0) return;
  local.moved |= bit;
  const vec4 value = sampleChannel(channel, seconds);
  switch (channel.path) {
    case AnimatedPath::Translation:
      local.translation = vec3(value);
      break;
    case AnimatedPath::Rotation:
      local.rotation = toQuat(value);
      break;
    case AnimatedPath::Scale:
      local.scale = vec3(value);
      break;
  }
}

bool isFinite(vec3 p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

/// Object-space bounds of the vertices that triangles use.
Bounds meshBounds(const Mesh& mesh) {
  Bounds bounds;
  for (const uint32_t index : mesh.indices) {
    if (isFinite(mesh.positions[index])) bounds.add(mesh.positions[index]);
  }
  return bounds;
}

}  // namespace

Pose poseAt(const Scene& scene, double seconds) {
  std::vector<Local> locals;
  locals.reserve(scene.nodes.size());
  for (const Node& node : scene.nodes) locals.push_back({node.translation, node.rotation, node.scale});
  for (const Animation& animation : scene.animations) {
    for (const Channel& channel : animation.channels) applyChannel(channel, seconds, locals);
  }

  Pose pose;
  pose.world.reserve(scene.nodes.size());
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    const Node& node = scene.nodes[i];
    const mat4 local =
        node.hasMatrix ? node.matrix : composeTrs(locals[i].translation, locals[i].rotation, locals[i].scale);
    pose.world.push_back(node.parent == kNone ? local : pose.world[node.parent] * local);
  }
  return pose;
}

Bounds boundsOf(const Scene& scene, const Pose& pose) {
  std::vector<Bounds> ofMesh;
  ofMesh.reserve(scene.meshes.size());
  for (const Mesh& mesh : scene.meshes) ofMesh.push_back(meshBounds(mesh));

  Bounds bounds;
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    for (const uint32_t mesh : scene.nodes[i].meshes) {
      const Bounds& box = ofMesh[mesh];
      if (box.empty()) continue;
      // The box's corners instead of all points: 20,000 instances of one mesh stay cheap.
      for (int corner = 0; corner < 8; ++corner) {
        const vec3 point((corner & 1) != 0 ? box.max.x : box.min.x, (corner & 2) != 0 ? box.max.y : box.min.y,
                         (corner & 4) != 0 ? box.max.z : box.min.z);
        const vec3 world(pose.world[i] * vec4(point, 1.0f));
        if (isFinite(world)) bounds.add(world);
      }
    }
  }
  return bounds;
}

bool isAnimated(const Scene& scene) {
  return std::any_of(scene.animations.begin(), scene.animations.end(),
                     [](const Animation& animation) { return !animation.channels.empty(); });
}

}  // namespace tandem::scene
