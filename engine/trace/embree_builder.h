// Binary trees over boxes, by Embree's builder (rtcBuildBVH, MEDIUM quality: binned SAH). embree_builder.cpp is the one
// file of the engine that includes Embree; it hides versions 3 and 4.
//
// The same boxes give the same tree, bit for bit, on every run and with any number of threads: Embree's binning takes
// minima, maxima and counts only, which no order changes; nodes are renumbered depth first and the entries of a leaf
// sorted, so that no order of threads shows. Memory: some 100 bytes a box while it builds, beside the boxes themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/math.h"
#include "base/raw_vector.h"
#include "shaders/shared/bvh.h"

namespace tandem::trace {

/// Boxes with a coordinate beyond this are not built: with room to spare no product of the builder or of the triangle
/// test overflows.
using shared::kLargestCoordinate;

/// Whether a box can be given to buildBinaryTree: not empty, no NaN, nothing beyond kLargestCoordinate.
bool buildable(const Bounds& bounds);

struct TreeLimits {
  uint32_t leafSize = 1;  // entries in a leaf, 1 to 15
  uint32_t depth =
      32;  // inner nodes on the way from the root to a leaf, at most; ceil(log2(boxes / leafSize)) must fit
};

/// The most entries that a leaf can refer to: 2^27 - 1 = 134,217,727.
inline constexpr uint64_t kMostEntries = (uint64_t{1} << shared::kLeafCountShift) - 1;

/// A box to build over and what it stands for, laid out and aligned as Embree's RTCBuildPrimitive.
struct alignas(32) TreeBox {
  vec3 min;
  uint32_t pad = 0;
  vec3 max;
  uint32_t entry = 0;
};

/// `nodes[0]` is the root; none where there were no boxes. Nodes are in depth-first order: a node's first child, where
/// it is an inner one, follows it. `order`: `entry` of the box of each leaf entry.
struct BinaryTree {
  RawVector<shared::BvhNode> nodes;
  RawVector<uint32_t> order;
};

/// All boxes must be buildable and their entries differ, and there are at most kMostEntries (a broken promise
/// otherwise). A lone leaf gets a node above it whose other child is the
/// same leaf in a box out of reach (1e30). Boxes of nodes are wider than the truth by a few units of the last place,
/// which makes ray tests at their very faces safe. Thread-safe; large inputs use all cores. Where SAH would go deeper
/// than the limit, entries are split at the median.
BinaryTree buildBinaryTree(RawVector<TreeBox> boxes, const TreeLimits& limits);
/// The same; entries are the boxes' places in `boxes`.
BinaryTree buildBinaryTree(std::span<const Bounds> boxes, const TreeLimits& limits);

/// Embree's version, as one number: another one may build other trees.
uint32_t embreeVersion();

/// The root of a tree without entries, where there must be one: both boxes out of reach, both children the end of the
/// walk.
shared::BvhNode emptyNode();

}  // namespace tandem::trace
