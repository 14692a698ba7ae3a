// Beside wave_extend: whether the lights that were chosen at one depth are seen; adds those that are.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/wave.glsl"

void main() {
  const uint index = thread_slot();
  const uint parallel = queue_length(kParallel, push.depth), scattered = queue_length(kScattered, push.depth);
  if (index >= parallel + scattered) return;
  const uint slot = Slots(STATE.shadowQueue).at[index < parallel ? index : STATE.slots - 1u - (index - parallel)];
  const vec4 origin = Vectors(STATE.origins).at[slot];
  Path path;
  load_random(slot, path);
  const Direct direct = Direct(vec3(0.0), Vectors(STATE.lightDirections).at[slot].xyz, origin.w, false);
  if (!shadowed(path, origin.xyz, direct)) {
    Vectors(STATE.radiance).at[slot].xyz += Vectors(STATE.lightValues).at[slot].xyz;
  }
  count_rays(slot);
}
