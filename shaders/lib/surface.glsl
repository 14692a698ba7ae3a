// What a hit is made of: corners, texture coordinates, material values, normals. The level of a texture is chosen by
// ray cones: Akenine-Moeller et al. 2019, "Texture Level of Detail Strategies for Real-Time Ray Tracing" (Ray Tracing
// Gems, chapter 20), and 2021, "Improved Shader and Texture Level of Detail Using Ray Cones".
#ifndef TANDEM_SHADERS_LIB_SURFACE_GLSL
#define TANDEM_SHADERS_LIB_SURFACE_GLSL

#include "shaders/shared/bvh.h"
#include "shaders/shared/path_trace.h"
#include "lib/geometry.glsl"

#extension GL_EXT_nonuniform_qualifier : require

layout(constant_id = 0) const uint kFeatures = 0xffffffffu;
layout(set = 0, binding = 0) uniform sampler2D textures[];

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Instances { InstanceData instance[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Placements { PlacementData placement[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HitSources { HitSource source[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Meshes { MeshData mesh[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Materials { MaterialData material[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Vertices { MeshVertex vertex[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Words { uint word[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Corners { uvec3 corner[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer TexCoords { vec2 uv[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HalfColors { uvec2 color[]; };

bool has_feature(uint feature) { return (kFeatures & feature) != 0u; }

/// The instance and its primitive behind what traversal reports.
HitSource hit_source(SceneAddresses scene, uint placementIndex, uint primitive) {
  const PlacementData placement = Placements(scene.placements).placement[placementIndex];
  HitSource source = HitSource(placement.instance, primitive);
  if (placement.sources != 0ul) {
    source.instance = HitSources(placement.sources).source[primitive].instance;
    source.primitive = HitSources(placement.sources).source[primitive].primitive;
  }
  return source;
}

const float kSharpest = -1e6;   // a level: full resolution

/// A point of a triangle: which mesh, its corners and their weights. `level`: log2 of the root of the part of the
/// triangle's area that a ray stands for; kSharpest: of nothing, and textures are read at full resolution. `variance`:
/// of the normals that one reading of the normal map stands for.
struct MeshPoint {
  MeshData mesh;
  uvec3 corner;
  vec3 weight;
  float level;
  float variance;
};

MeshPoint mesh_point(SceneAddresses scene, uint mesh, uint primitive, vec2 barycentrics) {
  MeshPoint p;
  p.mesh = Meshes(scene.meshes).mesh[mesh];
  p.corner = Corners(p.mesh.indices).corner[primitive];
  p.weight = vec3(1.0 - barycentrics.x - barycentrics.y, barycentrics);
  p.level = kSharpest;
  p.variance = 0.0;
  return p;
}

/// Ray Tracing Gems, equations 2 and 3 of chapter 20, in areas: texels of the triangle times the part of it that counts.
float slot_level(TextureSlot slot, MeshPoint p, vec2 edge1, vec2 edge2) {
  if (p.level == kSharpest) return 0.0;
  return max(p.level + slot.level + 0.5 * log2(abs(edge1.x * edge2.y - edge1.y * edge2.x)), 0.0);
}

vec4 slot_sample(TextureSlot slot, MeshPoint p) {
  const uint64_t address = (slot.texture & kSecondUvSet) != 0u ? p.mesh.uv1 : p.mesh.uv0;
  vec2 uv = vec2(0.0);
  float level = 0.0;
  if (address != 0ul) {
    TexCoords t = TexCoords(address);
    const vec2 a = t.uv[p.corner.x], b = t.uv[p.corner.y], c = t.uv[p.corner.z];
    uv = a * p.weight.x + b * p.weight.y + c * p.weight.z;
    level = slot_level(slot, p, b - a, c - a);
  }
  const vec3 place = vec3(uv, 1.0);
  const vec2 moved = vec2(dot(slot.row0, place), dot(slot.row1, place));
  return textureLod(textures[nonuniformEXT(slot.texture & ~kSecondUvSet)], moved, level);
}

bool slot_used(TextureSlot slot) {
  return has_feature(kFeatureTextures) && (slot.texture & ~kSecondUvSet) != kNoTexture;
}

/// Base colour and coverage.
vec4 surface_base_color(Materials materials, uint material, MeshPoint p) {
  vec4 color = materials.material[material].baseColor;
  const TextureSlot slot = materials.material[material].baseColorTexture;
  if (slot_used(slot)) color *= slot_sample(slot, p);
  if (has_feature(kFeatureColors) && p.mesh.colors != 0ul) {
    HalfColors c = HalfColors(p.mesh.colors);
    vec4 sum = vec4(0.0);
    for (uint k = 0u; k < 3u; k++) {
      const uvec2 packed = c.color[p.corner[k]];
      sum += p.weight[k] * vec4(unpackHalf2x16(packed.x), unpackHalf2x16(packed.y));
    }
    color *= sum;
  }
  return color;
}

/// Radiance that leaves the surface by itself. `coverage`: weigh by the alpha that a ray would have met.
vec3 surface_emission(Materials materials, uint material, MeshPoint p, bool coverage) {
  vec3 radiance = materials.material[material].emissive;
  const TextureSlot slot = materials.material[material].emissiveTexture;
  if (slot_used(slot)) radiance *= slot_sample(slot, p).rgb;
  if (has_feature(kFeatureAlpha) && coverage) {
    const uint flags = materials.material[material].flags;
    const bool veiled = (flags & (kMaterialMask | kMaterialBlend)) != 0u;
    const float alpha = veiled ? surface_base_color(materials, material, p).a : 1.0;
    if ((flags & kMaterialMask) != 0u) radiance *= alpha >= materials.material[material].alphaCutoff ? 1.0 : 0.0;
    if ((flags & kMaterialBlend) != 0u) radiance *= alpha;
  }
  return radiance;
}

/// Where a hit lies and how it faces. Both normals are unit vectors on the side of the ray's origin.
struct Shape {
  vec3 position;
  vec3 objectPosition;
  vec3 geometricNormal;
  vec3 shadingNormal;
  bool front;          // the side from which the corners run counter-clockwise in object space
};

/// A vector of the object's tangent plane or a point (w = 1), in the world.
vec3 to_world(InstanceData instance, vec4 object) {
  return vec3(dot(instance.objectToWorld0, object), dot(instance.objectToWorld1, object),
              dot(instance.objectToWorld2, object));
}

/// A normal in the world: times the transposed inverse.
vec3 normal_to_world(InstanceData instance, vec3 n) {
  return instance.worldToObject0 * n.x + instance.worldToObject1 * n.y + instance.worldToObject2 * n.z;
}

/// Sets the point's variance: Toksvig 2005, "Mipmapping Normal Maps", from the length of the mean (gpu/texture_source.h).
vec3 mapped_normal(Materials materials, InstanceData instance, inout MeshPoint p, vec3 normal) {
  const TextureSlot slot = materials.material[instance.material].normalTexture;
  if (!slot_used(slot) || p.mesh.tangents == 0ul) return normal;
  Words words = Words(p.mesh.tangents);
  const uint first = words.word[p.corner.x];
  const vec3 tangent = octahedral_unpack(first) * p.weight.x + octahedral_unpack(words.word[p.corner.y]) * p.weight.y +
                       octahedral_unpack(words.word[p.corner.z]) * p.weight.z;
  vec3 t = to_world(instance, vec4(tangent, 0.0));
  t -= normal * dot(t, normal);
  const float size = dot(t, t);
  if (!(size > 0.0)) return normal;
  t *= inversesqrt(size);
  const bool mirrored = ((first & 1u) != 0u) != ((instance.flags & kInstanceMirrored) != 0u);
  const vec3 b = cross(normal, t) * (mirrored ? -1.0 : 1.0);
  const vec4 texel = slot_sample(slot, p);
  const float scale = materials.material[instance.material].normalScale;
  const float meanLength = max(texel.w, 1.0 / 255.0);
  p.variance = (1.0 - meanLength) / meanLength * scale * scale;
  vec3 local = texel.xyz * 2.0 - 1.0;
  local.xy *= scale;
  const vec3 n = t * local.x + b * local.y + normal * local.z;
  const float length2 = dot(n, n);
  return length2 > 0.0 ? n * inversesqrt(length2) : normal;
}

/// Bends a shading normal just so far that the mirror direction of `o` lies above the surface. Keller et al. 2017, "The
/// Iray Light Transport Simulation and Rendering System", section A.3.
vec3 bent_normal(vec3 shading, vec3 geometric, vec3 o) {
  const vec3 r = 2.0 * dot(o, shading) * shading - o;
  const float above = dot(r, geometric), least = 0.01 * dot(o, geometric);
  if (above >= least) return shading;
  return normalize(o + normalize(r + geometric * (least - above)));
}

/// The level of a point that a cone of `width` metres meets. The footprint is taken by its area, so that at grazing
/// angles neither axis decides alone: the samples of a pixel filter along the long one.
float cone_level(InstanceData instance, vec3 edge1, vec3 edge2, float width, float cosine) {
  const vec3 normal = cross(to_world(instance, vec4(edge1, 0.0)), to_world(instance, vec4(edge2, 0.0)));
  return log2(max(width, 1e-18)) - 0.5 * log2(max(length(normal), 1e-36) * max(cosine, 1e-3));
}

/// A perceptual roughness with that of the normals below the texel added: in squares of alpha, 2 * variance.
float roughened(float roughness, MeshPoint p) {
  if (!has_feature(kFeatureNormalMaps) || p.variance == 0.0) return roughness;
  const float alpha = roughness * roughness;
  return sqrt(sqrt(min(alpha * alpha + 2.0 * p.variance, 1.0)));
}

/// `width`: of the ray's cone here, metres. Sets the point's level and variance.
Shape surface_shape(SceneAddresses scene, InstanceData instance, inout MeshPoint p, vec3 o, float width) {
  Vertices v = Vertices(p.mesh.vertices);
  const MeshVertex a = v.vertex[p.corner.x], b = v.vertex[p.corner.y], c = v.vertex[p.corner.z];
  Shape shape;
  shape.objectPosition = a.position + (b.position - a.position) * p.weight.y + (c.position - a.position) * p.weight.z;
  shape.position = to_world(instance, vec4(shape.objectPosition, 1.0));
  vec3 edge1 = b.position - a.position, edge2 = c.position - a.position;
  const vec3 side1 = edge1, side2 = edge2;
  // Scaled, so that the product of the edges of a tiny triangle does not vanish.
  edge1 /= max(max(abs(edge1.x), max(abs(edge1.y), abs(edge1.z))), 1e-30);
  edge2 /= max(max(abs(edge2.x), max(abs(edge2.y), abs(edge2.z))), 1e-30);
  vec3 ng = normal_to_world(instance, cross(edge1, edge2));
  const float size = dot(ng, ng);
  ng = size > 0.0 ? ng * inversesqrt(size) : o;
  shape.front = dot(ng, o) >= 0.0;
  if (!shape.front) ng = -ng;
  if (has_feature(kFeatureTextures)) p.level = cone_level(instance, side1, side2, width, dot(ng, o));
  const vec3 normal = octahedral_unpack(a.normal) * p.weight.x + octahedral_unpack(b.normal) * p.weight.y +
                      octahedral_unpack(c.normal) * p.weight.z;
  vec3 ns = normal_to_world(instance, normal);
  const float shadingSize = dot(ns, ns);
  ns = shadingSize > 0.0 ? ns * inversesqrt(shadingSize) : ng;
  const bool away = dot(ns, ng) < 0.0;
  if (has_feature(kFeatureNormalMaps)) ns = mapped_normal(Materials(scene.materials), instance, p, ns);
  // Seen from behind, the whole frame turns to the ray.
  if (away) ns = -ns;
  shape.geometricNormal = ng;
  shape.shadingNormal = bent_normal(ns, ng, o);
  return shape;
}

#endif
