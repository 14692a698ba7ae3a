// Stages 3, 5...: what the paths that go on from one depth meet next.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/wave.glsl"

void main() {
  const uint index = thread_slot();
  if (index >= queue_length(kNext, push.depth)) return;
  const uint slot = next_slot(push.depth, index);
  Path path;
  path.origin = Vectors(STATE.origins).at[slot].xyz;
  path.direction = Vectors(STATE.directions).at[slot].xyz;
  load_random(slot, path);
  Hit hit;
  const bool found = path_hit(path, hit);
  store_hit(slot, found, hit);
  count_rays(slot);
}
