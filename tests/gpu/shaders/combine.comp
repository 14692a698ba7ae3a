// out[i] = hash of constant and inputs: any stale, missing or reordered input changes the result.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/types.h"

layout(local_size_x = 64) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t target;
  uint64_t inputs[4];
  uint inputCount;
  uint constant;
  uint count;
  uint rounds;   // work per element, to make a pass take time
} push;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= push.count) return;
  uint state = push.constant ^ i;
  for (uint k = 0; k < push.inputCount; ++k) state = state * 747796405u + Words(push.inputs[k]).word[i] + 1u;
  for (uint r = 0; r < push.rounds; ++r) state = state * 2891336453u + (state >> 15);
  Words(push.target).word[i] = state;
}
