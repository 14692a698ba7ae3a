// Slots and queues of the stages (shaders/shared/wavefront.h).
#ifndef TANDEM_SHADERS_TRACE_WAVE_GLSL
#define TANDEM_SHADERS_TRACE_WAVE_GLSL

#extension GL_KHR_shader_subgroup_ballot : require
#include "shaders/shared/path_trace.h"
#include "shaders/shared/wavefront.h"

layout(local_size_x_id = 2) in;   // a multiple of kGroupWidth
layout(push_constant, scalar) uniform Push { WavePush push; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer States { WaveState block; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Vectors { vec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer WaveHits { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Scalars { float at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Slots { uint at[]; };

#define STATE States(push.state).block
#define kParams STATE.path
#include "trace/group_place.glsl"
#include "trace/integrator.glsl"

uint thread_slot() {
  return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
}

/// Where in the planes a slot writes.
uvec2 slot_place(uint slot) {
  const uint group = slot / gl_WorkGroupSize.x;
  const uvec2 groups = uvec2(group % gl_NumWorkGroups.x, group / gl_NumWorkGroups.x);
  return group_place(groups, slot % gl_WorkGroupSize.x, push.firstRow);
}

bool inside(uvec2 place) { return place.x < PARAMS.width && place.y < push.endRow; }
uint texel_of(uvec2 place) { return place.y * PARAMS.width + place.x; }

const uint kNext = 0u, kParallel = 1u, kScattered = 2u;   // the queues
uint queue_length(uint queue, uint depth) { return Slots(STATE.counters).at[kWaveQueues * depth + queue]; }
uint next_slot(uint depth, uint index) { return Slots(STATE.nextQueues).at[(depth & 1u) * STATE.slots + index]; }

/// The place at a queue's end for each thread that has something to say. The order is chance's; what is computed for a slot
/// depends on no other.
uint queue_append(uint queue, uint depth, bool wanted) {
  const uvec4 who = subgroupBallot(wanted);
  const uint count = subgroupBallotBitCount(who);
  uint base = 0u;
  if (count > 0u && subgroupElect()) base = atomicAdd(Slots(STATE.counters).at[kWaveQueues * depth + queue], count);
  return subgroupBroadcastFirst(base) + subgroupBallotExclusiveBitCount(who);
}

/// The random numbers by which a slot's rays decide about transparency.
void load_random(uint slot, inout Path path) {
  if (!has_feature(kFeatureAlpha)) return;
  path.random = random_begin(picture_pixel(slot_place(slot)), PARAMS.frame, PARAMS.seed, push.sampleIndex);
  path.random.pair = floatBitsToUint(Vectors(STATE.throughputs).at[slot].w);
}

void store_hit(uint slot, bool found, Hit hit) {
  WaveHits(STATE.hits).at[slot] = uvec4(floatBitsToUint(hit.t), found ? hit.instance : kWaveMiss, hit.primitive,
                                        floatBitsToUint(hit.barycentrics.x));
  if (found) Scalars(STATE.hitTails).at[slot] = hit.barycentrics.y;
}

bool load_hit(uint slot, out Hit hit) {
  const uvec4 words = WaveHits(STATE.hits).at[slot];
  hit = Hit(uintBitsToFloat(words.x), words.y, words.z, vec2(uintBitsToFloat(words.w), 0.0));
  if (words.y == kWaveMiss) return false;
  hit.barycentrics.y = Scalars(STATE.hitTails).at[slot];
  return true;
}

#endif
