// The path tracer in one kernel: one thread a pixel, all samples and bounces in one loop, so that a lane whose path has
// ended begins its next sample while its neighbours still follow theirs. For software devices, which have no threads to
// hide waits with; GPUs take the stages of wave_*.comp, which make the same picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/path_trace.h"

layout(local_size_x_id = 2) in;   // a multiple of kGroupWidth
layout(push_constant, scalar) uniform Push { PathTracePush push; };
#define kParams push.params
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

void main() {
  const uvec2 place = group_place(gl_WorkGroupID.xy, gl_LocalInvocationIndex, push.firstRow);
  if (place.x >= PARAMS.width || place.y >= push.endRow) return;
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
