// Stage 1: what each pixel's path meets first. Empties the queues of the stages that follow.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/wave.glsl"

void main() {
  const uint slot = thread_slot();
  const uint threads = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_WorkGroupSize.x;
  for (uint i = slot; i < kWaveQueues * (PARAMS.bounces + 1u); i += threads) Slots(STATE.counters).at[i] = 0u;
  const uvec2 place = slot_place(slot);
  if (!inside(place)) return;
  const Path path = path_begin(picture_pixel(place), push.sampleIndex);
  Hit hit;
  const bool found = path_hit(path, hit);
  store_hit(slot, found, hit);
  count_rays(slot);
}
