// What a ray hits, by the two-level tree of shaders/shared/bvh.h: one of the two files that supply trace_closest and trace_any.
// An including shader first defines
//   bool accept_hit(uint instance, uint primitive, vec2 barycentrics)
// which is asked, for instances flagged kInstanceAlphaTested only, whether a hit counts (alpha mask), and
//   bool single_tree()
// which is constant and may be true where the scene has one instance at most: its tree is then all there is to walk.
//
// Rays are in world space, 0 <= tMin; t is in units of the direction, which need not be normalised. Both faces of a triangle are hit.
// One stack serves both levels. Triangles: Woop, Benthin, Wald 2013, "Watertight Ray/Triangle Intersection". Boxes: Ize 2013, "Robust BVH
// Ray Traversal", section 3: the far distance is widened so that rounding never loses a box.
#ifndef TANDEM_SHADERS_TRACE_TRAVERSAL_BVH_GLSL
#define TANDEM_SHADERS_TRACE_TRAVERSAL_BVH_GLSL

#include "shaders/shared/bvh.h"
#include "trace/hit.glsl"

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

/// A ray prepared for one space. Where it meets a box's planes: the one it meets first at lo * lower + hi * upper - near, the other at
/// hi * lower + lo * upper - far. Of `lower` and `upper` one is 1 / direction (never infinite), the other 0: two multiply-adds are
/// cheaper than the minimum that finds out which plane comes first. `near` and `far` are origin / direction, a little more and a little
/// less, so that rounding makes boxes larger, never smaller.
struct BvhRay {
  vec3 origin;
  vec3 lower;
  vec3 upper;
  vec3 near;
  vec3 far;
  vec3 shearX, shearY, shearZ;   // rows of Woop's permutation, shear and scale: the ray becomes (0,0,0) + t (0,0,1)
};

vec3 bvh_axis(uint axis) { return vec3(axis == 0u, axis == 1u, axis == 2u); }

BvhRay bvh_prepare(vec3 origin, vec3 direction) {
  BvhRay ray;
  ray.origin = origin;
  const vec3 size = abs(direction);
  const float most = max(size.x, max(size.y, size.z));
  // A component of 0 becomes so small a number that the distance to a slab is huge, not NaN.
  const vec3 inverse = 1.0 / max(size, vec3(1e-12 * most));
  const bvec3 negative = lessThan(direction, vec3(0.0));
  ray.lower = mix(inverse, vec3(0.0), negative);
  ray.upper = mix(vec3(0.0), -inverse, negative);
  const vec3 middle = origin * (ray.lower + ray.upper), error = abs(middle) * 2.4e-7;   // 4 units of rounding
  ray.near = middle + error;
  ray.far = middle - error;
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

float bvh_near(BvhRay ray, vec3 lo, vec3 hi, float tMin) {
  const vec3 t = fma(lo, ray.lower, fma(hi, ray.upper, -ray.near));
  return max(max(t.x, t.y), max(t.z, tMin));
}

float bvh_far(BvhRay ray, vec3 lo, vec3 hi, float tMax) {
  const vec3 t = fma(hi, ray.lower, fma(lo, ray.upper, -ray.far));
  return min(min(t.x, t.y), min(t.z, tMax)) * kBvhWiden;
}

/// Which of a node's two children the ray enters within [tMin, tMax]: the nearer one first, if any, then the other.
struct BvhChoice {
  bool any;
  bool both;
  uint first;
  uint second;
};

BvhChoice bvh_choose(BvhNodes nodes, uint index, BvhRay ray, float tMin, float tMax) {
  const vec4 a = bvh_floats(nodes.node[index].pair[0]), b = bvh_floats(nodes.node[index].pair[1]);
  const vec4 c = bvh_floats(nodes.node[index].pair[2]);
  const uvec2 child = unpackUint2x32(nodes.node[index].pair[3].x);
  const vec3 lo0 = vec3(a.xz, c.x), hi0 = vec3(a.yw, c.y), lo1 = vec3(b.xz, c.z), hi1 = vec3(b.yw, c.w);
  const float near0 = bvh_near(ray, lo0, hi0, tMin), near1 = bvh_near(ray, lo1, hi1, tMin);
  const bool enters0 = near0 <= bvh_far(ray, lo0, hi0, tMax), enters1 = near1 <= bvh_far(ray, lo1, hi1, tMax);
  const bool swapped = enters1 && (!enters0 || near1 < near0);
  return BvhChoice(enters0 || enters1, enters0 && enters1, swapped ? child.y : child.x, swapped ? child.x : child.y);
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

/// Goes into an instance: its tree, and the ray in its space.
void bvh_open(BvhScene scene, uint instance, out BvhNodes nodes, out BvhTriangles triangles, out bool alphaTested,
              out BvhRay ray, vec3 origin, vec3 direction) {
  const BvhInstance entered = BvhInstances(scene.instances).instance[instance];
  nodes = BvhNodes(entered.nodes);
  triangles = BvhTriangles(entered.triangles);
  alphaTested = (entered.flags & kInstanceAlphaTested) != 0u;
  ray = bvh_enter(entered, origin, direction);
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
  BvhRay ray;
  if (single_tree()) {
    bvh_open(scene, 0u, nodes, triangles, alphaTested, ray, origin, direction);
    instance = 0u;
  } else {
    ray = bvh_prepare(origin, direction);
  }
  while (true) {
    while ((current & kLeafBit) == 0u) {
      const BvhChoice choice = bvh_choose(nodes, current, ray, tMin, hit.t);
      if (choice.both) stack[depth++] = choice.second;
      current = choice.any ? choice.first : stack[--depth];
    }
    if (current == kBvhEnd) break;
    if (!single_tree() && current == kBvhLeave) {
      instance = kBvhWorld;
      nodes = BvhNodes(scene.nodes);
      ray = bvh_prepare(origin, direction);
      current = stack[--depth];
    } else if (!single_tree() && instance == kBvhWorld) {
      instance = BvhLeaves(scene.leaves).instance[current & ((1u << kLeafCountShift) - 1u)];
      bvh_open(scene, instance, nodes, triangles, alphaTested, ray, origin, direction);
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
