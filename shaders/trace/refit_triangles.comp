// Copies deformed corners to the triangles of a tree's leaves, and gives vertices their triangle's normal where the mesh
// has no others. One thread a triangle.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "trace/refit.glsl"
#include "lib/geometry.glsl"

layout(local_size_x = 128) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Corners { uvec3 corner[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Vertices { MeshVertex vertex[]; };

/// As far out as trace/embree_builder.h lets a box reach. False for NaN, too.
bool usable(vec3 p) {
  const vec3 size = abs(p);
  return size.x <= kLargestCoordinate && size.y <= kLargestCoordinate && size.z <= kLargestCoordinate;
}

/// No two triangles share a vertex of such a mesh.
void write_normals(Vertices vertices, uvec3 corner, vec3 a, vec3 b, vec3 c) {
  const vec3 n = cross(b - a, c - a);
  const float size = max(abs(n.x), max(abs(n.y), abs(n.z)));
  if (!(size > 0.0 && size < 1e30)) return;   // without area: never seen
  const uint packed = octahedral_pack(n / size);
  for (uint k = 0u; k < 3u; k++) vertices.vertex[corner[k]].normal = packed;
}

void refit(uint index) {
  Triangles triangles = Triangles(JOB.triangles);
  Vertices vertices = Vertices(JOB.vertices);
  const uvec3 corner = Corners(JOB.indices).corner[triangles.triangle[index].primitive];
  vec3 a = vertices.vertex[corner.x].position;
  vec3 b = vertices.vertex[corner.y].position;
  vec3 c = vertices.vertex[corner.z].position;
  if (JOB.flatNormals != 0u) write_normals(vertices, corner, a, b, c);
  // A corner out of reach leaves a triangle without area, which nothing hits.
  if (!(usable(a) && usable(b) && usable(c))) a = b = c = usable(a) ? a : usable(b) ? b : usable(c) ? c : vec3(0.0);
  triangles.triangle[index].a = a;
  triangles.triangle[index].b = b;
  triangles.triangle[index].c = c;
}

void main() {
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < JOB.triangleCount; i += threads) refit(i);
}
