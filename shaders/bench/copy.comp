// Copies memory with all threads, 16 bytes each: how fast a GPU reads and writes (engine/gpu/copy_speed).
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer From { uvec4 value[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer To { uvec4 value[]; };
layout(push_constant, scalar) uniform Push { uint64_t from; uint64_t to; uint count; } push;

void main() {
  const uint at = gl_GlobalInvocationID.x;
  if (at < push.count) To(push.to).value[at] = From(push.from).value[at];
}
