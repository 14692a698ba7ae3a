#include "trace/embree_builder.h"

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/check.h"

namespace tandem::trace {
namespace {

struct ReleaseDevice {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct ReleaseBvh {
  void operator()(RTCBVH bvh) const { rtcReleaseBVH(bvh); }
};
using BvhOwner = std::unique_ptr<std::remove_pointer_t<RTCBVH>, ReleaseBvh>;

/// What the builder makes, in its own memory: gone with the RTCBVH.
struct Item {
  bool leaf;
  uint32_t count;        // of a leaf
  uint32_t entries[15];  // of a leaf
  Bounds boxes[2];       // of an inner node's children
  const Item* children[2];
};

RTCDevice embree() {
  static const std::unique_ptr<std::remove_pointer_t<RTCDevice>, ReleaseDevice> device(rtcNewDevice(nullptr));
  if (!device)
    throw adverse("rtcNewDevice: Embree does not start on this machine (error {})", int(rtcGetDeviceError(nullptr)));
  return device.get();
}

void* createNode(RTCThreadLocalAllocator allocator, unsigned, void*) {
  return new (rtcThreadLocalAlloc(allocator, sizeof(Item), 16)) Item{};
}

void* createLeaf(RTCThreadLocalAllocator allocator, const RTCBuildPrimitive* primitives, size_t count, void*) {
  Item* leaf = new (rtcThreadLocalAlloc(allocator, sizeof(Item), 16)) Item{};
  leaf->leaf = true;
  leaf->count = uint32_t(count);
  for (size_t i = 0; i < count; i++) leaf->entries[i] = primitives[i].primID;
  std::sort(leaf->entries, leaf->entries + count);
  return leaf;
}

void setChildren(void* node, void** children, unsigned count, void*) {
  for (unsigned i = 0; i < count; i++) static_cast<Item*>(node)->children[i] = static_cast<const Item*>(children[i]);
}

void setBounds(void* node, const RTCBounds** bounds, unsigned count, void*) {
  for (unsigned i = 0; i < count; i++) {
    const RTCBounds& b = *bounds[i];
    static_cast<Item*>(node)->boxes[i] = {{b.lower_x, b.lower_y, b.lower_z}, {b.upper_x, b.upper_y, b.upper_z}};
  }
}

std::vector<RTCBuildPrimitive> primitivesOf(std::span<const Bounds> boxes) {
  std::vector<RTCBuildPrimitive> primitives(boxes.size());
  for (size_t i = 0; i < boxes.size(); i++) {
    const Bounds& b = boxes[i];
    primitives[i] = {b.min.x, b.min.y, b.min.z, 0, b.max.x, b.max.y, b.max.z, uint32_t(i)};
  }
  return primitives;
}

/// Null where Embree gave up, which it does when the depth limit is too tight for these boxes.
const Item* buildByEmbree(RTCBVH bvh, std::vector<RTCBuildPrimitive>& primitives, const TreeLimits& limits) {
  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.buildQuality = RTC_BUILD_QUALITY_MEDIUM;
  arguments.maxDepth = limits.depth;
  arguments.maxLeafSize = limits.leafSize;
  arguments.traversalCost = 1.0f;
  // Half a step for a triangle: 7 % faster than a whole one on an H200 (terrain, one bounce); a third gains no more.
  arguments.intersectionCost = 0.5f;
  arguments.bvh = bvh;
  arguments.primitives = primitives.data();
  arguments.primitiveCount = primitives.size();
  arguments.primitiveArrayCapacity = primitives.size();
  arguments.createNode = createNode;
  arguments.setNodeChildren = setChildren;
  arguments.setNodeBounds = setBounds;
  arguments.createLeaf = createLeaf;
  return static_cast<const Item*>(rtcBuildBVH(&arguments));
}

uint32_t leafReference(uint32_t first, uint32_t count) {
  TANDEM_CHECK(first + count < (1u << shared::kLeafCountShift), "a tree of {} entries", first + count);
  return shared::kLeafBit | (count << shared::kLeafCountShift) | first;
}

constexpr Bounds kNowhere{vec3(1e30f), vec3(1e30f)};

/// Widens by a few units in the last place of the box's largest coordinate.
Bounds widened(const Bounds& box) {
  const vec3 largest = glm::max(glm::abs(box.min), glm::abs(box.max));
  const vec3 pad(4e-7f * std::max({largest.x, largest.y, largest.z}) + 1e-30f);
  return {box.min - pad, box.max + pad};
}

shared::BvhNode makeNode(const Bounds& exact0, uint32_t child0, const Bounds& exact1, uint32_t child1) {
  const Bounds a = widened(exact0), b = widened(exact1);
  shared::BvhNode node{};
  node.xy0 = {a.min.x, a.max.x, a.min.y, a.max.y};
  node.xy1 = {b.min.x, b.max.x, b.min.y, b.max.y};
  node.z01 = {a.min.z, a.max.z, b.min.z, b.max.z};
  node.child0 = child0;
  node.child1 = child1;
  return node;
}

/// Depth-first copy of Embree's tree. False where it is deeper than `levels`.
bool flatten(const Item& item, uint32_t levels, BinaryTree& tree, uint32_t& reference) {
  if (item.leaf) {
    reference = leafReference(uint32_t(tree.order.size()), item.count);
    tree.order.insert(tree.order.end(), item.entries, item.entries + item.count);
    return true;
  }
  if (levels == 0) return false;
  reference = uint32_t(tree.nodes.size());
  tree.nodes.emplace_back();
  uint32_t child[2] = {};
  for (int i = 0; i < 2; i++) {
    if (!flatten(*item.children[i], levels - 1, tree, child[i])) return false;
  }
  tree.nodes[reference] = makeNode(item.boxes[0], child[0], item.boxes[1], child[1]);
  return true;
}

/// The tree of last resort: halves by the middle of the longest axis. `tree.order` holds the entries, this is over
/// [begin, end) of it.
uint32_t splitAtMedian(std::span<const Bounds> boxes, uint32_t begin, uint32_t end, uint32_t leafSize, BinaryTree& tree,
                       Bounds& bounds) {
  Bounds centres;
  bounds = {};
  for (uint32_t i = begin; i < end; i++) {
    const Bounds& box = boxes[tree.order[i]];
    bounds.add(box.min);
    bounds.add(box.max);
    centres.add(box.centre());
  }
  if (end - begin <= leafSize) {
    std::sort(tree.order.begin() + begin, tree.order.begin() + end);
    return leafReference(begin, end - begin);
  }
  const vec3 size = centres.max - centres.min;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const uint32_t middle = begin + (end - begin) / 2;
  const auto before = [&](uint32_t a, uint32_t b) {
    const float ca = boxes[a].centre()[axis], cb = boxes[b].centre()[axis];
    return ca != cb ? ca < cb : a < b;
  };
  std::nth_element(tree.order.begin() + begin, tree.order.begin() + middle, tree.order.begin() + end, before);
  const uint32_t index = uint32_t(tree.nodes.size());
  tree.nodes.emplace_back();
  Bounds left, right;
  const uint32_t child0 = splitAtMedian(boxes, begin, middle, leafSize, tree, left);
  const uint32_t child1 = splitAtMedian(boxes, middle, end, leafSize, tree, right);
  tree.nodes[index] = makeNode(left, child0, right, child1);
  return index;
}

}  // namespace

shared::BvhNode emptyNode() { return makeNode(kNowhere, shared::kLeafBit, kNowhere, shared::kLeafBit); }

bool buildable(const Bounds& bounds) {
  for (int axis = 0; axis < 3; axis++) {
    // Written so that NaN fails.
    if (!(bounds.min[axis] <= bounds.max[axis])) return false;
    if (!(bounds.min[axis] >= -kLargestCoordinate && bounds.max[axis] <= kLargestCoordinate)) return false;
  }
  return true;
}

BinaryTree buildBinaryTree(std::span<const Bounds> boxes, const TreeLimits& limits) {
  TANDEM_CHECK(limits.leafSize >= 1 && limits.leafSize <= 15, "leaves of {}", limits.leafSize);
  for (const Bounds& box : boxes) TANDEM_CHECK(buildable(box), "a box that is empty, not finite or too large");
  BinaryTree tree;
  if (boxes.empty()) return tree;
  tree.nodes.reserve(boxes.size());
  tree.order.reserve(boxes.size());

  const BvhOwner bvh(rtcNewBVH(embree()));
  std::vector<RTCBuildPrimitive> primitives = primitivesOf(boxes);
  const Item* built = buildByEmbree(bvh.get(), primitives, limits);
  uint32_t root = 0;
  Bounds all;
  if (!built || !flatten(*built, limits.depth, tree, root)) {
    rtcGetDeviceError(embree());  // said and handled: not the next caller's error
    tree.nodes.clear();
    tree.order.resize(boxes.size());
    std::iota(tree.order.begin(), tree.order.end(), 0u);
    root = splitAtMedian(boxes, 0, uint32_t(boxes.size()), limits.leafSize, tree, all);
  }
  if (root & shared::kLeafBit) {
    for (const Bounds& box : boxes) {
      all.add(box.min);
      all.add(box.max);
    }
    // An inverted box would be hit by every slab test, and a leaf of no entries is a sign to the traversal: the other
    // child is the leaf again, at a point that no ray comes by; and if one did, it would find nothing new.
    tree.nodes.push_back(makeNode(all, root, kNowhere, root));
  }
  return tree;
}

}  // namespace tandem::trace
