// Longest motion per tile (McGuire et al. 2012, "A Reconstruction Filter for Plausible Motion Blur", TileMax).
// A work group is a tile; the reduction is a fixed tree, so that equal lengths resolve the same way in every run.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/post/planes.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant, scalar) uniform Push { MotionTilesParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer TilesOut { MotionTile tile[]; };

shared vec2 longest[64];

vec2 longer(vec2 a, vec2 b) { return dot(b, b) > dot(a, a) ? b : a; }

void main() {
  const uint tileSize = params.tileSize;
  const uvec2 begin = gl_WorkGroupID.xy * tileSize;
  const uvec2 end = min(begin + tileSize, params.size);
  vec2 mine = vec2(0.0);
  for (uint y = begin.y + gl_LocalInvocationID.y; y < end.y; y += 8) {
    for (uint x = begin.x + gl_LocalInvocationID.x; x < end.x; x += 8) {
      mine = longer(mine, halfMotion(motionAt(params.motion, uvec2(x, y)), float(tileSize)));
    }
  }
  const uint lane = gl_LocalInvocationIndex;
  longest[lane] = mine;
  for (uint stride = 32; stride > 0; stride /= 2) {
    barrier();
    if (lane < stride) longest[lane] = longer(longest[lane], longest[lane + stride]);
  }
  if (lane == 0) {
    TilesOut(params.tiles).tile[gl_WorkGroupID.y * params.tileCount.x + gl_WorkGroupID.x].halfMotion = longest[0];
  }
}
