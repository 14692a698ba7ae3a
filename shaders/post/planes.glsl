// How post shaders reach the planes of shaders/shared/planes.h.
#ifndef TANDEM_POST_PLANES_GLSL
#define TANDEM_POST_PLANES_GLSL

#include "shaders/shared/planes.h"
#include "shaders/shared/post.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer RowTable { uint64_t row[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer RadianceRow { RadianceTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer MotionRow { MotionTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer DepthRow { DepthTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer MotionTiles { MotionTile tile[]; };

RadianceTexel radianceAt(uint64_t rows, uvec2 pixel) { return RadianceRow(RowTable(rows).row[pixel.y]).texel[pixel.x]; }
MotionTexel motionAt(uint64_t rows, uvec2 pixel) { return MotionRow(RowTable(rows).row[pixel.y]).texel[pixel.x]; }
DepthTexel depthAt(uint64_t rows, uvec2 pixel) { return DepthRow(RowTable(rows).row[pixel.y]).texel[pixel.x]; }

vec4 unpackRadiance(RadianceTexel texel) { return vec4(unpackHalf2x16(texel.rgba.x), unpackHalf2x16(texel.rgba.y)); }

/// Half floats end at 65504; what is brighter stays finite.
RadianceTexel packRadiance(vec4 rgba) {
  const vec4 bounded = min(rgba, 65504.0);
  return RadianceTexel(uvec2(packHalf2x16(bounded.xy), packHalf2x16(bounded.zw)));
}

/// Half of a pixel's motion, cut to `reach` pixels; (0, 0) for what moves less than half a pixel in all, or is not a
/// number.
vec2 halfMotion(MotionTexel texel, float reach) {
  const vec2 h = 0.5 * unpackHalf2x16(texel.xy);
  const float size = length(h);
  return size >= 0.25 && size < 1e6 ? h * min(1.0, reach / size) : vec2(0.0);
}

#endif
