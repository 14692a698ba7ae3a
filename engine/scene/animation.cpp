#include "scene/animation.h"

#include <algorithm>
#include <cmath>
#include <glm/gtc/type_ptr.hpp>
#include <span>

#include "scene/deform.h"

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

/// Floats of one value: as many for each key, or three times that for splines.
size_t widthOf(const Channel& channel) {
  const size_t perKey = channel.values.size() / channel.times.size();
  return channel.interpolation == Interpolation::CubicSpline ? perKey / 3 : perKey;
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

/// Cubic Hermite spline of one float, glTF 2.0 appendix C.5. `key`: in-tangent, value and out-tangent, `width` apart.
float cubic(const float* from, const float* to, size_t width, const KeySpan& keys) {
  const float t = keys.t;
  const float t2 = t * t;
  const float t3 = t2 * t;
  return (2.0f * t3 - 3.0f * t2 + 1.0f) * from[width] + keys.span * (t3 - 2.0f * t2 + t) * from[2 * width] +
         (-2.0f * t3 + 3.0f * t2) * to[width] + keys.span * (t3 - t2) * to[0];
}

/// The value's floats, number by number.
void sampleChannel(const Channel& channel, const KeySpan& keys, std::span<float> out) {
  const size_t width = out.size();
  const bool spline = channel.interpolation == Interpolation::CubicSpline;
  const size_t stride = spline ? 3 * width : width;
  for (size_t k = 0; k < width; ++k) {
    const float* a = &channel.values[keys.from * stride + k];
    const float* b = &channel.values[keys.to * stride + k];
    if (keys.from == keys.to) {
      out[k] = spline ? a[width] : a[0];
    } else if (spline) {
      out[k] = cubic(a, b, width, keys);
    } else {
      out[k] = channel.interpolation == Interpolation::Step ? a[0] : a[0] + (b[0] - a[0]) * keys.t;
    }
  }
}

vec4 sampleVector(const Channel& channel, double seconds) {
  const KeySpan keys = findKeys(channel.times, seconds);
  vec4 value(0.0f);
  if (channel.path == AnimatedPath::Rotation && channel.interpolation == Interpolation::Linear) {
    const auto key = [&](size_t i) { return glm::make_vec4(&channel.values[4 * i]); };
    return keys.from == keys.to ? key(keys.from) : slerp(key(keys.from), key(keys.to), keys.t);
  }
  sampleChannel(channel, keys, {&value.x, channel.path == AnimatedPath::Rotation ? size_t{4} : size_t{3}});
  return value;
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

void applyChannel(const Channel& channel, double seconds, std::vector<Local>& locals, Pose& pose) {
  if (channel.times.empty()) return;
  Local& local = locals[channel.node];
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(channel.path));
  if ((local.moved & bit) != 0) return;
  local.moved |= bit;
  switch (channel.path) {
    case AnimatedPath::Translation:
      local.translation = vec3(sampleVector(channel, seconds));
      break;
    case AnimatedPath::Rotation:
      local.rotation = toQuat(sampleVector(channel, seconds));
      break;
    case AnimatedPath::Scale:
      local.scale = vec3(sampleVector(channel, seconds));
      break;
    case AnimatedPath::Weights: {
      std::vector<float>& weights = pose.weights[channel.node];
      weights.resize(widthOf(channel));
      sampleChannel(channel, findKeys(channel.times, seconds), weights);
      break;
    }
  }
}

bool isFinite(vec3 p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

/// Object-space bounds of the vertices that triangles use.
Bounds meshBounds(const Mesh& mesh, const std::vector<vec3>& positions) {
  Bounds bounds;
  for (const uint32_t index : mesh.indices) {
    if (isFinite(positions[index])) bounds.add(positions[index]);
  }
  return bounds;
}

bool hasWeights(const Scene& scene) {
  return std::ranges::any_of(scene.nodes, [](const Node& node) { return !node.weights.empty(); }) ||
         std::ranges::any_of(scene.animations, [](const Animation& animation) {
           return std::ranges::any_of(animation.channels,
                                      [](const Channel& c) { return c.path == AnimatedPath::Weights; });
         });
}

/// The corners of a box instead of all points: 20,000 instances of one mesh stay cheap.
void addCorners(const Bounds& box, const mat4& toWorld, Bounds& bounds) {
  if (box.empty()) return;
  for (int corner = 0; corner < 8; ++corner) {
    const vec3 point((corner & 1) != 0 ? box.max.x : box.min.x, (corner & 2) != 0 ? box.max.y : box.min.y,
                     (corner & 4) != 0 ? box.max.z : box.min.z);
    const vec3 world(toWorld * vec4(point, 1.0f));
    if (isFinite(world)) bounds.add(world);
  }
}

}  // namespace

Pose poseAt(const Scene& scene, double seconds) {
  std::vector<Local> locals;
  locals.reserve(scene.nodes.size());
  for (const Node& node : scene.nodes) locals.push_back({node.translation, node.rotation, node.scale});
  Pose pose;
  if (hasWeights(scene)) {
    for (const Node& node : scene.nodes) pose.weights.push_back(node.weights);
  }
  for (const Animation& animation : scene.animations) {
    for (const Channel& channel : animation.channels) applyChannel(channel, seconds, locals, pose);
  }

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
  for (const Mesh& mesh : scene.meshes) ofMesh.push_back(meshBounds(mesh, mesh.positions));

  Bounds bounds;
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    for (const uint32_t mesh : scene.nodes[i].meshes) {
      if (!deforms(scene, i, mesh)) {
        addCorners(ofMesh[mesh], pose.world[i], bounds);
        continue;
      }
      const mat4 toWorld = isSkinned(scene, i, mesh) ? mat4(1.0f) : pose.world[i];
      addCorners(meshBounds(scene.meshes[mesh], deformedPositions(scene, i, mesh, pose)), toWorld, bounds);
    }
  }
  return bounds;
}

bool isAnimated(const Scene& scene) {
  return std::any_of(scene.animations.begin(), scene.animations.end(),
                     [](const Animation& animation) { return !animation.channels.empty(); });
}

}  // namespace tandem::scene
