// How the threads of the path tracer's compute kernels lie over the picture.
#ifndef TANDEM_SHADERS_TRACE_GROUP_PLACE_GLSL
#define TANDEM_SHADERS_TRACE_GROUP_PLACE_GLSL

/// Where in the planes a thread of a work group writes: groups are kGroupWidth pixels wide and as high as they have threads for.
uvec2 group_place(uvec2 group, uint thread, uint firstRow) {
  const uvec2 size = uvec2(kGroupWidth, gl_WorkGroupSize.x / kGroupWidth);
  return group * size + uvec2(thread % kGroupWidth, thread / kGroupWidth + firstRow);
}

#endif
