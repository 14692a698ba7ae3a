// Choosing a light, and a direction to it, at a point. First one of three groups (punctual, emissive triangles,
// environment), then one light of the group by an alias table or the environment's distribution: the cost does not grow
// with the number of lights.
#ifndef TANDEM_SHADERS_LIB_LIGHTS_GLSL
#define TANDEM_SHADERS_LIB_LIGHTS_GLSL

#include "lib/environment.glsl"
#include "lib/rng.glsl"
#include "lib/surface.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer PunctualLights { PunctualLight light[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer EmissiveTriangles {
  EmissiveTriangle triangle[];
};

const float kInfinity = 1e30;

/// `value`: radiance (or irradiance of a light without extent) over the density of having chosen it. `density`: per
/// solid angle, 0 where the light has no extent and no BSDF sample can find it.
struct LightSample {
  vec3 direction;
  float distance_;
  vec3 value;
  float density;
};

Environment scene_environment(SceneAddresses scene, LightChoice choice) {
  return Environment(scene.environment, scene.environmentRows, scene.environmentColumns, scene.environmentRowGuide,
                     scene.environmentColumnGuide, choice.environmentWidth, choice.environmentHeight);
}

/// Index by an alias table: the high part of bits * count is the bin, the low part what is compared with the threshold.
uint alias_choose(uint bits, uint count, out float remainder) {
  uint high, low;
  umulExtended(bits, count, high, low);
  remainder = unit_float(low);
  return high;
}

bool punctual_sample(SceneAddresses scene, LightChoice choice, vec3 point, uint bits, out LightSample s) {
  float remainder;
  PunctualLights lights = PunctualLights(scene.punctual);
  uint index = alias_choose(bits, choice.punctualCount, remainder);
  if (remainder >= lights.light[index].bin.threshold) index = lights.light[index].bin.alias;
  const PunctualLight light = lights.light[index];
  s.density = 0.0;
  s.distance_ = kInfinity;
  s.direction = -light.direction;
  s.value = light.intensity / (light.probability * choice.punctual);
  if (light.directional != 0u) return true;
  const vec3 to = light.position - point;
  const float distance2 = dot(to, to);
  if (!(distance2 > 0.0)) return false;
  s.distance_ = sqrt(distance2);
  s.direction = to / s.distance_;
  // KHR_lights_punctual, "Range property" and "Inner and outer cone angles".
  const float near = s.distance_ * light.inverseRange, near2 = near * near;
  const float window = clamp(1.0 - near2 * near2, 0.0, 1.0);
  const float cone = clamp(-dot(s.direction, light.direction) * light.coneScale + light.coneOffset, 0.0, 1.0);
  s.value *= window * cone * cone / distance2;
  s.distance_ *= 0.99999;
  return true;
}

/// Density per solid angle of finding a point at `distance2` metres squared on an emissive triangle seen under a
/// cosine.
float emissive_density(LightChoice choice, float emissiveWeight, float distance2, float cosine) {
  return choice.emissive * emissiveWeight / choice.emissiveWeight * distance2 / max(cosine, 1e-6);
}

/// Heitz 2019, "A Low-Distortion Map Between Triangle and Square". Weights of the second and third corner.
vec2 triangle_place(vec2 u) {
  if (u.y > u.x) {
    u.x *= 0.5;
    u.y -= u.x;
  } else {
    u.y *= 0.5;
    u.x -= u.y;
  }
  return u;
}

bool emissive_sample(SceneAddresses scene, LightChoice choice, vec3 point, uint bits, vec2 u, out LightSample s) {
  float remainder;
  EmissiveTriangles triangles = EmissiveTriangles(scene.emissive);
  uint index = alias_choose(bits, choice.emissiveCount, remainder);
  if (remainder >= triangles.triangle[index].bin.threshold) index = triangles.triangle[index].bin.alias;
  const EmissiveTriangle triangle = triangles.triangle[index];
  const InstanceData instance = Instances(scene.instances).instance[triangle.instance];
  const vec2 place = triangle_place(u);
  vec3 target = triangle.corner + triangle.edge1 * place.x + triangle.edge2 * place.y;
  const bool mirrored = (instance.flags & kInstanceMirrored) != 0u;
  vec3 normal = normalize(cross(triangle.edge1, triangle.edge2)) * (mirrored ? -1.0 : 1.0);
  Materials materials = Materials(scene.materials);
  if (dot(normal, point - target) < 0.0) {
    if ((materials.material[instance.material].flags & kMaterialDoubleSided) == 0u) return false;
    normal = -normal;
  }
  target = offset_from_surface(target, normal, instance.offsetFloor);
  const vec3 to = target - point;
  const float distance2 = dot(to, to);
  if (!(distance2 > 0.0)) return false;
  s.distance_ = sqrt(distance2);
  s.direction = to / s.distance_;
  s.distance_ *= 0.999999;
  const float cosine = -dot(normal, s.direction);
  if (!(cosine > 1e-6)) return false;
  s.density = emissive_density(choice, materials.material[instance.material].emissiveWeight, distance2, cosine);
  const MeshPoint p = mesh_point(scene, instance.mesh, triangle.primitive, place);
  s.value = surface_emission(materials, instance.material, p, true) / s.density;
  return true;
}

bool environment_light_sample(SceneAddresses scene, LightChoice choice, vec2 u, out LightSample s) {
  const Environment e = scene_environment(scene, choice);
  const vec2 place = environment_sample(e, u, s.density);
  s.density *= choice.environment;
  s.direction = environment_direction(place);
  s.distance_ = kInfinity;
  s.value = environment_radiance(e, place) / s.density;
  return s.density > 0.0;
}

/// One light for a point. `pick` in [0, 1) chooses the group, `bits` the light within it, `u` the place on it. False:
/// none that shines here.
bool light_sample(SceneAddresses scene, LightChoice choice, vec3 point, float pick, uint bits, vec2 u,
                  out LightSample s) {
  if (has_feature(kFeaturePunctual) && pick < choice.punctual) return punctual_sample(scene, choice, point, bits, s);
  if (has_feature(kFeatureEmissive) && pick < choice.punctual + choice.emissive) {
    return emissive_sample(scene, choice, point, bits, u, s);
  }
  if (has_feature(kFeatureEnvironment) && choice.environment > 0.0) {
    return environment_light_sample(scene, choice, u, s);
  }
  return false;
}

#endif
