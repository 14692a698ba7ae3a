// From radiance to the finished picture: exposure, tone curve, sRGB, dither, 8 bits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/lib/colour.glsl"
#include "shaders/post/noise.glsl"
#include "shaders/post/planes.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant, scalar) uniform Push { TonemapParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer ExposureRef { ExposureState state; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer LdrOut { LdrTexel texel[]; };

// As post::Tone.
const uint kToneAces = 0u;
const uint kToneNeutral = 1u;

/// To whole steps of 1/255, so that the mean over many pixels is the value itself: triangular noise of +-1 step, and in
/// the half step next to black and white, where that would be cut off, uniform noise. Black and white are left as they
/// are.
uvec3 quantise(vec3 encoded, uvec3 hash) {
  const vec3 steps = encoded * 255.0;
  const vec3 uniformNoise = highUnit(hash);
  const vec3 triangular = uniformNoise + lowUnit(hash) - 0.5;
  const bvec3 inside = lessThan(abs(steps - 127.5), vec3(127.0));
  return uvec3(clamp(floor(steps + mix(uniformNoise, triangular, inside)), 0.0, 255.0));
}

void main() {
  const uvec2 pixel = gl_GlobalInvocationID.xy;
  if (any(greaterThanEqual(pixel, params.size))) return;
  const vec3 radiance = unpackRadiance(radianceAt(params.radiance, pixel)).rgb;
  // Bounded, because the curves square it; what is not a number is black.
  const vec3 known = mix(radiance, vec3(0.0), isnan(radiance));
  const vec3 exposed = clamp(known * ExposureRef(params.exposure).state.scale, 0.0, 1e9);

  vec3 shown = min(exposed, 1.0);
  if (params.tone == kToneAces) shown = tonemapAces(exposed);
  if (params.tone == kToneNeutral) shown = tonemapNeutral(exposed);
  const uvec3 bytes = quantise(srgbEncode(shown), hashPixel(pixel, params.frame));
  LdrOut(params.ldr).texel[pixel.y * params.size.x + pixel.x].rgba = bytes.r | bytes.g << 8 | bytes.b << 16 | 255u << 24;
}
