// The trees that traversal walks: complete, tight enough to be right, shallow enough for the stack, and the same on
// every run.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <glm/gtc/matrix_transform.hpp>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>

#include "base/check.h"
#include "base/content_hash.h"
#include "base/parallel.h"
#include "trace/compute_bvh.h"
#include "trace/tree_cache.h"

namespace tandem::trace {
namespace {

struct Soup {
  std::vector<vec3> positions;
  std::vector<uint32_t> indices;
  void add(vec3 a, vec3 b, vec3 c) {
    for (vec3 corner : {a, b, c}) {
      indices.push_back(uint32_t(positions.size()));
      positions.push_back(corner);
    }
  }
  MeshTree build() const { return buildMeshTree(positions, indices); }
};

/// Small triangles thrown into a cube.
Soup randomSoup(uint32_t triangles, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(-5.0f, 5.0f), size(-0.2f, 0.2f);
  const auto point = [&](auto& range) {
    const float x = range(random), y = range(random), z = range(random);
    return vec3(x, y, z);
  };
  Soup soup;
  for (uint32_t i = 0; i < triangles; i++) {
    const vec3 at = point(place);
    const vec3 b = at + point(size), c = at + point(size);
    soup.add(at, b, c);
  }
  return soup;
}

bool contains(const Bounds& box, vec3 point) {
  return glm::all(glm::lessThanEqual(box.min, point)) && glm::all(glm::greaterThanEqual(box.max, point));
}

Bounds childBox(const shared::BvhNode& node, int child) {
  const vec4& xy = child == 0 ? node.xy0 : node.xy1;
  return child == 0 ? Bounds{{xy.x, xy.z, node.z01.x}, {xy.y, xy.w, node.z01.y}}
                    : Bounds{{xy.x, xy.z, node.z01.z}, {xy.y, xy.w, node.z01.w}};
}

/// Walks a tree and collects what it finds: the boxes above every leaf entry, all of which must hold the entry.
struct Walk {
  std::span<const shared::BvhNode> nodes;
  std::map<uint32_t, std::vector<Bounds>> boxesAbove;  // by leaf entry
  uint32_t depth = 0;
  uint32_t largestLeaf = 0;
  bool unreachableLeafSeen = false;

