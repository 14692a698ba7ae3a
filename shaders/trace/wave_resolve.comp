// The last stage: means over the samples, to the planes.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/wave.glsl"

void main() {
  const uint slot = thread_slot();
  const uvec2 place = slot_place(slot);
  if (!inside(place)) return;
  const vec4 first = Vectors(STATE.firsts).at[slot];
  PixelSums sums = PixelSums(vec3(0.0), first.rgb, first.a);
  if (PARAMS.samples > 1u) sums.radiance = Vectors(STATE.sums).at[slot].xyz;
  add_path(sums, Vectors(STATE.radiance).at[slot].xyz);
  write_pixel(texel_of(place), sums);
}
