// Draws directions of one surface from one side: a histogram, and a few of them with what the surface says of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/bsdf.glsl"
#include "lib/rng.glsl"

layout(local_size_x = 64) in;

struct BsdfSample {
  vec3 direction;
  float density;
  vec3 forward;       // f * cosine of `direction`
  float specularChance;
  vec3 backward;      // f * cosine of o, path and light swapped
  float pad;
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Counts { uint count[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Samples { BsdfSample value[]; };

layout(push_constant, scalar) uniform Push {
  uint64_t counts;     // [cosineBins][angleBins], then one for what lies below the horizon
  uint64_t samples;    // one per thread
  uint64_t table;
  uint64_t means;
  vec3 base;
  float metallic;
  vec3 f0;
  float f90;
  float roughness;
  float cosine;
  uint cosineBins;
  uint angleBins;
  uint perThread;
} push;

Bsdf make(float cosine) {
  return bsdf_make(push.table, push.means, push.base, push.metallic, push.roughness, push.f0, push.f90, cosine);
}

void main() {
  const uint thread = gl_GlobalInvocationID.x;
  const vec3 o = vec3(sqrt(1.0 - push.cosine * push.cosine), 0.0, push.cosine);
  const Bsdf bsdf = make(o.z);
  for (uint k = 0u; k < push.perThread; k++) {
    Random random = random_begin(uvec2(thread, k), 0u, 1u, 0u);
    const vec2 u = random_pair(random);
    const vec3 i = bsdf_sample(bsdf, o, u, random_pair(random).x);
    uint bin = push.cosineBins * push.angleBins;
    if (i.z > 0.0) {
      const float angle = atan(i.y, i.x) / (2.0 * kPi) + 0.5;
      bin = min(uint(i.z * push.cosineBins), push.cosineBins - 1u) * push.angleBins +
            min(uint(angle * push.angleBins), push.angleBins - 1u);
    }
    atomicAdd(Counts(push.counts).count[bin], 1u);
    if (k > 0u) continue;
    BsdfSample s = BsdfSample(i, 0.0, vec3(0.0), bsdf.specularChance, vec3(0.0), 0.0);
    s.forward = bsdf_evaluate(bsdf, push.table, o, i, s.density);
    float unused;
    if (i.z > 0.0) s.backward = bsdf_evaluate(make(i.z), push.table, i, o, unused);
    Samples(push.samples).value[thread] = s;
  }
}
