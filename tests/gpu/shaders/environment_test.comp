// Estimates integrals over the environment with its own sampling: per thread, sums over samples.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/environment.glsl"
#include "lib/rng.glsl"

layout(local_size_x = 64) in;

struct EnvironmentSums {
  float all;         // luminance / density
  float upward;      // of directions above the horizon, times their cosine
  float disagree;    // samples whose density, asked for by direction, differs by more than a thousandth
  float uniform_;    // density / density of uniform directions: 1 on average
};

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Sums { EnvironmentSums value[]; };

layout(push_constant, scalar) uniform Push {
  uint64_t sums;
  Environment environment;
  uint perThread;
} push;

void main() {
  const uint thread = gl_GlobalInvocationID.x;
  EnvironmentSums s = EnvironmentSums(0.0, 0.0, 0.0, 0.0);
  for (uint k = 0u; k < push.perThread; k++) {
    Random random = random_begin(uvec2(thread, k), 0u, 2u, 0u);
    float density;
    const vec2 place = environment_sample(push.environment, random_pair(random), density);
    const vec3 direction = environment_direction(place);
    const float value = luminance(environment_radiance(push.environment, place)) / density;
    s.all += value;
    s.upward += value * max(direction.y, 0.0);
    const float asked = environment_density(push.environment, environment_place(direction), direction);
    if (abs(asked - density) > 1e-3 * density) s.disagree += 1.0;
    const vec2 u = random_pair(random);
    const float y = 1.0 - 2.0 * u.x, r = sqrt(max(1.0 - y * y, 0.0));
    const vec3 any = vec3(r * cos(2.0 * kPi * u.y), y, r * sin(2.0 * kPi * u.y));
    s.uniform_ += environment_density(push.environment, environment_place(any), any) * 4.0 * kPi;
  }
  Sums(push.sums).value[thread] = s;
}
