// What a reader of shared rows does, in small: a hash of two planes that it finds through row tables. The first is read
// at another row than the one that is written, as a filter does.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/types.h"

layout(local_size_x = 64) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer RowTable { uint64_t row[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t target;   // uint[height][width]
  uint64_t first;    // row tables
  uint64_t second;
  uint width;
  uint height;
  uint shift;        // in rows, of the first plane
  uint constant;
  uint rounds;
} push;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= push.height * push.width) return;
  const uint x = i % push.width, y = i / push.width;
  uint state = push.constant ^ i;
  state = state * 747796405u + Words(RowTable(push.first).row[(y + push.shift) % push.height]).word[x] + 1u;
  state = state * 747796405u + Words(RowTable(push.second).row[y]).word[x] + 1u;
  for (uint r = 0; r < push.rounds; ++r) state = state * 2891336453u + (state >> 15);
  Words(push.target).word[i] = state;
}
