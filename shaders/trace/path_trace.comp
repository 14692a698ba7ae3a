// The path tracer in one kernel: one thread a pixel, all samples and bounces in one loop, so that a lane whose path has
// ended begins its next sample while its neighbours still follow theirs. For software devices, which have no threads to
// hide waits with; GPUs take the stages of wave_*.comp, which make the same picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/path_trace.h"

layout(local_size_x_id = 2) in;   // a multiple of kGroupWidth
layout(push_constant, scalar) uniform Push { PathTracePush push; };
#define kParams push.params
#include "trace/group_place.glsl"
#include "trace/whole_path.glsl"

void main() {
  const uvec2 place = group_place(gl_WorkGroupID.xy, gl_LocalInvocationIndex, push.firstRow);
  if (place.x < PARAMS.width && place.y < push.endRow) trace_pixel(place);
}
