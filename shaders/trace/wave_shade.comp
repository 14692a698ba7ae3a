// Stages 2, 4, 6...: the surfaces that were met at one depth, or the sky: adds their light, chooses a light to ask for and
// the next segment.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/wave.glsl"

layout(constant_id = 4) const uint kFirst = 1u;   // depth 0: every slot has a path

Path load_path(uint slot, uvec2 pixel) {
  if (kFirst != 0u) return path_begin(pixel, push.sampleIndex);
  Path path;
  const vec4 direction = Vectors(STATE.directions).at[slot], throughput = Vectors(STATE.throughputs).at[slot];
  const vec4 radiance = Vectors(STATE.radiance).at[slot];
  path.random = random_begin(pixel, PARAMS.frame, PARAMS.seed, push.sampleIndex);
  path.random.pair = floatBitsToUint(throughput.w);
  path.origin = vec3(0.0);   // lies behind
  path.direction = direction.xyz;
  path.density = direction.w;
  path.throughput = throughput.xyz;
  path.radiance = radiance.xyz;
  path.width = radiance.w;
  path.spread = Vectors(STATE.lightDirections).at[slot].w;
  path.depth = push.depth;
  return path;
}

/// Keeps what the samples before have brought.
void begin_sample(uint slot) {
  if (push.sampleIndex == 0u) return;
  PixelSums sums = PixelSums(vec3(0.0), vec3(0.0), 0.0);
  if (push.sampleIndex > 1u) sums.radiance = Vectors(STATE.sums).at[slot].xyz;
  add_path(sums, Vectors(STATE.radiance).at[slot].xyz);
  Vectors(STATE.sums).at[slot] = vec4(sums.radiance, 0.0);
}

void keep_first(uint slot, PixelSums sums) {
  vec4 first = vec4(sums.albedo, sums.coverage);
  if (push.sampleIndex > 0u) first += Vectors(STATE.firsts).at[slot];
  Vectors(STATE.firsts).at[slot] = first;
}

void shade(uint slot, out bool asks, out bool goesOn, out bool parallel) {
  asks = goesOn = parallel = false;
  const uvec2 place = slot_place(slot);
  if (!inside(place)) return;
  const uint at = texel_of(place);
  if (kFirst != 0u) begin_sample(slot);
  Path path = load_path(slot, picture_pixel(place));
  PixelSums sums = PixelSums(vec3(0.0), vec3(0.0), 0.0);
  Hit hit;
  bool found = load_hit(slot, hit);
  Surface surface;
  if (found) surface = surface_at(path, hit);
  if (kFirst != 0u) {
    while (found && look_through(path, surface)) {
      found = path_hit(path, hit);
      if (found) surface = surface_at(path, hit);
    }
  }
  if (found) {
    Direct direct;
    vec3 position;
    goesOn = path_vertex(path, surface, hit.t, at, sums, direct, position);
    asks = worth_asking(direct);
    parallel = direct.parallel;
    if (asks || goesOn) {
      Vectors(STATE.origins).at[slot] = vec4(position, direct.distance_);
      Vectors(STATE.throughputs).at[slot] = vec4(path.throughput, uintBitsToFloat(path.random.pair));
      Vectors(STATE.lightDirections).at[slot] = vec4(direct.direction, path.spread);
    }
    if (goesOn) Vectors(STATE.directions).at[slot] = vec4(path.direction, path.density);
    if (asks) Vectors(STATE.lightValues).at[slot] = vec4(direct.value, 0.0);
  } else {
    path_miss(path, at);
  }
  Vectors(STATE.radiance).at[slot] = vec4(path.radiance, path.width);
  if (kFirst != 0u) keep_first(slot, sums);
}

void main() {
  uint slot = thread_slot();
  bool asks = false, goesOn = false, parallel = false;
  if (kFirst != 0u) {
    shade(slot, asks, goesOn, parallel);
  } else if (slot < queue_length(kNext, push.depth - 1u)) {
    slot = next_slot(push.depth - 1u, slot);
    shade(slot, asks, goesOn, parallel);
  }
  // Rays to the sun run side by side, those to the sky do not: kept apart, so that neighbours wait for their like.
  const uint front = queue_append(kParallel, push.depth, asks && parallel);
  const uint back = queue_append(kScattered, push.depth, asks && !parallel);
  if (asks) Slots(STATE.shadowQueue).at[parallel ? front : STATE.slots - 1u - back] = slot;
  const uint nextPlace = queue_append(kNext, push.depth, goesOn);
  if (goesOn) Slots(STATE.nextQueues).at[(push.depth & 1u) * STATE.slots + nextPlace] = slot;
  count_rays(slot);
}
