// Skins and morph targets: what the deforming passes read and write (engine/trace/deformer, shaders/trace/deform.comp,
// refit_*.comp). Three times of a frame: 0 the centre of the shutter, 1 its opening, 2 its closing.
#ifndef TANDEM_SHADERS_SHARED_DEFORM_H
#define TANDEM_SHADERS_SHARED_DEFORM_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// By how much one morph target at weight 1 changes one vertex. Object space. 40 bytes.
struct MorphDelta {
  uint target;
  vec3 position;
  vec3 normal;
  vec3 tangent;
};

/// Rows of the 3x4 matrix that brings a vertex into the world: world(joint) * inverse bind matrix.
struct JointMatrix {
  vec4 row0;
  vec4 row1;
  vec4 row2;
};

/// One mesh at one node. Addresses are 0 where there is no such array.
struct DeformJob {
  uint64_t rest;          // MeshVertex[]
  uint64_t restTangents;  // uint[], as MeshData::tangents
  uint64_t joints;        // uvec2[vertices][influences / 4]: four 16-bit places
  uint64_t jointWeights;  // vec4[vertices][influences / 4]
  uint64_t morphStarts;   // uint[vertices + 1]
  uint64_t morphDeltas;   // MorphDelta[]
  uint64_t skin;          // JointMatrix[3][jointCount]
  uint64_t morphWeights;  // float[3][targetCount]
  uint64_t vertices;      // MeshVertex[]: made, at the centre of the shutter
  uint64_t tangents;      // uint[]: made
  uint64_t open;          // vec3[]: made; positions when the shutter opens and closes
  uint64_t close;
  uint vertexCount;
  uint influences;        // 0, 4 or 8 joints a vertex
  uint jointCount;
  uint targetCount;
};

/// A mesh's tree whose boxes follow its triangles (trace/compute_bvh.h says how it is laid out).
struct RefitJob {
  uint64_t vertices;      // MeshVertex[]: deformed
  uint64_t indices;       // uint[3 * triangles]
  uint64_t nodes;         // BvhNode[]
  uint64_t triangles;     // BvhTriangle[]
  uint64_t order;         // uint[]: nodes by height, those above leaves alone first
  uint64_t levels;        // uint[]: where in `order` each height begins, and the end
  uint triangleCount;     // in the tree
  uint flatNormals;       // 1: vertices take their triangle's normal
  uint levelCount;
  uint tail;              // from this height on one work group does them all
};

struct DeformPush {
  uint64_t jobs;          // DeformJob[]
  uint job;
  uint moving;            // 1: the opening and closing differ from the centre
};

struct RefitPush {
  uint64_t jobs;          // RefitJob[]
  uint job;               // plus the work group's row
  uint level;             // kRefitTail: all from each job's `tail` on
};

#ifdef __cplusplus
inline constexpr uint32_t kRefitTail = 0xffffffffu;
#else
const uint kRefitTail = 0xffffffffu;
#endif

TANDEM_SHARED_END
#endif
