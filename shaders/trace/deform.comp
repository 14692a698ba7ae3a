// Vertices of a mesh that morph targets and a skin deform: glTF 2.0 sections 3.7.2.2 and 3.7.3. One thread a vertex, and
// no thread sees another's work. The CPU's version is engine/scene/deform.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/shared/deform.h"
#include "shaders/shared/scene.h"
#include "lib/geometry.glsl"

layout(local_size_x = 128) in;
layout(push_constant, scalar) uniform Push { DeformPush push; };

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Jobs { DeformJob job[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer RestVertices { MeshVertex vertex[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Words { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer JointPlaces { uvec2 place[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Weights4 { vec4 weight[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Weights { float weight[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Deltas { MorphDelta delta[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Joints { JointMatrix joint[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Vertices { MeshVertex vertex[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Tangents { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Points { vec3 point[]; };

#define JOB Jobs(push.jobs).job[push.job]

const uint kCentre = 0u, kOpen = 1u, kClose = 2u;

/// A vertex, or what its morph targets add to it.
struct Frame {
  vec3 position;
  vec3 normal;
  vec3 tangent;
};

void add_morphs(uint vertex, uint time, inout Frame frame) {
  if (JOB.morphStarts == 0ul) return;
  Weights weights = Weights(JOB.morphWeights);
  Deltas deltas = Deltas(JOB.morphDeltas);
  const uint base = time * JOB.targetCount;
  const uint end = Words(JOB.morphStarts).word[vertex + 1u];
  Frame sum = Frame(vec3(0.0), vec3(0.0), vec3(0.0));
  for (uint i = Words(JOB.morphStarts).word[vertex]; i < end; i++) {
    const float weight = weights.weight[base + deltas.delta[i].target];
    if (weight == 0.0) continue;
    sum.position += weight * deltas.delta[i].position;
    sum.normal += weight * deltas.delta[i].normal;
    sum.tangent += weight * deltas.delta[i].tangent;
  }
  frame.position += sum.position;
  frame.normal += sum.normal;
  frame.tangent += sum.tangent;
}

void add_joint(uint joint, float weight, inout JointMatrix sum) {
  if (weight == 0.0) return;
  const JointMatrix m = Joints(JOB.skin).joint[joint];
  sum.row0 += weight * m.row0;
  sum.row1 += weight * m.row1;
  sum.row2 += weight * m.row2;
}

/// The mean of the matrices that pull at a vertex.
JointMatrix skin_matrix(uint vertex, uint time) {
  JointMatrix sum = JointMatrix(vec4(0.0), vec4(0.0), vec4(0.0));
  const uint base = time * JOB.jointCount, fours = JOB.influences / 4u;
  for (uint k = 0u; k < fours; k++) {
    const uvec2 places = JointPlaces(JOB.joints).place[vertex * fours + k];
    const vec4 weights = Weights4(JOB.jointWeights).weight[vertex * fours + k];
    add_joint(base + (places.x & 0xffffu), weights.x, sum);
    add_joint(base + (places.x >> 16u), weights.y, sum);
    add_joint(base + (places.y & 0xffffu), weights.z, sum);
    add_joint(base + (places.y >> 16u), weights.w, sum);
  }
  return sum;
}

vec3 moved(JointMatrix m, vec4 v) { return vec3(dot(m.row0, v), dot(m.row1, v), dot(m.row2, v)); }

/// A normal times the matrix of cofactors: the transposed inverse, up to a factor that may be 0 or negative.
vec3 turned(JointMatrix m, vec3 n) {
  return vec3(dot(cross(m.row1.xyz, m.row2.xyz), n), dot(cross(m.row2.xyz, m.row0.xyz), n),
              dot(cross(m.row0.xyz, m.row1.xyz), n));
}

uint packed_unit(vec3 v, uint otherwise) {
  const float length2 = dot(v, v);
  return length2 > 0.0 && length2 < 1e37 ? octahedral_pack(v * inversesqrt(length2)) : otherwise;
}

vec3 position_at(uint vertex, vec3 rest, uint time) {
  Frame frame = Frame(rest, vec3(0.0), vec3(0.0));
  add_morphs(vertex, time, frame);
  return JOB.influences > 0u ? moved(skin_matrix(vertex, time), vec4(frame.position, 1.0)) : frame.position;
}

/// Where the vertex is at another time; what is no number there has not moved.
void write_position(uint64_t target, uint vertex, vec3 rest, uint time, vec3 centre) {
  const vec3 p = position_at(vertex, rest, time);
  Points(target).point[vertex] = dot(p, p) < 1e30 ? p : centre;
}

void deform(uint vertex) {
  const MeshVertex rest = RestVertices(JOB.rest).vertex[vertex];
  const uint restTangent = JOB.restTangents != 0ul ? Words(JOB.restTangents).word[vertex] : 0u;
  Frame frame = Frame(rest.position, octahedral_unpack(rest.normal), octahedral_unpack(restTangent));
  add_morphs(vertex, kCentre, frame);
  if (JOB.influences > 0u) {
    const JointMatrix m = skin_matrix(vertex, kCentre);
    frame.position = moved(m, vec4(frame.position, 1.0));
    frame.normal = turned(m, frame.normal);
    frame.tangent = moved(m, vec4(frame.tangent, 0.0));
  }
  Vertices(JOB.vertices).vertex[vertex] = MeshVertex(frame.position, packed_unit(frame.normal, rest.normal));
  if (JOB.restTangents != 0ul) {
    Tangents(JOB.tangents).word[vertex] = (packed_unit(frame.tangent, restTangent) & ~1u) | (restTangent & 1u);
  }
  if (push.moving == 0u) return;
  write_position(JOB.open, vertex, rest.position, kOpen, frame.position);
  write_position(JOB.close, vertex, rest.position, kClose, frame.position);
}

void main() {
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint vertex = gl_GlobalInvocationID.x; vertex < JOB.vertexCount; vertex += threads) deform(vertex);
}
