// One ray per thread, by our own traversal.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "shaders/shared/bvh.h"

layout(local_size_x = 64) in;

/// Where a test has asked for alpha, every second triangle is a hole.
bool accept_hit(uint instance, uint primitive, vec2 barycentrics) { return (primitive & 1u) == 0u; }
bool single_tree() { return false; }

#include "shaders/trace/traversal_bvh.glsl"

#include "tests/gpu/shaders/traversal_test.glsl"

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < count) ask(i);
}
