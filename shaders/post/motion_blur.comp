// Gathers along the longest motion nearby (McGuire, Hennessy, Bukowski, Osman 2012, "A Reconstruction Filter for
// Plausible Motion Blur"). Structure and soft depth comparison are the paper's. The weights are not: the
// paper's cones make a trail that is brightest in its middle, while a shutter that opens and shuts at once makes a flat
// one. Here a thing that moves by 2|h| spreads evenly over its path, so a sample at distance d from the pixel weighs
// 1/(2|h|) for d <= |h|, else nothing; and what passes in front of the pixel is composed over what the pixel itself
// shows. The turn of a sample's motion against the line of the gather is weighed as in Guertin, McGuire, Nowrouzezahrai
// 2014, "A Fast and Stable Feature-Aware Motion Blur Filter".
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/post/noise.glsl"
#include "shaders/post/planes.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant, scalar) uniform Push { MotionBlurParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer RadianceOut { RadianceTexel texel[]; };

// Depths closer than this share of the nearer one count, by degrees, as one surface.
const float kSoftDepth = 0.02;

/// 0: `b` is no nearer than `a`; 1: clearly nearer.
float nearer(float a, float b) { return clamp((a - b) / max(kSoftDepth * min(a, b), 1e-6), 0.0, 1.0); }

/// Does a thing that moves by +-h reach over `distance` along `line` (a unit vector)? The share of it that does.
float reaches(vec2 h, float distance, vec2 line) {
  const float size = length(h);
  if (size == 0.0) return 0.0;
  return (1.0 - smoothstep(1.0, 1.1, distance / size)) * abs(dot(h, line)) / size;
}

/// The paths of two lengths are sampled with one spacing: what is shorter is met less often, and weighs more.
float density(vec2 h, float lineLength) {
  const float size = length(h);
  return size == 0.0 ? 0.0 : lineLength / size;
}

vec4 gather(uvec2 pixel, vec2 path) {
  const float reach = float(params.tileSize);
  const float pathLength = length(path);
  const vec2 line = path / pathLength;
  const vec4 own = unpackRadiance(radianceAt(params.radiance, pixel));
  const vec2 ownMotion = halfMotion(motionAt(params.motion, pixel), reach);
  const float ownDepth = depthAt(params.depth, pixel).metres;
  const float ownDensity = density(ownMotion, pathLength);
  const float jitter = highUnit(hashPixel(pixel, params.frame)).x;

  // Sums of (colour - own colour), so that a pixel that nothing reaches keeps its bits.
  vec4 front = vec4(0.0), layer = vec4(0.0);
  float frontWeight = 0.0, frontVotes = 0.0, layerWeight = 0.0;
  for (uint i = 0; i < params.samples; ++i) {
    const float t = 2.0 * (float(i) + jitter) / float(params.samples) - 1.0;
    const uvec2 at = uvec2(clamp(ivec2(floor(vec2(pixel) + 0.5 + path * t)), ivec2(0), ivec2(params.size) - 1));
    const vec4 difference = unpackRadiance(radianceAt(params.radiance, at)) - own;
    const vec2 motion = halfMotion(motionAt(params.motion, at), reach);
    const float depth = depthAt(params.depth, at).metres;
    const float distance = abs(t) * pathLength;

    const float inFront = nearer(ownDepth, depth);
    const float covers = reaches(motion, distance, line);
    const float coverDensity = covers * density(motion, pathLength);
    front += inFront * coverDensity * difference;
    frontWeight += inFront * coverDensity;
    frontVotes += inFront * covers;

    // The pixel's own layer: its surface sweeps over the sample, or shows it by moving away; or the same surface moves
    // there.
    const float swept = reaches(ownMotion, distance, line) * ownDensity;
    const float weight = (1.0 - inFront) * max(swept, (1.0 - nearer(depth, ownDepth)) * coverDensity);
    layer += weight * difference;
    layerWeight += weight;
  }
  const float samples = float(params.samples);
  const float coverage = min(frontWeight / samples, 1.0);
  vec4 result = layer / max(max(samples - frontVotes, layerWeight), 1.0) * (1.0 - coverage);
  if (frontWeight > 0.0) result += front / frontWeight * coverage;
  return max(own + result, vec4(0.0));
}

void main() {
  const uvec2 pixel = gl_GlobalInvocationID.xy;
  if (any(greaterThanEqual(pixel, params.size))) return;
  const uvec2 tile = pixel / params.tileSize;
  const vec2 path = MotionTiles(params.neighbours).tile[tile.y * params.tilesX + tile.x].halfMotion;
  RadianceTexel texel = radianceAt(params.radiance, pixel);
  if (path != vec2(0.0)) texel = packRadiance(gather(pixel, path));
  RadianceOut(params.blurred).texel[pixel.y * params.size.x + pixel.x] = texel;
}
