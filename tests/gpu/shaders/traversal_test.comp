// One ray per thread: both questions, side by side.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "shaders/shared/bvh.h"

layout(local_size_x = 64) in;

/// Where a test has asked for alpha, every second triangle is a hole.
bool accept_hit(uint instance, uint primitive, vec2 barycentrics) { return (primitive & 1u) == 0u; }
bool single_tree() { return false; }

#include "shaders/trace/traversal_bvh.glsl"

struct TestRay {
  vec3 origin;
  float tMin;
  vec3 direction;
  float tMax;
};

struct TestResult {
  float t;
  uint instance;
  uint primitive;
  uint flags;          // 1: trace_closest hit, 2: trace_any says blocked
  vec2 barycentrics;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Scene { BvhScene scene; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Rays { TestRay ray[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Results { TestResult result[]; };

layout(push_constant, scalar) uniform Push {
  uint64_t scene;
  uint64_t rays;
  uint64_t results;
  uint count;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  const BvhScene bvh = Scene(scene).scene;
  const TestRay ray = Rays(rays).ray[i];
  Hit hit;
  const bool found = trace_closest(bvh, ray.origin, ray.direction, ray.tMin, ray.tMax, hit);
  const bool blocked = trace_any(bvh, ray.origin, ray.direction, ray.tMin, ray.tMax);
  Results(results).result[i] =
      TestResult(hit.t, hit.instance, hit.primitive, (found ? 1u : 0u) | (blocked ? 2u : 0u), hit.barycentrics);
}
