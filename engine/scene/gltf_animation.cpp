#include <algorithm>
#include <cmath>
#include <set>

#include "scene/gltf_accessor.h"
#include "scene/gltf_parts.h"

namespace tandem::scene::gltf {

namespace {

std::optional<AnimatedPath> toPath(const std::string& path) {
  if (path == "translation") return AnimatedPath::Translation;
  if (path == "rotation") return AnimatedPath::Rotation;
  if (path == "scale") return AnimatedPath::Scale;
  if (path == "weights") return AnimatedPath::Weights;
  return std::nullopt;
}

std::optional<Interpolation> toInterpolation(const std::string& name) {
  if (name == "LINEAR" || name.empty()) return Interpolation::Linear;
  if (name == "STEP") return Interpolation::Step;
  if (name == "CUBICSPLINE") return Interpolation::CubicSpline;
  return std::nullopt;
}

/// Floats of one value of a channel, and the components of the accessor that holds them.
struct Width {
  size_t floats = 3;
  int components = 3;
};

Width widthOf(const Scene& scene, const Channel& channel) {
  if (channel.path == AnimatedPath::Rotation) return {4, 4};
  if (channel.path == AnimatedPath::Weights) return {scene.nodes[channel.node].weights.size(), 1};
  return {};
}

/// What is wrong with a channel's keys; empty: nothing.
std::string findKeyProblem(const Scene& scene, const tinygltf::Accessor& output, const Channel& channel) {
  const bool cubic = channel.interpolation == Interpolation::CubicSpline;
  const Width width = widthOf(scene, channel);
  if (componentsOf(output) != width.components || output.type == TINYGLTF_TYPE_MAT2) {
    return width.components == 1 ? "its output is not SCALAR"
                                 : fmt::format("its output is not VEC{}", width.components);
  }
  for (size_t i = 0; i < channel.times.size(); ++i) {
    if (!std::isfinite(channel.times[i])) return "its input times are not finite";
    if (i > 0 && channel.times[i] <= channel.times[i - 1]) return "its input times do not increase";
  }
  const size_t needed = channel.times.size() * width.floats * (cubic ? 3 : 1);
  const bool exact = cubic || channel.path == AnimatedPath::Weights;
  if (channel.values.size() < needed || (exact && channel.values.size() > needed)) {
    return fmt::format("its output has too {} values{}", channel.values.size() < needed ? "few" : "many",
                       cubic ? " (CUBICSPLINE needs three a key)" : "");
  }
  for (const float value : channel.values) {
    if (!std::isfinite(value)) return "its output values are not finite";
  }
  return {};
}

/// Rotations without direction, as (0, 0, 0, 0): no interpolation can turn them into one.
bool hasNullRotation(const Channel& channel) {
  if (channel.path != AnimatedPath::Rotation) return false;
  const bool cubic = channel.interpolation == Interpolation::CubicSpline;
  for (size_t key = 0; key < channel.times.size(); ++key) {
    const float* q = &channel.values[4 * (cubic ? 3 * key + 1 : key)];
    if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12f) return true;
  }
  return false;
}

std::optional<Refusal> readKeys(Document& document, const tinygltf::AnimationSampler& sampler, Channel& channel) {
  auto times = readFloats(document, sampler.input);
  if (!times) return times.refusal();
  auto values = readFloats(document, sampler.output);
  if (!values) return values.refusal();
  channel.times = std::move(*times);
  channel.values = std::move(*values);
  return std::nullopt;
}

/// Sets what a channel moves, and how; says why it cannot, or nothing.
std::string setTarget(const Scene& scene, const tinygltf::AnimationChannel& from,
                      const tinygltf::AnimationSampler& sampler, Channel& channel) {
  const auto path = toPath(from.target_path);
  if (!path) return fmt::format("target.path '{}' is unknown", printable(from.target_path));
  const auto interpolation = toInterpolation(sampler.interpolation);
  if (!interpolation) return fmt::format("interpolation '{}' is unknown", printable(sampler.interpolation));
  if (*path != AnimatedPath::Weights && scene.nodes[channel.node].hasMatrix) return "its node has a matrix";
  if (*path == AnimatedPath::Weights && scene.nodes[channel.node].weights.empty())
    return "weights move nothing: its node has no morph targets";
  channel.path = *path;
  channel.interpolation = *interpolation;
  return {};
}

/// Adds the channels of one animation. A refusal is a broken accessor; everything else that is wrong costs one channel.
std::optional<Refusal> addChannels(Document& document, const Scene& scene, const std::vector<uint32_t>& sceneNode,
                                   size_t index, Animation& animation) {
  const tinygltf::Animation& source = document.model.animations[index];
  std::set<std::pair<uint32_t, AnimatedPath>> driven;
  for (size_t c = 0; c < source.channels.size(); ++c) {
    const tinygltf::AnimationChannel& from = source.channels[c];
    if (from.target_node < 0 || sceneNode[static_cast<size_t>(from.target_node)] == kNone) continue;
    const tinygltf::AnimationSampler& sampler = source.samplers[static_cast<size_t>(from.sampler)];
    Channel channel;
    channel.node = sceneNode[static_cast<size_t>(from.target_node)];
    std::string problem = setTarget(scene, from, sampler, channel);
    if (problem.empty() && !driven.insert({channel.node, channel.path}).second) {
      problem = "another channel drives the same property";
    }
    if (problem.empty()) {
      if (auto refusal = readKeys(document, sampler, channel)) return refusal;
      problem = findKeyProblem(scene, document.model.accessors[static_cast<size_t>(sampler.output)], channel);
    }
    const std::string where = fmt::format("animations[{}].channels[{}]", index, c);
    if (!problem.empty()) {
      document.warnings.add(fmt::format("an animation's channel was left out: {}", problem), where);
      continue;
    }
    channel.values.resize(channel.times.size() * widthOf(scene, channel).floats *
                          (channel.interpolation == Interpolation::CubicSpline ? 3 : 1));
    if (hasNullRotation(channel)) {
      document.warnings.add("an animation's rotation keys have no direction: no rotation was used there", where);
    }
    animation.channels.push_back(std::move(channel));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> buildAnimations(Document& document, Scene& scene, const std::vector<uint32_t>& sceneNode) {
  for (size_t i = 0; i < document.model.animations.size(); ++i) {
    Animation animation;
    animation.name = printable(document.model.animations[i].name);
    if (auto refusal = addChannels(document, scene, sceneNode, i, animation)) return refusal;
    if (!animation.channels.empty()) scene.animations.push_back(std::move(animation));
  }
  return std::nullopt;
}

}  // namespace tandem::scene::gltf
