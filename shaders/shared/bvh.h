// The two-level bounding volume hierarchy as the traversal reads it. Owner in C++: trace/compute_bvh. In GLSL: shaders/trace/traversal_bvh.glsl.
#ifndef TANDEM_SHADERS_SHARED_BVH_H
#define TANDEM_SHADERS_SHARED_BVH_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// A binary node with the boxes of both children: (lo.x, hi.x, lo.y, hi.y) of child 0, of child 1, (lo.z, hi.z) of both. 64 bytes.
/// A child reference is an inner node's index, or kLeafBit | count << kLeafCountShift | first leaf entry. Count 0 is a sign of the walk's
/// own (its end), which a tree without entries holds in boxes out of reach. A slab test hits inverted boxes, so no box is ever empty.
struct BvhNode {
  vec4 xy0;
  vec4 xy1;
  vec4 z01;
  uint child0;
  uint child1;
  uint pad0;
  uint pad1;
};

/// A triangle in leaf order: object-space corners, and its index in the mesh's triangle list. 40 bytes.
struct BvhTriangle {
  vec3 a;
  vec3 b;
  vec3 c;
  uint primitive;
};

/// One instance as traversal sees it. Rows of the 3x4 world-to-object matrix; addresses of the mesh's tree.
struct BvhInstance {
  vec4 worldToObject0;
  vec4 worldToObject1;
  vec4 worldToObject2;
  uint64_t nodes;       // BvhNode[], root at 0
  uint64_t triangles;   // BvhTriangle[]
  uint flags;           // kInstanceAlphaTested
  uint pad;
};

/// Where the trees of one frame lie: goes into the parameter block of every pass that traces.
struct BvhScene {
  uint64_t nodes;       // top level BvhNode[], root at 0; leaf entries index `leaves`
  uint64_t leaves;      // uint[]: instance index per top-level leaf entry
  uint64_t instances;   // BvhInstance[]
  uint64_t accelerated; // with --tracer rt, instead of the three above: the top-level acceleration structure
  uint instanceCount;   // 0: every ray misses, and nothing above is read
  uint pad;
};

#ifdef __cplusplus
inline constexpr uint32_t kLeafBit = 0x80000000u;
inline constexpr uint32_t kLeafCountShift = 27;
inline constexpr uint32_t kInstanceAlphaTested = 1u;
inline constexpr float kLargestCoordinate = 1e12f;   // of a triangle's corner
#else
const uint kLeafBit = 0x80000000u;
const uint kLeafCountShift = 27u;
const uint kInstanceAlphaTested = 1u;
const float kLargestCoordinate = 1e12;   // of a triangle's corner
#endif

TANDEM_SHARED_END
#endif
