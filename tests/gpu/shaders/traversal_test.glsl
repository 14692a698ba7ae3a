// Both questions to traversal, side by side. An including shader first includes one of the two traversals.
#ifndef TANDEM_TESTS_TRAVERSAL_TEST_GLSL
#define TANDEM_TESTS_TRAVERSAL_TEST_GLSL

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

void ask(uint i) {
  const BvhScene bvh = Scene(scene).scene;
  const TestRay ray = Rays(rays).ray[i];
  Hit hit;
  const bool found = trace_closest(bvh, ray.origin, ray.direction, ray.tMin, ray.tMax, hit);
  const bool blocked = trace_any(bvh, ray.origin, ray.direction, ray.tMin, ray.tMax);
  Results(results).result[i] =
      TestResult(hit.t, hit.instance, hit.primitive, (found ? 1u : 0u) | (blocked ? 2u : 0u), hit.barycentrics);
}

#endif
