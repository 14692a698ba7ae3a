// Light from infinitely far: an equirectangular picture, looked up bilinearly, sampled by a distribution that is
// constant on each texel and proportional to the texel's integral of luminance times cosine of latitude
// (trace/light_table makes the tables).
#ifndef TANDEM_SHADERS_LIB_ENVIRONMENT_GLSL
#define TANDEM_SHADERS_LIB_ENVIRONMENT_GLSL

#include "shaders/shared/path_trace.h"
#include "lib/geometry.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Floats { float value[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Guide { uint cell[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Colors { vec3 value[]; };

struct Environment {
  uint64_t texels;
  uint64_t rows;
  uint64_t columns;
  uint64_t rowGuide;
  uint64_t columnGuide;
  uint width;
  uint height;
};

/// u runs around +Y from -X over -Z..., v from straight up to straight down (scene::Environment).
vec2 environment_place(vec3 direction) {
  const bool pole = direction.x == 0.0 && direction.z == 0.0;   // where atan is undefined
  return vec2(atan(direction.z, pole ? 1.0 : direction.x) / (2.0 * kPi) + 0.5,
              0.5 - asin(clamp(direction.y, -1.0, 1.0)) / kPi);
}

vec3 environment_direction(vec2 place) {
  const float longitude = (place.x - 0.5) * 2.0 * kPi, latitude = (0.5 - place.y) * kPi;
  return vec3(cos(latitude) * cos(longitude), sin(latitude), cos(latitude) * sin(longitude));
}

/// Radiance from a direction. Wraps around, ends at the poles.
vec3 environment_radiance(Environment e, vec2 place) {
  const vec2 at = place * vec2(e.width, e.height) - 0.5;
  const vec2 low = floor(at), f = at - low;
  const int width = int(e.width), height = int(e.height);
  const int x0 = (int(low.x) + width) % width, x1 = (int(low.x) + 1 + width) % width;
  const int y0 = clamp(int(low.y), 0, height - 1), y1 = clamp(int(low.y) + 1, 0, height - 1);
  Colors c = Colors(e.texels);
  return mix(mix(c.value[y0 * width + x0], c.value[y0 * width + x1], f.x),
             mix(c.value[y1 * width + x0], c.value[y1 * width + x1], f.x), f.y);
}

/// Density per solid angle of environment_sample in a texel at a latitude. `chance`: of the texel.
float environment_texel_density(Environment e, float chance, float cosLatitude) {
  return chance * float(e.width) * float(e.height) / (2.0 * kPi * kPi * max(cosLatitude, 1e-6));
}

float environment_density(Environment e, vec2 place, vec3 direction) {
  const uint x = min(uint(max(place.x, 0.0) * float(e.width)), e.width - 1u);
  const uint y = min(uint(max(place.y, 0.0) * float(e.height)), e.height - 1u);
  Floats rows = Floats(e.rows), columns = Floats(e.columns);
  const uint at = y * (e.width + 1u) + x;
  const float chance = (rows.value[y + 1u] - rows.value[y]) * (columns.value[at + 1u] - columns.value[at]);
  return environment_texel_density(e, chance, sqrt(max(1.0 - direction.y * direction.y, 0.0)));
}

/// The last of `count` cells whose cumulative probability begins at or below u.
uint environment_find(Floats cumulative, Guide guide, uint first, uint count, float u) {
  const uint bin = min(uint(u * float(count)), count - 1u);   // may be rounded up into the next
  uint low = guide.cell[first + bin], high = guide.cell[first + min(bin + 2u, count)] + 1u;
  while (high - low > 1u) {
    const uint middle = (low + high) >> 1u;
    if (cumulative.value[first + middle] <= u) low = middle; else high = middle;
  }
  return low;
}

/// A place to look at and its density per solid angle; density 0: nothing there.
vec2 environment_sample(Environment e, vec2 u, out float density) {
  Floats rows = Floats(e.rows), columns = Floats(e.columns);
  const uint y = environment_find(rows, Guide(e.rowGuide), 0u, e.height, u.y);
  const float rowBegin = rows.value[y], rowChance = rows.value[y + 1u] - rowBegin;
  const uint first = y * (e.width + 1u);
  const uint x = environment_find(columns, Guide(e.columnGuide), first, e.width, u.x);
  const float columnBegin = columns.value[first + x], columnChance = columns.value[first + x + 1u] - columnBegin;
  const vec2 chance = max(vec2(columnChance, rowChance), vec2(1e-30));
  const vec2 within = clamp((u - vec2(columnBegin, rowBegin)) / chance, 0.0, 0.99999);
  const vec2 place = (vec2(x, y) + within) / vec2(e.width, e.height);
  density = environment_texel_density(e, rowChance * columnChance, sin(place.y * kPi));
  return place;
}

#endif
