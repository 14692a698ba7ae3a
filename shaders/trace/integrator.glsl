// The path tracer's parts, which its kernels put together: one path from the camera through surfaces and lights to its
// end. Next-event estimation at every vertex and multiple importance sampling with the power heuristic (Veach 1997,
// section 9.2.4). At the last vertex no segment follows, so there light sampling counts in full.
// An including shader first defines kParams: the address of its PathTraceParams; and TANDEM_RAY_PIPELINE where it is
// part of a ray-tracing pipeline, whose traversal is the driver's.
#ifndef TANDEM_SHADERS_TRACE_INTEGRATOR_GLSL
#define TANDEM_SHADERS_TRACE_INTEGRATOR_GLSL

#include "shaders/shared/path_trace.h"
#include "shaders/shared/planes.h"
#include "lib/bsdf.glsl"
#include "lib/lights.glsl"
#include "lib/rng.glsl"
#include "lib/surface.glsl"
#include "trace/accept_hit.glsl"

layout(constant_id = 1) const uint kLightStrategy = kLightMis;
layout(constant_id = 3) const uint kCountRays = 0u;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Motions { InstanceMotion instance[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Points { vec3 point[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer BandTops { uint top[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer RayCounters { uint count[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer RadiancePlane { RadianceTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer AlbedoPlane { AlbedoTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer NormalPlane { NormalTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer DepthPlane { DepthTexel texel[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer MotionPlane { MotionTexel texel[]; };

const uint kRouletteDepth = 2u;     // bounces before paths may be ended by chance
const uint kShadowPair = 0x10000u;  // sets the keys of shadow rays apart from those of the segments that follow
const float kLargestMotion = 16384.0;   // pixels
const float kWidestSpread = 0.5;        // metres per metre of a ray's cone

#define LIGHTS Params(kParams).block.lights

uint gRays = 0u;  // traced by this thread

uint alpha_key(Random random, uint offset) { return hash_combine(random.key + random.index, random.pair + offset); }

bool single_tree() { return has_feature(kFeatureSingleTree); }

#ifdef TANDEM_RAY_PIPELINE
#include "trace/traversal_rt.glsl"
#else
#include "trace/traversal_bvh.glsl"
#endif

struct Path {
  vec3 origin;
  vec3 direction;
  vec3 throughput;
  vec3 radiance;
  float density;     // of the BSDF sample that made this segment
  float width;       // of the ray's cone at its origin, metres; with kFeatureTextures
  float spread;      // by which it widens per metre
  uint depth;        // segments before this one
  Random random;
};

struct PixelSums {
  vec3 radiance;
  vec3 albedo;
  float coverage;
};

float mis_weight(float chosen, float other) {
  const float ratio = other / chosen;
  return 1.0 / (1.0 + ratio * ratio);
}

/// Weight of light that a segment found by itself and that light sampling would have found with density `light`.
float found_weight(Path path, float light) {
  if (path.depth == 0u || kLightStrategy == kBsdfSamplingOnly) return 1.0;
  return kLightStrategy == kLightSamplingOnly ? (light > 0.0 ? 0.0 : 1.0) : mis_weight(path.density, light);
}

/// Weight of light found by light sampling. `bsdf`: the density with which the next segment would find it.
float sampled_weight(bool last, float light, float bsdf) {
  if (light == 0.0 || last || kLightStrategy == kLightSamplingOnly) return 1.0;
  return kLightStrategy == kBsdfSamplingOnly ? 0.0 : mis_weight(light, bsdf);
}

Path path_begin(uvec2 pixel, uint index) {
  Path path;
  path.random = random_begin(pixel, PARAMS.frame, PARAMS.seed, index);
  const CameraData camera = PARAMS.camera;
  // Box filter: one pixel wide, each pixel by itself.
  const vec2 size = vec2(PARAMS.width, PARAMS.height);
  const vec2 place = (vec2(pixel) + random_pair(path.random)) / size * 2.0 - 1.0;
  const vec2 extent = camera.halfHeight * vec2(size.x / size.y, 1.0);
  const vec3 across = camera.right * (place.x * extent.x) - camera.up * (place.y * extent.y);
  const bool orthographic = camera.orthographic != 0u;
  path.origin = camera.eye + (orthographic ? across : vec3(0.0));
  path.direction = orthographic ? camera.forward : normalize(camera.forward + across);
  path.throughput = vec3(1.0);
  path.radiance = vec3(0.0);
  path.density = 1.0;
  path.depth = 0u;
  // A sample stands for its share of the pixel's area: the more samples, the sharper each.
  const float pixelSize = 2.0 * camera.halfHeight / size.y * inversesqrt(float(PARAMS.samples));
  path.width = orthographic ? pixelSize : 0.0;
  path.spread = orthographic ? 0.0 : pixelSize;
  return path;
}

/// What traversal found, led back to the mesh.
struct Surface {
  HitSource source;
  InstanceData instance;
  MeshPoint p;
  Shape shape;
};

/// Pixel position of a point (w = 1) or of a direction (w = 0); false: behind the camera.
bool project(CameraData camera, vec4 point, out vec2 pixel) {
  const vec3 to = point.xyz - camera.eye * point.w;
  const float depth = dot(to, camera.forward);
  if (camera.orthographic == 0u && !(depth > 1e-6 * length(to))) return false;
  const vec2 size = vec2(PARAMS.width, PARAMS.height);
  const float scale = 0.5 * size.y / (camera.halfHeight * (camera.orthographic != 0u ? 1.0 : depth));
  pixel = 0.5 * size + vec2(dot(to, camera.right), -dot(to, camera.up)) * scale;
  return true;
}

void write_motion(uint at, vec4 open, vec4 close) {
  vec2 from, to;
  const bool seen = project(PARAMS.cameraOpen, open, from) && project(PARAMS.cameraClose, close, to);
  const vec2 motion = seen ? clamp(to - from, vec2(-kLargestMotion), vec2(kLargestMotion)) : vec2(0.0);
  MotionPlane(PARAMS.motion).texel[at] = MotionTexel(packHalf2x16(motion));
}

void write_sky(uint at, vec3 direction) {
  DepthPlane(PARAMS.depth).texel[at] = DepthTexel(kInfinity);
  NormalPlane(PARAMS.normal).texel[at] = NormalTexel(0u);
  const float w = PARAMS.camera.orthographic != 0u ? 1.0 : 0.0;   // parallel rays: the sky does not move
  if (w == 0.0) write_motion(at, vec4(direction, 0.0), vec4(direction, 0.0));
  else MotionPlane(PARAMS.motion).texel[at] = MotionTexel(0u);
}

/// Where a point of a deforming triangle is at another time.
vec4 deformed_point(uint64_t points, MeshPoint p) {
  Points at = Points(points);
  return vec4(at.point[p.corner.x] * p.weight.x + at.point[p.corner.y] * p.weight.y + at.point[p.corner.z] * p.weight.z,
              1.0);
}

void write_first_hit(uint at, Surface s) {
  const Shape shape = s.shape;
  DepthPlane(PARAMS.depth).texel[at] = DepthTexel(dot(shape.position - PARAMS.camera.eye, PARAMS.camera.forward));
  NormalPlane(PARAMS.normal).texel[at] = NormalTexel(max(octahedral_pack(shape.shadingNormal), 1u));   // 0 means "no hit"
  const InstanceMotion m = Motions(SCENE.motions).instance[s.source.instance];
  vec4 open = vec4(shape.objectPosition, 1.0), close = open;
  if (has_feature(kFeatureDeforming) && (s.instance.flags & kInstanceDeforms) != 0u) {
    open = deformed_point(s.p.mesh.open, s.p);
    close = deformed_point(s.p.mesh.close, s.p);
  }
  write_motion(at, vec4(dot(m.open0, open), dot(m.open1, open), dot(m.open2, open), 1.0),
               vec4(dot(m.close0, close), dot(m.close1, close), dot(m.close2, close), 1.0));
}

void add_sky(inout Path path) {
  if (!has_feature(kFeatureEnvironment) || LIGHTS.environmentWidth == 0u) return;
  const Environment e = scene_environment(SCENE, LIGHTS);
  const vec2 place = environment_place(path.direction);
  float light = 0.0;
  if (path.depth > 0u) light = LIGHTS.environment * environment_density(e, place, path.direction);
  path.radiance += path.throughput * environment_radiance(e, place) * found_weight(path, light);
}

void add_emission(inout Path path, uint material, MeshPoint p, float t, float cosine) {
  p.level = kSharpest;   // as light sampling reads it: the two must agree on what they weigh
  Materials materials = Materials(SCENE.materials);
  float light = 0.0;
  if (path.depth > 0u && LIGHTS.emissive > 0.0) {
    light = emissive_density(LIGHTS, materials.material[material].emissiveWeight, t * t, cosine);
  }
  path.radiance += path.throughput * surface_emission(materials, material, p, false) * found_weight(path, light);
}

/// Light that would come straight to a vertex from one light, if nothing is in between.
struct Direct {
  vec3 value;        // 0: no need to ask
  vec3 direction;
  float distance_;
  bool parallel;     // to a punctual light: its neighbours go the same way
};

Direct choose_direct(inout Path path, Bsdf bsdf, mat3 frame, vec3 o, vec3 position, vec3 geometricNormal) {
  Direct direct = Direct(vec3(0.0), vec3(0.0), 0.0, false);
  const uvec2 choice = random_bits2(path.random);
  const vec2 u = random_pair(path.random);
  LightSample light;
  if (!light_sample(SCENE, LIGHTS, position, unit_float(choice.x), choice.y, u, light)) return direct;
  if (dot(light.direction, geometricNormal) <= 0.0) return direct;
  float density;
  const vec3 f = bsdf_evaluate(bsdf, SCENE.albedo, o, light.direction * frame, density);
  const bool last = path.depth == PARAMS.bounces;
  direct.value = path.throughput * f * light.value * sampled_weight(last, light.density, density);
  direct.direction = light.direction;
  direct.distance_ = light.distance_;
  direct.parallel = light.density == 0.0;
  return direct;
}

/// The cone of a segment that a sample of `density` has chosen: of the 1 / density steradians around it each of the
/// pixel's samples stands for its share. Rough surfaces widen it, mirrors hardly; with many samples it stays sharp.
void widen(inout Path path) {
  const float share = path.density * float(PARAMS.samples);
  path.spread = min(path.spread + 2.0 * inversesqrt(kPi * share), kWidestSpread);
}

/// Chooses the next segment. False: the path ends here.
bool scatter(inout Path path, Bsdf bsdf, mat3 frame, vec3 o, vec3 position, vec3 geometricNormal) {
  const vec2 choice = random_pair(path.random);
  const vec2 u = random_pair(path.random);
  const vec3 i = bsdf_sample(bsdf, o, u, choice.x);
  const vec3 direction = frame * i;
  if (dot(direction, geometricNormal) <= 0.0) return false;
  const vec3 f = bsdf_evaluate(bsdf, SCENE.albedo, o, i, path.density);
  if (!(path.density > 0.0)) return false;
  path.throughput *= f / path.density;
  const float most = max(path.throughput.x, max(path.throughput.y, path.throughput.z));
  if (!(most > 0.0)) return false;
  if (path.depth >= kRouletteDepth) {
    // The root: with the throughput itself survivors of dark surfaces would be few and bright, and the picture would
    // show them.
    const float survival = min(sqrt(most), 0.95);
    if (choice.y >= survival) return false;
    path.throughput /= survival;
  }
  path.origin = position;
  path.direction = normalize(direction);
  path.depth++;
  widen(path);
  return true;
}

Bsdf make_bsdf(Materials materials, uint material, MeshPoint p, vec3 base, float cosine) {
  float metallic = materials.material[material].metallic, roughness = materials.material[material].roughness;
  const TextureSlot slot = materials.material[material].metallicRoughnessTexture;
  if (slot_used(slot)) {
    const vec4 texel = slot_sample(slot, p);
    roughness *= texel.g;
    metallic *= texel.b;
  }
  vec3 color = materials.material[material].specularColor;
  float strength = materials.material[material].specular;
  if (has_feature(kFeatureSpecularTextures)) {
    const TextureSlot strengthSlot = materials.material[material].specularTexture;
    const TextureSlot colorSlot = materials.material[material].specularColorTexture;
    if (slot_used(strengthSlot)) strength *= slot_sample(strengthSlot, p).a;
    if (slot_used(colorSlot)) color *= slot_sample(colorSlot, p).rgb;
  }
  // KHR_materials_specular: F0 = min(color, 1) * strength, F90 = strength.
  return bsdf_make(SCENE.albedo, SCENE.albedoMeans, base, metallic, roughened(roughness, p),
                   min(color, vec3(1.0)) * strength, strength, cosine);
}

Surface surface_at(inout Path path, Hit hit) {
  Surface s;
  s.source = hit_source(SCENE, hit.instance, hit.primitive);
  s.instance = Instances(SCENE.instances).instance[s.source.instance];
  s.p = mesh_point(SCENE, s.instance.mesh, s.source.primitive, hit.barycentrics);
  path.width += path.spread * hit.t;
  s.shape = surface_shape(SCENE, s.instance, s.p, -path.direction, path.width);
  return s;
}

uint material_flags(uint material) { return Materials(SCENE.materials).material[material].flags; }

/// glTF hides back faces of single-sided surfaces. The camera looks through them; other rays do not, so that walls keep
/// their shadows. True: `path` goes on behind the surface.
bool look_through(inout Path path, Surface s) {
  if (path.depth > 0u || s.shape.front || (material_flags(s.instance.material) & kMaterialDoubleSided) != 0u) return false;
  path.origin = offset_from_surface(s.shape.position, -s.shape.geometricNormal, s.instance.offsetFloor);
  return true;
}

/// The light at a surface: adds what it emits, chooses what comes straight from a light (`direct`, seen from `position`
/// if nothing is in between) and the next segment. False: the path ends here.
bool path_vertex(inout Path path, Surface s, float t, uint at, inout PixelSums sums, out Direct direct, out vec3 position) {
  direct = Direct(vec3(0.0), vec3(0.0), 0.0, false);
  position = vec3(0.0);
  Materials materials = Materials(SCENE.materials);
  const uint material = s.instance.material, flags = material_flags(material);
  const bool first = path.depth == 0u;
  if (first) {
    sums.coverage += 1.0;
    if (path.random.index == 0u) write_first_hit(at, s);
  }
  const vec3 base = surface_base_color(materials, material, s.p).rgb;
  if ((flags & kMaterialUnlit) != 0u) {
    if (first) sums.albedo += base;
    path.radiance += path.throughput * base;
    return false;
  }
  const bool shines = (flags & kMaterialEmissive) != 0u && (s.shape.front || (flags & kMaterialDoubleSided) != 0u);
  if (has_feature(kFeatureEmissive) && shines) {
    add_emission(path, material, s.p, t, abs(dot(path.direction, s.shape.geometricNormal)));
  }
  const mat3 frame = frame_around(s.shape.shadingNormal);
  const vec3 o = -path.direction * frame;
  if (!(o.z > 0.0)) return false;
  const Bsdf bsdf = make_bsdf(materials, material, s.p, base, o.z);
  if (first) sums.albedo += bsdf.albedo;
  position = offset_from_surface(s.shape.position, s.shape.geometricNormal, s.instance.offsetFloor);
  direct = choose_direct(path, bsdf, frame, o, position, s.shape.geometricNormal);
  return path.depth < PARAMS.bounces && scatter(path, bsdf, frame, o, position, s.shape.geometricNormal);
}

bool worth_asking(Direct direct) { return max(direct.value.x, max(direct.value.y, direct.value.z)) > 0.0; }

/// Whether a light that was chosen at the end of the segment before is hidden. `path` has gone on already.
bool shadowed(Path path, vec3 position, Direct direct) {
  if (has_feature(kFeatureAlpha)) gAlphaKey = alpha_key(path.random, kShadowPair);
  if (kCountRays != 0u) gRays++;
  return trace_any(SCENE.bvh, position, direct.direction, 0.0, direct.distance_);
}

/// What the path's next segment meets.
bool path_hit(Path path, out Hit hit) {
  if (has_feature(kFeatureAlpha)) gAlphaKey = alpha_key(path.random, 0u);
  if (kCountRays != 0u) gRays++;
  return trace_closest(SCENE.bvh, path.origin, path.direction, 0.0, kInfinity, hit);
}

/// The path has left the scene.
void path_miss(inout Path path, uint at) {
  if (path.depth == 0u && path.random.index == 0u) write_sky(at, path.direction);
  add_sky(path);
}

/// The pixel of the picture whose values are written at a place of the planes.
uvec2 picture_pixel(uvec2 place) {
  return uvec2(place.x, BandTops(PARAMS.bandTops).top[place.y / kBandRows] + place.y % kBandRows);
}

/// What a plane may hold: no NaN, nothing infinite or negative.
float storable(float c) { return c > 0.0 ? min(c, 65504.0) : 0.0; }
vec3 storable(vec3 c) { return vec3(storable(c.x), storable(c.y), storable(c.z)); }

/// Adds a path that has ended to the sum over the samples.
void add_path(inout PixelSums sums, vec3 radiance) {
  if (radiance.x + radiance.y + radiance.z < 1e30) sums.radiance += radiance;   // false for NaN, too
}

void write_pixel(uint at, PixelSums sums) {
  const float scale = 1.0 / float(PARAMS.samples);
  const vec3 mean = storable(sums.radiance * scale);
  const float coverage = sums.coverage * scale;
  RadiancePlane(PARAMS.radiance).texel[at] =
      RadianceTexel(uvec2(packHalf2x16(mean.rg), packHalf2x16(vec2(mean.b, coverage))));
  AlbedoPlane(PARAMS.albedo).texel[at] = AlbedoTexel(packUnorm4x8(vec4(storable(sums.albedo * scale), coverage)));
}

void count_rays(uint at) {
  if (kCountRays != 0u && gRays > 0u) atomicAdd(RayCounters(PARAMS.rayCounters).count[at % kRayCounters], gRays);
}

#endif
