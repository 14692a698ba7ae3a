#include "trace/embree_builder.h"

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "base/check.h"
#include "base/parallel.h"

namespace tandem::trace {
namespace {

struct ReleaseDevice {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct ReleaseBvh {
  void operator()(RTCBVH bvh) const { rtcReleaseBVH(bvh); }
};
using BvhOwner = std::unique_ptr<std::remove_pointer_t<RTCBVH>, ReleaseBvh>;

/// What the builder makes, in its own memory: gone with the RTCBVH. Children are complete before their parent gets
/// them.
struct Item {
  uint32_t nodes;    // inner nodes from here down; 0: a leaf
  uint32_t entries;  // of leaves from here down
  uint32_t levels;   // inner nodes on the longest way down
};
struct Inner : Item {
  Bounds boxes[2];
  const Item* children[2];
};
struct Leaf : Item {
  uint32_t first;  // the entries; memory goes on for as many as there are
};
uint32_t* entriesOf(Leaf* leaf) { return &leaf->first; }
const uint32_t* entriesOf(const Item& leaf) { return &static_cast<const Leaf&>(leaf).first; }

static_assert(sizeof(TreeBox) == sizeof(RTCBuildPrimitive) && alignof(TreeBox) == alignof(RTCBuildPrimitive));
static_assert(offsetof(TreeBox, max) == offsetof(RTCBuildPrimitive, upper_x) &&
              offsetof(TreeBox, entry) == offsetof(RTCBuildPrimitive, primID));

RTCDevice embree() {
  static const std::unique_ptr<std::remove_pointer_t<RTCDevice>, ReleaseDevice> device(rtcNewDevice(nullptr));
  if (!device)
    throw adverse("rtcNewDevice: Embree does not start on this machine (error {})", int(rtcGetDeviceError(nullptr)));
  return device.get();
}

void* createNode(RTCThreadLocalAllocator allocator, unsigned, void*) {
  return new (rtcThreadLocalAlloc(allocator, sizeof(Inner), 16)) Inner{};
}

void* createLeaf(RTCThreadLocalAllocator allocator, const RTCBuildPrimitive* primitives, size_t count, void*) {
  const size_t bytes = sizeof(Leaf) + (count - 1) * sizeof(uint32_t);
  Leaf* leaf = new (rtcThreadLocalAlloc(allocator, bytes, 16)) Leaf{};
  leaf->entries = uint32_t(count);
  uint32_t* entries = entriesOf(leaf);
  for (size_t i = 0; i < count; i++) entries[i] = primitives[i].primID;
  std::sort(entries, entries + count);
  return static_cast<Item*>(leaf);
}

void setChildren(void* node, void** children, unsigned count, void*) {
  Inner& inner = *static_cast<Inner*>(node);
  inner.nodes = 1;
  for (unsigned i = 0; i < count; i++) {
    const Item& child = *static_cast<const Item*>(children[i]);
    inner.children[i] = &child;
    inner.nodes += child.nodes;
    inner.entries += child.entries;
    inner.levels = std::max(inner.levels, child.levels);
  }
  inner.levels++;
}

void setBounds(void* node, const RTCBounds** bounds, unsigned count, void*) {
  for (unsigned i = 0; i < count; i++) {
    const RTCBounds& b = *bounds[i];
    static_cast<Inner*>(node)->boxes[i] = {{b.lower_x, b.lower_y, b.lower_z}, {b.upper_x, b.upper_y, b.upper_z}};
  }
}

/// Null where Embree gave up, which it does when the depth limit is too tight for these boxes.
const Item* buildByEmbree(RTCBVH bvh, RawVector<TreeBox>& boxes, const TreeLimits& limits) {
  RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.buildQuality = RTC_BUILD_QUALITY_MEDIUM;
  arguments.maxDepth = limits.depth;
  arguments.maxLeafSize = limits.leafSize;
  arguments.traversalCost = 1.0f;
  // Half a step for a triangle: 7 % faster than a whole one on an H200 (terrain, one bounce); a third gains no more.
  arguments.intersectionCost = 0.5f;
  arguments.bvh = bvh;
  arguments.primitives = reinterpret_cast<RTCBuildPrimitive*>(boxes.data());
  arguments.primitiveCount = boxes.size();
  arguments.primitiveArrayCapacity = boxes.size();
  arguments.createNode = createNode;
  arguments.setNodeChildren = setChildren;
  arguments.setNodeBounds = setBounds;
  arguments.createLeaf = createLeaf;
  return static_cast<const Item*>(rtcBuildBVH(&arguments));
}

uint32_t leafReference(uint32_t first, uint32_t count) {
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

/// Where a subtree goes: its first node and its first leaf entry.
struct Place {
  uint32_t node = 0, entry = 0;
};

uint32_t referenceTo(const Item& item, Place place) {
  return item.nodes == 0 ? leafReference(place.entry, item.entries) : place.node;
}

/// Depth-first copy of a subtree of Embree's. Subtrees of at most `grain` entries are left for later, as pieces of
/// work.
struct Flattener {
  struct Subtree {
    const Item* item;
    Place place;
  };
  BinaryTree& tree;
  uint32_t grain;
  std::vector<Subtree> later;

  void copy(const Item& item, Place place) {
    if (item.entries <= grain) return later.push_back({&item, place});
    if (item.nodes == 0) {
      std::copy_n(entriesOf(item), item.entries, tree.order.begin() + place.entry);
      return;
    }
    const Inner& inner = static_cast<const Inner&>(item);
    const Item &left = *inner.children[0], &right = *inner.children[1];
    const Place leftPlace{place.node + 1, place.entry};
    const Place rightPlace{leftPlace.node + left.nodes, leftPlace.entry + left.entries};
    tree.nodes[place.node] =
        makeNode(inner.boxes[0], referenceTo(left, leftPlace), inner.boxes[1], referenceTo(right, rightPlace));
    copy(left, leftPlace);
    copy(right, rightPlace);
  }
};

/// The place of every node and entry follows from the sizes of subtrees alone, and so is the same for any number of
/// threads.
void flatten(const Item& root, BinaryTree& tree) {
  constexpr uint32_t kGrain = 16'384;
  tree.nodes.resize(root.nodes);
  tree.order.resize(root.entries);
  Flattener top{tree, kGrain, {}};
  top.copy(root, {});
  parallelFor(top.later.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) Flattener{tree, 0, {}}.copy(*top.later[i].item, top.later[i].place);
  });
}

/// The tree of last resort: halves by the middle of the longest axis, over [begin, end) of the boxes.
uint32_t splitAtMedian(std::span<TreeBox> boxes, uint32_t begin, uint32_t end, uint32_t leafSize, BinaryTree& tree,
                       Bounds& bounds) {
  Bounds centres;
  bounds = {};
  for (uint32_t i = begin; i < end; i++) {
    const Bounds box{boxes[i].min, boxes[i].max};
    bounds.add(box.min);
    bounds.add(box.max);
    centres.add(box.centre());
  }
  const auto places = boxes.subspan(begin, end - begin);
  if (end - begin <= leafSize) {
    std::ranges::sort(places, {}, &TreeBox::entry);
    for (uint32_t i = begin; i < end; i++) tree.order[i] = boxes[i].entry;
    return leafReference(begin, end - begin);
  }
  const vec3 size = centres.max - centres.min;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const uint32_t half = (end - begin) / 2;
  const auto before = [&](const TreeBox& a, const TreeBox& b) {
    const float ca = Bounds{a.min, a.max}.centre()[axis], cb = Bounds{b.min, b.max}.centre()[axis];
    return ca != cb ? ca < cb : a.entry < b.entry;
  };
  std::nth_element(places.begin(), places.begin() + half, places.end(), before);
  const uint32_t index = uint32_t(tree.nodes.size());
  tree.nodes.emplace_back();
  Bounds left, right;
  const uint32_t child0 = splitAtMedian(boxes, begin, begin + half, leafSize, tree, left);
  const uint32_t child1 = splitAtMedian(boxes, begin + half, end, leafSize, tree, right);
  tree.nodes[index] = makeNode(left, child0, right, child1);
  return index;
}

/// Inner nodes on the longest way down where splitAtMedian builds.
uint32_t levelsOfHalves(size_t boxes, uint32_t leafSize) {
  uint32_t levels = 0;
  for (; boxes > leafSize; boxes = (boxes + 1) / 2) levels++;
  return levels;
}

/// The root of a tree that is one leaf. An inverted box would be hit by every slab test, and a leaf of no entries is a
/// sign to the traversal: the other child is the leaf again, at a point that no ray comes by; and if one did, it would
/// find nothing new.
shared::BvhNode nodeAbove(uint32_t leaf, std::span<const TreeBox> boxes) {
  Bounds all;
  for (const TreeBox& box : boxes) {
    all.add(box.min);
    all.add(box.max);
  }
  return makeNode(all, leaf, kNowhere, leaf);
}

constexpr size_t kPiece = 65'536;  // boxes that one thread takes at a time

}  // namespace

uint32_t embreeVersion() { return uint32_t(rtcGetDeviceProperty(embree(), RTC_DEVICE_PROPERTY_VERSION)); }

shared::BvhNode emptyNode() { return makeNode(kNowhere, shared::kLeafBit, kNowhere, shared::kLeafBit); }

bool buildable(const Bounds& bounds) {
  for (int axis = 0; axis < 3; axis++) {
    // Written so that NaN fails.
    if (!(bounds.min[axis] <= bounds.max[axis])) return false;
    if (!(bounds.min[axis] >= -kLargestCoordinate && bounds.max[axis] <= kLargestCoordinate)) return false;
  }
  return true;
}

BinaryTree buildBinaryTree(RawVector<TreeBox> boxes, const TreeLimits& limits) {
  TANDEM_CHECK(limits.leafSize >= 1 && limits.leafSize <= 15, "leaves of {}", limits.leafSize);
  TANDEM_CHECK(boxes.size() <= kMostEntries, "a tree of {} entries", boxes.size());
  parallelFor(boxes.size(), kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
      TANDEM_CHECK(buildable({boxes[i].min, boxes[i].max}), "a box that is empty, not finite or too large");
  });
  BinaryTree tree;
  if (boxes.empty()) return tree;
  const BvhOwner bvh(rtcNewBVH(embree()));
  const Item* built = buildByEmbree(bvh.get(), boxes, limits);
  uint32_t root = 0;
  if (built && built->levels <= limits.depth) {
    flatten(*built, tree);
    root = referenceTo(*built, {});
  } else {
    rtcGetDeviceError(embree());  // said and handled: not the next caller's error
    TANDEM_CHECK(levelsOfHalves(boxes.size(), limits.leafSize) <= limits.depth, "{} boxes in a tree of {} levels",
                 boxes.size(), limits.depth);
    std::ranges::sort(boxes, {}, &TreeBox::entry);
    tree.nodes.reserve(boxes.size());
    tree.order.resize(boxes.size());
    Bounds all;
    root = splitAtMedian(boxes, 0, uint32_t(boxes.size()), limits.leafSize, tree, all);
  }
  if (root & shared::kLeafBit) tree.nodes.push_back(nodeAbove(root, boxes));
  return tree;
}

BinaryTree buildBinaryTree(std::span<const Bounds> boxes, const TreeLimits& limits) {
  RawVector<TreeBox> copies(boxes.size());
  for (size_t i = 0; i < boxes.size(); i++) copies[i] = {boxes[i].min, 0, boxes[i].max, uint32_t(i)};
  return buildBinaryTree(std::move(copies), limits);
}

}  // namespace tandem::trace
