#include "trace/static_merge.h"

#include "scene/animation.h"

namespace tandem::trace {

namespace {

/// Nodes that are animated, or below one that is.
std::vector<bool> movingNodes(const scene::Scene& scene) {
  std::vector<bool> moving(scene.nodes.size(), false);
  for (const scene::Animation& animation : scene.animations) {
    for (const scene::Channel& channel : animation.channels) {
      if (channel.path != scene::AnimatedPath::Weights) moving[channel.node] = true;
    }
  }
  for (size_t n = 0; n < scene.nodes.size(); n++) {
    const uint32_t parent = scene.nodes[n].parent;  // smaller than n
    if (parent != scene::kNone && moving[parent]) moving[n] = true;
  }
  return moving;
}

void append(const scene::Mesh& mesh, const mat4& world, uint32_t instance, MergedGroup& group) {
  const auto base = static_cast<uint32_t>(group.positions.size());
  for (const vec3& p : mesh.positions) group.positions.push_back(vec3(world * vec4(p, 1.0f)));
  for (uint32_t index : mesh.indices) group.indices.push_back(base + index);
  for (uint32_t primitive = 0; primitive < mesh.indices.size() / 3; primitive++)
    group.sources.push_back({instance, primitive});
}

/// Instances in order, in as few groups as the limits allow.
std::vector<std::vector<uint32_t>> dealt(const scene::Scene& scene, const std::vector<HostInstance>& instances,
                                         const std::vector<uint32_t>& members, const GroupLimits& limits) {
  std::vector<std::vector<uint32_t>> groups;
  uint64_t triangles = 0, vertices = 0;
  for (const uint32_t i : members) {
    const scene::Mesh& mesh = scene.meshes[instances[i].mesh];
    triangles += mesh.indices.size() / 3;
    vertices += mesh.positions.size();
    if (groups.empty() || triangles > limits.triangles || vertices > limits.vertices) {
      groups.emplace_back();
      triangles = mesh.indices.size() / 3;
      vertices = mesh.positions.size();
    }
    groups.back().push_back(i);
  }
  return groups;
}

}  // namespace

std::vector<MergedGroup> mergeStatic(const scene::Scene& scene, const std::function<bool(uint32_t mesh)>& alphaTested,
                                     std::vector<HostInstance>& instances, const GroupLimits& limits) {
  const std::vector<bool> moving = movingNodes(scene);
  const scene::Pose pose = scene::poseAt(scene, 0.0);
  std::vector<uint32_t> uses(scene.meshes.size(), 0);
  for (const HostInstance& instance : instances) uses[instance.mesh]++;
  std::vector<uint32_t> members[2];
  uint64_t merged = 0;
  for (uint32_t i = 0; i < instances.size(); i++) {
    const HostInstance& instance = instances[i];
    if (instance.deforming != scene::kNone) continue;
    const scene::Mesh& mesh = scene.meshes[instance.mesh];
    const uint64_t triangles = mesh.indices.size() / 3;
    Bounds bounds;
    for (const vec3& p : mesh.positions) bounds.add(p);
    // What traversal would skip stays an instance, and is skipped.
    if (moving[instance.node] || placedBounds(bounds, pose.world[instance.node]).empty()) continue;
    if (uses[instance.mesh] > 1 && merged + triangles > kMergeLimit) continue;
    merged += triangles;
    members[alphaTested(instance.mesh) ? 1 : 0].push_back(i);
  }
  std::vector<MergedGroup> groups;
  for (int alpha = 0; alpha < 2; alpha++) {
    for (const std::vector<uint32_t>& together : dealt(scene, instances, members[alpha], limits)) {
      if (together.size() < 2) continue;
      MergedGroup& group = groups.emplace_back();
      group.alphaTested = alpha == 1;
      for (uint32_t i : together) {
        instances[i].merged = true;
        append(scene.meshes[instances[i].mesh], pose.world[instances[i].node], i, group);
      }
    }
  }
  return groups;
}

}  // namespace tandem::trace
