// What a ray hits, by the two-level tree of shaders/shared/bvh.h: one of the two files that supply trace_closest and trace_any.
// An including shader first defines
//   bool accept_hit(uint instance, uint primitive, vec2 barycentrics)
// which is asked, for instances flagged kInstanceAlphaTested only, whether a hit counts (alpha mask).
//
// Rays are in world space, 0 <= tMin; t is in units of the direction, which need not be normalised. Both faces of a triangle are hit.
// One stack serves both levels. Triangles: Woop, Benthin, Wald 2013, "Watertight Ray/Triangle Intersection". Boxes: Ize 2013, "Robust BVH
// Ray Traversal", section 3: the far distance is widened so that rounding never loses a box.
#ifndef TANDEM_SHADERS_TRACE_TRAVERSAL_BVH_GLSL
#define TANDEM_SHADERS_TRACE_TRAVERSAL_BVH_GLSL

#include "shaders/shared/bvh.h"

struct Hit {
  float t;
  uint instance;
  uint primitive;      // index in the mesh's triangle list
  vec2 barycentrics;   // weights of the triangle's second and third corner
};

// Nodes and triangles are read as 64-bit words: a software device fetches lane by lane, whatever the width, and this makes it 1.6 times as
// fast; a GPU reads the same lines either way.
struct BvhNodeWords { u64vec2 pair[4]; };
struct BvhTriangleWords { uint64_t word[5]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer BvhNodes { BvhNodeWords node[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer BvhTriangles { BvhTriangleWords triangle[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer BvhLeaves { uint instance[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer BvhInstances { BvhInstance instance[]; };

const uint kBvhStackSize = 64u;       // trace/compute_bvh.h bounds the depths to this
const uint kBvhEnd = kLeafBit;        // a leaf of no entries: the bottom of the stack
const uint kBvhLeave = kLeafBit | 1u; // another: below it lies the top level
const uint kBvhWorld = 0xffffffffu;   // "no instance": in the top level
const float kBvhWiden = 1.0 + 8.0 * 5.9604645e-8;   // 1 + 2 gamma(3), rounded up
const float kBvhMissed = 3e38;        // beyond every box

/// A ray prepared for one space.
struct BvhRay {
  vec3 origin;
  vec3 inverse;                     // 1 / direction, never infinite
  vec3 shearX, shearY, shearZ;      // rows of Woop's permutation, shear and scale: the ray becomes (0,0,0) + t (0,0,1)
};

vec3 bvh_axis(uint axis) { return vec3(axis == 0u, axis == 1u, axis == 2u); }

BvhRay bvh_prepare(vec3 origin, vec3 direction) {
  BvhRay ray;
  ray.origin = origin;
  const vec3 size = abs(direction);
  // A component of 0 becomes so small a number that the distance to a slab is huge, not NaN.
  const vec3 safe = max(size, vec3(1e-30));
  ray.inverse = vec3(direction.x < 0.0 ? -1.0 : 1.0, direction.y < 0.0 ? -1.0 : 1.0, direction.z < 0.0 ? -1.0 : 1.0) / safe;
  const uint z = size.x > size.y ? (size.x > size.z ? 0u : 2u) : (size.y > size.z ? 1u : 2u);
  const vec3 axisZ = bvh_axis(z);
  const float scale = 1.0 / dot(direction, axisZ);
  const vec3 axisX = axisZ.zxy, axisY = axisZ.yzx;
  ray.shearX = axisX - dot(direction, axisX) * scale * axisZ;
  ray.shearY = axisY - dot(direction, axisY) * scale * axisZ;
  ray.shearZ = axisZ * scale;
  return ray;
}

BvhRay bvh_enter(BvhInstance instance, vec3 origin, vec3 direction) {
  const vec4 o = vec4(origin, 1.0), d = vec4(direction, 0.0);
  return bvh_prepare(
      vec3(dot(instance.worldToObject0, o), dot(instance.worldToObject1, o), dot(instance.worldToObject2, o)),
      vec3(dot(instance.worldToObject0, d), dot(instance.worldToObject1, d), dot(instance.worldToObject2, d)));
}

vec2 bvh_floats(uint64_t word) { return uintBitsToFloat(unpackUint2x32(word)); }
vec4 bvh_floats(u64vec2 pair) { return vec4(bvh_floats(pair.x), bvh_floats(pair.y)); }

BvhTriangle bvh_load(BvhTriangles triangles, uint index) {
  const vec2 w0 = bvh_floats(triangles.triangle[index].word[0]), w1 = bvh_floats(triangles.triangle[index].word[1]);
  const vec2 w2 = bvh_floats(triangles.triangle[index].word[2]), w3 = bvh_floats(triangles.triangle[index].word[3]);
  const uvec2 w4 = unpackUint2x32(triangles.triangle[index].word[4]);
  return BvhTriangle(vec3(w0, w1.x), vec3(w1.y, w2), vec3(w3, uintBitsToFloat(w4.x)), w4.y);
}

/// Where the ray enters the boxes of a node's two children, within [tMin, tMax]; kBvhMissed where it does not.
vec2 bvh_boxes(BvhNodes nodes, uint index, BvhRay ray, float tMin, float tMax) {
  const vec4 a = (bvh_floats(nodes.node[index].pair[0]) - ray.origin.xxyy) * ray.inverse.xxyy;
  const vec4 b = (bvh_floats(nodes.node[index].pair[1]) - ray.origin.xxyy) * ray.inverse.xxyy;
  const vec4 c = (bvh_floats(nodes.node[index].pair[2]) - ray.origin.zzzz) * ray.inverse.zzzz;
  const float near0 = max(max(min(a.x, a.y), min(a.z, a.w)), max(min(c.x, c.y), tMin));
  const float near1 = max(max(min(b.x, b.y), min(b.z, b.w)), max(min(c.z, c.w), tMin));
  const float far0 = min(min(max(a.x, a.y), max(a.z, a.w)), min(max(c.x, c.y), tMax));
  const float far1 = min(min(max(b.x, b.y), max(b.z, b.w)), min(max(c.z, c.w), tMax));
  return vec2(near0 <= far0 * kBvhWiden ? near0 : kBvhMissed, near1 <= far1 * kBvhWiden ? near1 : kBvhMissed);
}

/// x, y: where the corner lies beside the ray; z: how far along. Equal corners of neighbours give equal bits, which is all that
/// watertightness asks of it.
vec3 bvh_shear(BvhRay ray, vec3 corner) {
  precise vec3 p = corner - ray.origin;
  precise float x = dot(ray.shearX, p);
  precise float y = dot(ray.shearY, p);
  precise float z = dot(ray.shearZ, p);
  return vec3(x, y, z);
}

/// Rounds to zero or the true sign, and to the exact negative for the neighbour, who sees the edge the other way round: no gap between
/// them. (`precise`: a fused multiply-add would round the two products unequally.)
float bvh_edge(vec3 p, vec3 q) {
  precise float a = p.x * q.y;
  precise float b = p.y * q.x;
  precise float difference = a - b;
  return difference;
}

/// Whether the ray hits the triangle within (tMin, tMax). NaN fails every comparison.
bool bvh_triangle(BvhTriangle triangle, BvhRay ray, float tMin, float tMax, out float t, out vec2 barycentrics) {
  const vec3 a = bvh_shear(ray, triangle.a), b = bvh_shear(ray, triangle.b), c = bvh_shear(ray, triangle.c);
  const float u = bvh_edge(c, b), v = bvh_edge(a, c), w = bvh_edge(b, a);
  const float determinant = u + v + w;
  const float scale = 1.0 / determinant;
  t = (u * a.z + v * b.z + w * c.z) * scale;
  barycentrics = vec2(v, w) * scale;
  const bool inside = min(min(u, v), w) >= 0.0 || max(max(u, v), w) <= 0.0;
  return inside && determinant != 0.0 && t > tMin && t < tMax;
}

/// The common walk. `blocked` is a constant at both calls: true asks for any hit, false for the nearest.
bool bvh_trace(BvhScene scene, vec3 origin, vec3 direction, float tMin, float tMax, const bool blocked, out Hit hit) {
  hit = Hit(tMax, kBvhWorld, 0u, vec2(0.0));
  if (scene.instanceCount == 0u) return false;
  uint stack[kBvhStackSize];
  stack[0] = kBvhEnd;
  uint depth = 1u;
  uint current = 0u;
  uint instance = kBvhWorld;
  bool alphaTested = false;
  BvhNodes nodes = BvhNodes(scene.nodes);
  BvhTriangles triangles = BvhTriangles(0ul);
  BvhRay ray = bvh_prepare(origin, direction);
  while (true) {
    while ((current & kLeafBit) == 0u) {
      const vec2 near = bvh_boxes(nodes, current, ray, tMin, hit.t);
      const uvec2 child = unpackUint2x32(nodes.node[current].pair[3].x);
      const bool second = near.y < near.x;
      current = second ? child.y : child.x;
      if (max(near.x, near.y) < kBvhMissed) {
        stack[depth++] = second ? child.x : child.y;
      } else if (min(near.x, near.y) == kBvhMissed) {
        current = stack[--depth];
      }
    }
    if (current == kBvhEnd) break;
    if (current == kBvhLeave) {
      instance = kBvhWorld;
      nodes = BvhNodes(scene.nodes);
      ray = bvh_prepare(origin, direction);
      current = stack[--depth];
    } else if (instance == kBvhWorld) {
      instance = BvhLeaves(scene.leaves).instance[current & ((1u << kLeafCountShift) - 1u)];
      const BvhInstance entered = BvhInstances(scene.instances).instance[instance];
      nodes = BvhNodes(entered.nodes);
      triangles = BvhTriangles(entered.triangles);
      alphaTested = (entered.flags & kInstanceAlphaTested) != 0u;
      ray = bvh_enter(entered, origin, direction);
      stack[depth++] = kBvhLeave;
      current = 0u;
    } else {
      const uint first = current & ((1u << kLeafCountShift) - 1u);
      const uint end = first + ((current & ~kLeafBit) >> kLeafCountShift);
      for (uint i = first; i < end; i++) {
        const BvhTriangle triangle = bvh_load(triangles, i);
        float t;
        vec2 barycentrics;
        if (!bvh_triangle(triangle, ray, tMin, hit.t, t, barycentrics)) continue;
        if (alphaTested && !accept_hit(instance, triangle.primitive, barycentrics)) continue;
        hit = Hit(t, instance, triangle.primitive, barycentrics);
        if (blocked) return true;
      }
      current = stack[--depth];
    }
  }
  return hit.instance != kBvhWorld;
}

/// The nearest hit in (tMin, tMax). On a miss hit.t is tMax and the rest means nothing.
bool trace_closest(BvhScene scene, vec3 origin, vec3 direction, float tMin, float tMax, out Hit hit) {
  return bvh_trace(scene, origin, direction, tMin, tMax, false, hit);
}

/// Whether anything lies in (tMin, tMax): true = blocked.
bool trace_any(BvhScene scene, vec3 origin, vec3 direction, float tMin, float tMax) {
  Hit hit;
  return bvh_trace(scene, origin, direction, tMin, tMax, true, hit);
}

#endif
