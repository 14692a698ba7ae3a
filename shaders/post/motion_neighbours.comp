// Longest motion in the 3x3 tiles around each tile (McGuire et al. 2012, NeighborMax): all that can reach
// into the tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/post/planes.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant, scalar) uniform Push { MotionNeighboursParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer TilesOut { MotionTile tile[]; };

void main() {
  const ivec2 tile = ivec2(gl_GlobalInvocationID.xy);
  const ivec2 count = ivec2(params.tileCount);
  if (any(greaterThanEqual(tile, count))) return;
  vec2 longest = vec2(0.0);
  for (int y = max(tile.y - 1, 0); y <= min(tile.y + 1, count.y - 1); ++y) {
    for (int x = max(tile.x - 1, 0); x <= min(tile.x + 1, count.x - 1); ++x) {
      const vec2 h = MotionTiles(params.tiles).tile[y * count.x + x].halfMotion;
      if (dot(h, h) > dot(longest, longest)) longest = h;
    }
  }
  TilesOut(params.neighbours).tile[tile.y * count.x + tile.x].halfMotion = longest;
}
