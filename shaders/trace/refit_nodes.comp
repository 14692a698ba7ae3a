// Boxes of a tree from its triangles up, height by height. Minimum and maximum know no order, so that any schedule gives
// the same bits. Where a height has many nodes several work groups share it, one dispatch a height; one work group does
// all that is above.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/refit.glsl"

layout(local_size_x = 256) in;

layout(buffer_reference, scalar, buffer_reference_align = 16) coherent buffer Nodes { BvhNode node[]; };

struct Box {
  vec3 lo;
  vec3 hi;
};

/// Wider by a few units in the last place of the largest coordinate, as trace/embree_builder builds them.
Box box_of_triangles(uint reference) {
  Triangles triangles = Triangles(JOB.triangles);
  const uint first = reference & ((1u << kLeafCountShift) - 1u);
  const uint end = first + ((reference & ~kLeafBit) >> kLeafCountShift);
  Box box = Box(vec3(3e38), vec3(-3e38));
  for (uint i = first; i < end; i++) {
    const vec3 a = triangles.triangle[i].a, b = triangles.triangle[i].b, c = triangles.triangle[i].c;
    box.lo = min(box.lo, min(a, min(b, c)));
    box.hi = max(box.hi, max(a, max(b, c)));
  }
  const vec3 size = max(abs(box.lo), abs(box.hi));
  const vec3 pad = vec3(4e-7 * max(size.x, max(size.y, size.z)) + 1e-30);
  return Box(box.lo - pad, box.hi + pad);
}

Box box_of(Nodes nodes, uint reference) {
  if ((reference & kLeafBit) != 0u) return box_of_triangles(reference);
  const vec4 a = nodes.node[reference].xy0, b = nodes.node[reference].xy1, c = nodes.node[reference].z01;
  return Box(min(vec3(a.xz, c.x), vec3(b.xz, c.z)), max(vec3(a.yw, c.y), vec3(b.yw, c.w)));
}

void refit(uint index) {
  Nodes nodes = Nodes(JOB.nodes);
  const uint child0 = nodes.node[index].child0, child1 = nodes.node[index].child1;
  const Box a = box_of(nodes, child0);
  nodes.node[index].xy0 = vec4(a.lo.x, a.hi.x, a.lo.y, a.hi.y);
  // The root above a lone leaf names it twice: the second box stays out of reach.
  const vec4 z = nodes.node[index].z01;
  Box b = Box(vec3(0.0, 0.0, z.z), vec3(0.0, 0.0, z.w));
  if (child1 != child0) {
    b = box_of(nodes, child1);
    nodes.node[index].xy1 = vec4(b.lo.x, b.hi.x, b.lo.y, b.hi.y);
  }
  nodes.node[index].z01 = vec4(a.lo.z, a.hi.z, b.lo.z, b.hi.z);
}

void main() {
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  const bool shared_ = push.level != kRefitTail;
  const uint end = shared_ ? push.level + 1u : JOB.levelCount;
  for (uint level = shared_ ? push.level : JOB.tail; level < end; level++) {
    const uint last = Words(JOB.levels).word[level + 1u];
    for (uint i = Words(JOB.levels).word[level] + gl_GlobalInvocationID.x; i < last; i += threads) {
      refit(Words(JOB.order).word[i]);
    }
    memoryBarrierBuffer();
    barrier();
  }
}
