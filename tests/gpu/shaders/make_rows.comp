// What a shareable pass does, in small: fills the rows that it is given, densely, with a hash of where each lies in the
// picture. A row in the wrong place, or of another frame, is another value.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/types.h"

layout(local_size_x = 64) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer BandTops { uint top[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t target;     // uint[rows][width]
  uint64_t bandTops;   // uint[]: row of the picture at which each band begins
  uint width;
  uint rows;
  uint bandRows;
  uint constant;
  uint rounds;         // work per element, to make a pass take time
} push;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= push.rows * push.width) return;
  const uint row = i / push.width;
  const uint y = BandTops(push.bandTops).top[row / push.bandRows] + row % push.bandRows;
  uint state = push.constant ^ (y * push.width + i % push.width);
  for (uint r = 0; r < push.rounds; ++r) state = state * 2891336453u + (state >> 15);
  Words(push.target).word[i] = state;
}
