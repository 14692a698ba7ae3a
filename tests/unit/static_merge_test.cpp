// Which instances are merged into one tree, and that groups stay within what a tree can hold.
#include "trace/static_merge.h"

#include <gtest/gtest.h>

#include <set>

namespace tandem::trace {
namespace {

/// `count` nodes, each with a mesh of its own of `triangles` triangles.
scene::Scene fan(uint32_t count, uint32_t triangles) {
  scene::Scene scene;
  for (uint32_t m = 0; m < count; m++) {
    scene::Mesh mesh;
    mesh.positions.push_back(vec3(float(m), 0, 0));
    for (uint32_t t = 0; t <= triangles; t++) mesh.positions.push_back({float(m) + 1, float(t), 0});
    for (uint32_t t = 0; t < triangles; t++) mesh.indices.insert(mesh.indices.end(), {0, t + 1, t + 2});
    mesh.normals.assign(mesh.positions.size(), vec3(0, 0, 1));
    scene.meshes.push_back(std::move(mesh));
    scene.nodes.emplace_back().meshes.push_back(m);
  }
  return scene;
}

std::vector<HostInstance> instancesOf(const scene::Scene& scene) {
  std::vector<HostInstance> instances;
  for (uint32_t n = 0; n < scene.nodes.size(); n++) {
    for (uint32_t mesh : scene.nodes[n].meshes) instances.push_back({mesh, n});
  }
  return instances;
}

/// Every merged instance's triangles are in one group, once, where they belong.
void expectComplete(const scene::Scene& scene, const std::vector<HostInstance>& instances,
                    const std::vector<MergedGroup>& groups) {
  std::set<std::pair<uint32_t, uint32_t>> found;
  for (const MergedGroup& group : groups) {
    ASSERT_EQ(group.indices.size(), 3 * group.sources.size());
    for (size_t t = 0; t < group.sources.size(); t++) {
      const shared::HitSource& source = group.sources[t];
      EXPECT_TRUE(found.emplace(source.instance, source.primitive).second);
      const scene::Mesh& mesh = scene.meshes[instances[source.instance].mesh];
      for (size_t k = 0; k < 3; k++)
        EXPECT_EQ(group.positions.at(group.indices[3 * t + k]), mesh.positions[mesh.indices[3 * source.primitive + k]]);
    }
  }
  size_t expected = 0;
  for (const HostInstance& instance : instances) {
    if (instance.merged) expected += scene.meshes[instance.mesh].indices.size() / 3;
  }
  EXPECT_EQ(found.size(), expected);
}

bool opaque(uint32_t) { return false; }

TEST(MergeStatic, MakesOneGroupOfAllThatFits) {
  const scene::Scene scene = fan(7, 10);
  std::vector<HostInstance> instances = instancesOf(scene);
  const auto groups = mergeStatic(scene, opaque, instances);
  ASSERT_EQ(groups.size(), 1u);
  expectComplete(scene, instances, groups);
  EXPECT_EQ(groups[0].sources.size(), 70u);
}

TEST(MergeStatic, SplitsGroupsAtTheLimitOfTriangles) {
  const scene::Scene scene = fan(7, 10);
  std::vector<HostInstance> instances = instancesOf(scene);
  const auto groups = mergeStatic(scene, opaque, instances, {.triangles = 30});
  ASSERT_EQ(groups.size(), 2u);  // 3 + 3; the last alone gains nothing
  for (const MergedGroup& group : groups) EXPECT_EQ(group.sources.size(), 30u);
  EXPECT_FALSE(instances[6].merged);
  expectComplete(scene, instances, groups);
}

TEST(MergeStatic, SplitsGroupsAtTheLimitOfVertices) {
  const scene::Scene scene = fan(6, 10);  // of 12 vertices each
  std::vector<HostInstance> instances = instancesOf(scene);
  const auto groups = mergeStatic(scene, opaque, instances, {.vertices = 35});
  ASSERT_EQ(groups.size(), 3u);
  for (const MergedGroup& group : groups) EXPECT_EQ(group.positions.size(), 24u);
  expectComplete(scene, instances, groups);
}

TEST(MergeStatic, LeavesAloneWhatNoGroupCanHold) {
  const scene::Scene scene = fan(3, 10);
  std::vector<HostInstance> instances = instancesOf(scene);
  EXPECT_TRUE(mergeStatic(scene, opaque, instances, {.triangles = 15}).empty());
  for (const HostInstance& instance : instances) EXPECT_FALSE(instance.merged);
}

TEST(MergeStatic, KeepsAlphaTestedApart) {
  const scene::Scene scene = fan(6, 10);
  std::vector<HostInstance> instances = instancesOf(scene);
  const auto groups = mergeStatic(
      scene, [](uint32_t mesh) { return mesh % 2 == 1; }, instances);
  ASSERT_EQ(groups.size(), 2u);
  for (const MergedGroup& group : groups) {
    for (const shared::HitSource& source : group.sources) EXPECT_EQ(source.instance % 2 == 1, group.alphaTested);
  }
  expectComplete(scene, instances, groups);
}

}  // namespace
}  // namespace tandem::trace
