// Takes time and does nothing: one thread, each step waiting for the one before (engine/exec/slow_pass).
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Word { uint value; };
layout(push_constant, scalar) uniform Push { uint64_t result; uint spins; } push;

void main() {
  uint x = push.spins;
  for (uint i = 0u; i < push.spins; i++) x = (x ^ (x >> 7u)) * 1664525u + i;
  if (x == 0u) Word(push.result).value = x;   // so that the loop has a result
}
