// The scene as shading reads it. Owner in C++: trace/gpu_scene and trace/frame_scene. World space and metres unless a
// member says otherwise.
#ifndef TANDEM_SHADERS_SHARED_SCENE_H
#define TANDEM_SHADERS_SHARED_SCENE_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// One corner of a mesh, object space. `normal`: octahedral snorm16 x2. 16 bytes.
struct MeshVertex {
  vec3 position;
  uint normal;
};

/// Addresses of a mesh's arrays; 0 where the mesh has no such attribute. Colours: half floats (r, g), (b, a), linear.
/// Tangents: octahedral snorm16 x2 whose lowest bit is set where the handedness is -1.
struct MeshData {
  uint64_t vertices;   // MeshVertex[]
  uint64_t indices;    // uint[3 * triangles]
  uint64_t uv0;        // vec2[]
  uint64_t uv1;        // vec2[]
  uint64_t tangents;   // uint[]
  uint64_t colors;     // uvec2[]
  uint64_t open;       // vec3[]: positions when the shutter opens and closes, of a mesh that deforms
  uint64_t close;
};

/// A place of a mesh at the centre of the shutter. Rows of the 3x4 object-to-world matrix, and of its 3x3 inverse. (Of a
/// skinned mesh, whose vertices lie in the world, the identity; its inverse is negative where the skin mirrors.)
struct InstanceData {
  vec4 objectToWorld0;
  vec4 objectToWorld1;
  vec4 objectToWorld2;
  vec3 worldToObject0;
  vec3 worldToObject1;
  vec3 worldToObject2;
  uint mesh;
  uint material;
  uint flags;          // kInstanceMirrored, kInstanceDeforms
  float offsetFloor;   // metres: smaller coordinates round as coarsely as this one (shaders/lib/geometry.glsl)
};

/// What traversal calls an instance is a placement: one instance, or many that never move, merged into one tree.
struct PlacementData {
  uint64_t sources;    // HitSource[], by the tree's primitives; 0: one instance
  uint instance;       // that one
  uint pad;
};

/// Where a triangle of a merged tree comes from.
struct HitSource {
  uint instance;
  uint primitive;
};

/// The same place when the shutter opens and closes. Read for motion vectors only.
struct InstanceMotion {
  vec4 open0;
  vec4 open1;
  vec4 open2;
  vec4 close0;
  vec4 close1;
  vec4 close2;
};

/// A texture of the table and how coordinates reach it: u' = dot(row0, (u, v, 1)), v' = dot(row1, (u, v, 1)).
struct TextureSlot {
  uint texture;        // index in the table, or kNoTexture; kSecondUvSet is or-ed in for TEXCOORD_1
  vec3 row0;
  vec3 row1;
  float level;         // log2 of the root of the texels in a unit square of the coordinates before they are moved
};

/// glTF 2.0 metallic-roughness with KHR_materials_ior, _specular, _emissive_strength and _unlit. All colours linear.
struct MaterialData {
  vec4 baseColor;
  vec3 emissive;           // radiance
  float metallic;
  vec3 specularColor;      // the colour factor times ((ior - 1) / (ior + 1))^2, before the limit of 1
  float specular;          // strength of the dielectric's reflection
  float roughness;         // perceptual
  float normalScale;
  float alphaCutoff;
  float emissiveWeight;    // luminance of `emissive` times its texture's mean: emitters are chosen by this times area
  uint flags;              // kMaterial...
  TextureSlot baseColorTexture;
  TextureSlot metallicRoughnessTexture;
  TextureSlot normalTexture;
  TextureSlot emissiveTexture;
  TextureSlot specularTexture;        // with kFeatureSpecularTextures
  TextureSlot specularColorTexture;
};

/// One bin of an alias table (Walker 1974, in Vose's form of 1991): the bin stands for itself below `threshold`, else
/// for `alias`.
struct AliasBin {
  float threshold;
  uint alias;
};

/// KHR_lights_punctual.
struct PunctualLight {
  vec3 position;
  uint directional;        // 1: from infinitely far along `direction`
  vec3 direction;          // unit, away from the light
  float inverseRange;      // 1 / metres; 0 = no limit
  vec3 intensity;          // candela (lux where directional) times colour
  float probability;       // of being chosen among the punctual lights
  float coneScale;         // spot falloff: clamp(cosine * coneScale + coneOffset, 0, 1) squared; 0 and 1 for all others
  float coneOffset;
  AliasBin bin;
};

/// A triangle that emits: to its front, or to both sides where the material is double sided. Chosen with probability
/// area * emissiveWeight of its material / sum over all.
struct EmissiveTriangle {
  vec3 corner;
  vec3 edge1;
  vec3 edge2;
  uint instance;
  uint primitive;
  AliasBin bin;
};

/// A camera in world space; right, up, forward are orthonormal.
struct CameraData {
  vec3 eye;
  float halfHeight;        // tangent of half the vertical field of view; of an orthographic camera, metres
  vec3 right;
  uint orthographic;
  vec3 up;
  float pad0;
  vec3 forward;
  float pad1;
};

/// Directional albedo of single-scattering GGX at one cosine and roughness: F0 * scale + F90 * bias
/// (shaders/lib/bsdf.glsl).
struct AlbedoEntry {
  float scale;
  float bias;
};

#ifdef __cplusplus
inline constexpr uint32_t kNoTexture = 0x7fffffffu;
inline constexpr uint32_t kSecondUvSet = 0x80000000u;
inline constexpr uint32_t kInstanceMirrored = 1u;
inline constexpr uint32_t kInstanceDeforms = 2u;   // its shape differs between the shutter's opening and closing
inline constexpr uint32_t kMaterialMask = 1u;
inline constexpr uint32_t kMaterialBlend = 2u;
inline constexpr uint32_t kMaterialUnlit = 4u;
inline constexpr uint32_t kMaterialEmissive = 8u;
inline constexpr uint32_t kMaterialDoubleSided = 16u;
inline constexpr uint32_t kAlbedoCosines = 32;
inline constexpr uint32_t kAlbedoRoughnesses = 32;
#else
const uint kNoTexture = 0x7fffffffu;
const uint kSecondUvSet = 0x80000000u;
const uint kInstanceMirrored = 1u;
const uint kInstanceDeforms = 2u;
const uint kMaterialMask = 1u;
const uint kMaterialBlend = 2u;
const uint kMaterialUnlit = 4u;
const uint kMaterialEmissive = 8u;
const uint kMaterialDoubleSided = 16u;
const uint kAlbedoCosines = 32u;
const uint kAlbedoRoughnesses = 32u;
#endif

TANDEM_SHARED_END
#endif
