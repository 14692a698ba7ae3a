// All samples and bounces of one pixel in one loop: what the path tracer's one-kernel forms do (path_trace.comp, path_trace.rgen).
#ifndef TANDEM_SHADERS_TRACE_WHOLE_PATH_GLSL
#define TANDEM_SHADERS_TRACE_WHOLE_PATH_GLSL

#include "trace/integrator.glsl"

/// One segment. False: the path has ended.
bool path_advance(inout Path path, uint at, inout PixelSums sums) {
  Hit hit;
  if (!path_hit(path, hit)) {
    path_miss(path, at);
    return false;
  }
  const Surface surface = surface_at(path, hit);
  if (look_through(path, surface)) return true;
  Direct direct;
  vec3 position;
  const bool goesOn = path_vertex(path, surface, hit.t, at, sums, direct, position);
  // Last, when the surface is no longer needed: what lives on during a trace takes registers from it.
  if (worth_asking(direct) && !shadowed(path, position, direct)) path.radiance += direct.value;
  return goesOn;
}

/// `place`: where in the planes the pixel is written.
void trace_pixel(uvec2 place) {
  const uint at = place.y * PARAMS.width + place.x;
  const uvec2 pixel = picture_pixel(place);
  PixelSums sums = PixelSums(vec3(0.0), vec3(0.0), 0.0);
  Path path = path_begin(pixel, 0u);
  while (true) {
    if (path_advance(path, at, sums)) continue;
    add_path(sums, path.radiance);
    const uint next = path.random.index + 1u;
    if (next == PARAMS.samples) break;
    path = path_begin(pixel, next);
  }
  write_pixel(at, sums);
  count_rays(at);
}

#endif