  void down(uint32_t reference, std::vector<Bounds> above) {
    if (reference & shared::kLeafBit) {
      const uint32_t count = (reference & ~shared::kLeafBit) >> shared::kLeafCountShift;
      const uint32_t first = reference & ((1u << shared::kLeafCountShift) - 1);
      largestLeaf = std::max(largestLeaf, count);
      for (uint32_t entry = first; entry < first + count; entry++) {
        EXPECT_TRUE(boxesAbove.emplace(entry, above).second) << "entry " << entry << " in two leaves";
      }
      return;
    }
    ASSERT_LT(reference, nodes.size());
    depth = std::max(depth, uint32_t(above.size()) + 1);
    for (int child = 0; child < 2; child++) {
      const Bounds box = childBox(nodes[reference], child);
      if (box.min.x >= 1e29f) {
        unreachableLeafSeen = true;
        continue;
      }
      auto longer = above;
      longer.push_back(box);
      down(child == 0 ? nodes[reference].child0 : nodes[reference].child1, longer);
    }
  }
};

void expectSound(const Soup& soup, const MeshTree& tree, size_t usable) {
  ASSERT_EQ(tree.triangles.size(), usable);
  if (usable == 0) {
    EXPECT_TRUE(tree.nodes.empty());
    EXPECT_TRUE(tree.bounds.empty());
    return;
  }
  Walk walk{.nodes = tree.nodes, .boxesAbove = {}};
  walk.down(0, {});
  EXPECT_LE(walk.depth, kMeshTreeDepth);
  EXPECT_LE(walk.largestLeaf, 15u);
  ASSERT_EQ(walk.boxesAbove.size(), usable);
  std::vector<bool> seen(soup.indices.size() / 3);
  for (const auto& [entry, boxes] : walk.boxesAbove) {
    const shared::BvhTriangle& triangle = tree.triangles.at(entry);
    EXPECT_FALSE(seen.at(triangle.primitive)) << "primitive " << triangle.primitive << " twice";
    seen[triangle.primitive] = true;
    const vec3 corners[3] = {triangle.a, triangle.b, triangle.c};
    for (int k = 0; k < 3; k++) {
      EXPECT_EQ(corners[k], soup.positions[soup.indices[3 * triangle.primitive + k]]);
      EXPECT_TRUE(contains(tree.bounds, corners[k]));
      for (const Bounds& box : boxes) EXPECT_TRUE(contains(box, corners[k]));
    }
  }
}

bool sameBits(const MeshTree& a, const MeshTree& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
  };
  return same(a.nodes, b.nodes) && same(a.triangles, b.triangles);
}

TEST(MeshTree, HoldsEveryTriangleOnceInBoxesThatContainIt) {
  for (uint32_t count : {1u, 2u, 3u, 4u, 5u, 16u, 1000u, 20'000u}) {
    SCOPED_TRACE(count);
    const Soup soup = randomSoup(count, count);
    expectSound(soup, soup.build(), count);
  }
}

TEST(MeshTree, IsTheSameOnEveryRun) {
  // Large enough for Embree's threads.
  const Soup soup = randomSoup(300'000, 3);
  const MeshTree first = soup.build();
  for (int run = 0; run < 4; run++) EXPECT_TRUE(sameBits(first, soup.build())) << "run " << run;
}

/// Of nodes and triangles.
std::string hashOf(const MeshTree& tree) {
  return contentHash(std::as_bytes(std::span(tree.nodes))).text() +
         contentHash(std::as_bytes(std::span(tree.triangles))).text();
}

/// Starts itself in a process that has one core, which prints its hash.
TEST(MeshTree, IsTheSameOnOneCoreAndOnAll) {
  const std::string hash = hashOf(randomSoup(300'000, 3).build());
  if (std::getenv("TANDEM_TEST_PRINTS_HASH") != nullptr) {
    std::printf("cores %zu hash %s\n", coreCount(), hash.c_str());
    return;
  }
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  // Embree and the standard library count cores when they start: the process must be a new one.
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  const std::string command = fmt::format(
      "TANDEM_TEST_PRINTS_HASH=1 /proc/{}/exe --gtest_filter=MeshTree.IsTheSameOnOneCoreAndOnAll", ::getpid());
  FILE* child = ::popen(command.c_str(), "r");
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
  ASSERT_NE(child, nullptr);
  std::string said;
  for (char line[256]; std::fgets(line, sizeof(line), child) != nullptr;) said += line;
  EXPECT_EQ(::pclose(child), 0);
  const std::string expected = fmt::format("cores 1 hash {}\n", hash);
  EXPECT_NE(said.find(expected), std::string::npos) << said << "instead of " << expected;
}

TEST(MeshTree, ManyAtOnceAreWhatTheyAreAlone) {
  std::vector<Soup> soups;
  std::vector<MeshView> views;
  for (uint32_t i = 0; i < 40; i++) soups.push_back(randomSoup(i == 7 ? 60'000 : 50 * i, i));
  for (const Soup& soup : soups) views.push_back({soup.positions, soup.indices});
  const std::vector<MeshTree> trees = buildMeshTrees(views);
  ASSERT_EQ(trees.size(), soups.size());
  for (size_t i = 0; i < soups.size(); i++) EXPECT_TRUE(sameBits(trees[i], soups[i].build())) << "mesh " << i;
}

TEST(MeshTree, OfNothingIsEmpty) { expectSound({}, Soup{}.build(), 0); }

TEST(MeshTree, OfIdenticalTrianglesIsShallow) {
  Soup soup;
  for (int i = 0; i < 5000; i++) soup.add({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  expectSound(soup, soup.build(), 5000);
}

TEST(MeshTree, OfPointsAndFlatTrianglesIsSound) {
  Soup soup;
  for (int i = 0; i < 100; i++) soup.add(vec3(float(i % 3)), vec3(float(i % 3)), vec3(float(i % 3)));
  for (int i = 0; i < 100; i++) soup.add({0, 0, float(i)}, {1, 0, float(i)}, {2, 0, float(i)});
  expectSound(soup, soup.build(), 200);
}

TEST(MeshTree, StaysWithinTheStackWhereSahWouldNot) {
  // Triangles of ever halving size at ever halving distance: SAH peels one off per level.
  Soup soup;
  for (int i = 0; i < 2000; i++) {
    const float size = std::ldexp(1.0f, -(i % 100));
    soup.add({size, 0, 0}, {1.5f * size, 0, 0}, {size, 0.5f * size, 0});
  }
  expectSound(soup, soup.build(), 2000);
}

TEST(BinaryTree, FallsBackToTheMedianWhereTheLimitIsAsTightAsCanBe) {
  // 1024 boxes in 1024 leaves fit into 10 levels in one shape only, and these are lopsided: SAH can't make it.
  std::vector<Bounds> boxes;
  for (int i = 0; i < 1024; i++) {
    const float at = std::ldexp(1.0f, i % 32) + float(i);
    boxes.push_back({vec3(at, 0, 0), vec3(at + 1, 1, 1)});
  }
  const BinaryTree tree = buildBinaryTree(boxes, {.leafSize = 1, .depth = 10});
  Walk walk{.nodes = tree.nodes, .boxesAbove = {}};
  walk.down(0, {});
  EXPECT_EQ(walk.depth, 10u);
  ASSERT_EQ(walk.boxesAbove.size(), boxes.size());
  for (const auto& [entry, above] : walk.boxesAbove) {
    const Bounds& held = boxes[tree.order[entry]];
    for (const Bounds& box : above) EXPECT_TRUE(contains(box, held.min) && contains(box, held.max));
  }
  EXPECT_THROW(buildBinaryTree(std::vector<Bounds>{Bounds{}}, {}), BrokenPromise);
}

TEST(BinaryTree, IsNeverDeeperThanTheStack) {
  // 1025 boxes in 1025 leaves need 11 levels in any shape: refused, not built too deep.
  const std::vector<Bounds> boxes(1025, Bounds{vec3(0), vec3(1)});
  EXPECT_THROW(buildBinaryTree(boxes, {.leafSize = 1, .depth = 10}), BrokenPromise);
  const BinaryTree tree = buildBinaryTree(boxes, {.leafSize = 1, .depth = 11});
  EXPECT_EQ(faultOf(tree.nodes, tree.order.size(), 11), "");
}

TEST(MeshTree, LeavesOutWhatCannotBeTraced) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Soup soup = randomSoup(100, 5);
  for (float bad : {nan, infinity, -infinity, 1e30f, -1e30f, 3e38f, 2.0f * kLargestCoordinate}) {
    for (int axis = 0; axis < 3; axis++) {
      vec3 corner(0.0f);
      corner[axis] = bad;
      soup.add(corner, {1, 0, 0}, {0, 1, 0});
      soup.add({1, 0, 0}, {0, 1, 0}, corner);
    }
  }
  const MeshTree tree = soup.build();
  expectSound(soup, tree, 100);
  for (const shared::BvhTriangle& triangle : tree.triangles) EXPECT_LT(triangle.primitive, 100u);
}

TEST(MeshTree, HoldsTheLargestThatItPromises) {
  Soup soup = randomSoup(10, 6);
  soup.add(vec3(kLargestCoordinate), vec3(-kLargestCoordinate), {0, 1, 0});
  expectSound(soup, soup.build(), 11);
}

TEST(TopTree, SkipsEmptyBoundsAndHoldsTheRestOnce) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> place(-50.0f, 50.0f);
  for (uint32_t count : {0u, 1u, 2u, 3u, 700u}) {
    SCOPED_TRACE(count);
    std::vector<Bounds> bounds;
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < count; i++) {
      bounds.push_back({});
      const float x = place(random), y = place(random);
      expected.push_back(uint32_t(bounds.size()));
      bounds.push_back({{x, y, 0}, {x + 1, y + 1, 1}});
      bounds.push_back({vec3(std::numeric_limits<float>::quiet_NaN()), vec3(1)});
    }
    TopTree tree = buildTopTree(bounds);
    ASSERT_FALSE(tree.nodes.empty());
    Walk walk{.nodes = tree.nodes, .boxesAbove = {}};
    walk.down(0, {});
    EXPECT_EQ(walk.boxesAbove.size(), count);
    EXPECT_LE(walk.depth, kTopTreeDepth);
    EXPECT_LE(walk.largestLeaf, 1u);
    EXPECT_EQ(walk.unreachableLeafSeen, count <= 1);
    for (const auto& [entry, boxes] : walk.boxesAbove) {
      const Bounds& instance = bounds[tree.leaves.at(entry)];
      for (const Bounds& box : boxes) EXPECT_TRUE(contains(box, instance.min) && contains(box, instance.max));
    }
    std::sort(tree.leaves.begin(), tree.leaves.end());
    EXPECT_EQ(tree.leaves, expected);
  }
}

TEST(TopTree, OfInstancesAllInOnePlaceStaysWithinTheStack) {
  const std::vector<Bounds> bounds(20'000, Bounds{vec3(0), vec3(1)});
  const TopTree tree = buildTopTree(bounds);
  Walk walk{.nodes = tree.nodes, .boxesAbove = {}};
  walk.down(0, {});
  EXPECT_EQ(walk.boxesAbove.size(), bounds.size());
  EXPECT_LE(walk.depth, kTopTreeDepth);
}

TEST(Instances, BoundsHoldEveryPlacedCorner) {
  const Bounds object{{-1, -2, -3}, {4, 5, 6}};
  const mat4 placed = glm::translate(mat4(1), {100, -3, 7}) *
                      glm::rotate(mat4(1), 1.1f, glm::normalize(vec3(1, 2, -1))) * glm::scale(mat4(1), {2, -0.5f, 30});
  const Bounds world = placedBounds(object, placed);
  for (int corner = 0; corner < 8; corner++) {
    const vec4 point(corner & 1 ? 4 : -1, corner & 2 ? 5 : -2, corner & 4 ? 6 : -3, 1);
    EXPECT_TRUE(contains(world, vec3(placed * point)));
  }
}

TEST(Instances, RowsUndoTheMatrix) {
  const mat4 placed = glm::translate(mat4(1), {3, -3, 7}) * glm::rotate(mat4(1), 0.4f, glm::normalize(vec3(1, 2, -1))) *
                      glm::scale(mat4(1), {2, -0.5f, 3});
  const shared::BvhInstance instance = makeInstance(placed, 16, 32, shared::kInstanceAlphaTested);
  const vec4 object(1, 2, 3, 1), world = placed * object;
  EXPECT_NEAR(glm::dot(instance.worldToObject0, world), 1, 1e-5);
  EXPECT_NEAR(glm::dot(instance.worldToObject1, world), 2, 1e-5);
  EXPECT_NEAR(glm::dot(instance.worldToObject2, world), 3, 1e-5);
  EXPECT_EQ(instance.nodes, 16u);
  EXPECT_EQ(instance.triangles, 32u);
  EXPECT_EQ(instance.flags, shared::kInstanceAlphaTested);
}

TEST(Instances, WithoutAnInverseAreSkipped) {
  const Bounds object{vec3(-1), vec3(1)};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const mat4& bad : {glm::scale(mat4(1), {1, 0, 1}), mat4(0), glm::translate(mat4(1), {nan, 0, 0}),
                          glm::scale(mat4(1), vec3(1e-30f)), glm::scale(mat4(1), {nan, 1, 1})}) {
    const Bounds world = placedBounds(object, bad);
    EXPECT_TRUE(world.empty());
    EXPECT_TRUE(buildTopTree(std::vector<Bounds>{world}).leaves.empty());
    EXPECT_EQ(makeInstance(bad, 0, 0, 0).worldToObject0, vec4(0));
  }
  EXPECT_TRUE(placedBounds({}, mat4(1)).empty());
}

}  // namespace
}  // namespace tandem::trace
