// The surface model of glTF 2.0 appendix B, made to conserve energy. Directions are in the shading frame (z = shading
// normal), unit length, pointing away from the surface; `o` is the side the path comes from, `i` the side it goes to.
//
// f = specular + diffuse
//   specular = F(i, o) D V
//     GGX with alpha = max(roughness^2, kMinAlpha), height-correlated Smith V (Heitz 2014, eq. 99),
//     F = f0 + (f90 - f0) (1 - o.h)^5 (Schlick 1994). f0 and f90 hold the dielectric base and the metal, weighted by
//     `metallic`, each times its own 1 + F0 (1 - E) / E: what single scattering loses (Turquin 2019, "Practical Multiple
//     Scattering Compensation for Microfacet Models", eq. 16; E = albedo of F = 1 at o).
//   diffuse = base (1 - metallic) / pi * (1 - S(o)) (1 - S(i)) / (1 - mean of S)
//     S = albedo of the compensated dielectric specular; mean cosine-weighted over the hemisphere (Kelemen,
//     Szirmay-Kalos 2001, "A Microfacet Based Coupled Specular-Matte BRDF Model", eq. 18).
// So a white surface has albedo 1 from every direction o (furnace). Reciprocal: the diffuse part, and the specular part
// without Turquin's factor, which depends on o alone. E and S come from a table made by trace/ggx_albedo (axes: sqrt of
// the cosine, roughness).
//
// Sampling: one of diffuse (cosine) and specular (visible normals: Dupuy, Benyoub 2023, "Sampling Visible GGX Normals
// with Spherical Caps"), chosen by their albedos. The specular density integrates to 1 over the sphere; what of it lies
// below the horizon is absorbed.
#ifndef TANDEM_SHADERS_LIB_BSDF_GLSL
#define TANDEM_SHADERS_LIB_BSDF_GLSL

#include "shaders/shared/scene.h"
#include "lib/geometry.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer AlbedoTable { AlbedoEntry entry[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer AlbedoMeans { vec4 mean[]; };

const float kMinAlpha = 0.001;

struct Bsdf {
  vec3 diffuse;        // base (1 - metallic) / pi (1 - S(o)) / (1 - mean of S)
  vec3 f0;             // with compensation
  vec3 f90;
  float alpha;
  float roughness;     // row of the table
  float dielectricF0;  // of the base under the metal: what S is made of
  float dielectricF90;
  float specularChance;
  vec3 albedo;         // of the whole, seen from o
};

/// Albedo of F = F0 scale + F90 bias at a cosine, by linear interpolation.
vec2 bsdf_albedo(AlbedoTable table, float cosine, float roughness) {
  const float x = sqrt(clamp(cosine, 0.0, 1.0)) * float(kAlbedoCosines - 1u);
  const float y = roughness * float(kAlbedoRoughnesses - 1u);
  const uint x0 = min(uint(x), kAlbedoCosines - 2u), y0 = min(uint(y), kAlbedoRoughnesses - 2u);
  const uint at = y0 * kAlbedoCosines + x0;
  const AlbedoEntry a = table.entry[at], b = table.entry[at + 1u];
  const AlbedoEntry c = table.entry[at + kAlbedoCosines], d = table.entry[at + kAlbedoCosines + 1u];
  const float fx = x - float(x0), fy = y - float(y0);
  return mix(mix(vec2(a.scale, a.bias), vec2(b.scale, b.bias), fx),
             mix(vec2(c.scale, c.bias), vec2(d.scale, d.bias), fx), fy);
}

/// 1 - S at a cosine.
float bsdf_base_transmission(AlbedoTable table, float f0, float f90, float cosine, float roughness) {
  const vec2 e = bsdf_albedo(table, cosine, roughness);
  return max(1.0 - (f0 * e.x + f90 * e.y) * (1.0 + f0 * (1.0 / (e.x + e.y) - 1.0)), 0.0);
}

/// Mean of S. `means` holds, per roughness, the cosine-weighted means of scale, bias, scale / E and bias / E.
float bsdf_mean_specular(AlbedoMeans means, float f0, float f90, float roughness) {
  const float y = roughness * float(kAlbedoRoughnesses - 1u);
  const uint y0 = min(uint(y), kAlbedoRoughnesses - 2u);
  const vec4 m = mix(means.mean[y0], means.mean[y0 + 1u], y - float(y0));
  return (1.0 - f0) * (f0 * m.x + f90 * m.y) + f0 * (f0 * m.z + f90 * m.w);
}

/// Makes the surface as seen from direction o with cosine `cosineO` > 0.
Bsdf bsdf_make(uint64_t table, uint64_t means, vec3 base, float metallic, float roughness, vec3 f0, float f90,
               float cosineO) {
  Bsdf b;
  b.roughness = clamp(roughness, 0.0, 1.0);
  b.alpha = max(b.roughness * b.roughness, kMinAlpha);
  const vec2 e = bsdf_albedo(AlbedoTable(table), cosineO, b.roughness);
  const float lost = 1.0 / (e.x + e.y) - 1.0;
  const vec3 dielectric = (1.0 - metallic) * (1.0 + f0 * lost), metal = metallic * (1.0 + base * lost);
  b.f0 = dielectric * f0 + metal * base;
  b.f90 = dielectric * f90 + metal;
  b.dielectricF0 = max(f0.x, max(f0.y, f0.z));
  b.dielectricF90 = f90;
  const vec3 specular = b.f0 * e.x + b.f90 * e.y;
  b.diffuse = vec3(0.0);
  b.albedo = specular;
  b.specularChance = 1.0;
  if (metallic < 1.0) {
    const float through = bsdf_base_transmission(AlbedoTable(table), b.dielectricF0, f90, cosineO, b.roughness);
    const vec3 diffuse = base * ((1.0 - metallic) * through);
    const float mean = bsdf_mean_specular(AlbedoMeans(means), b.dielectricF0, f90, b.roughness);
    b.diffuse = diffuse / (kPi * max(1.0 - mean, 1e-4));
    b.albedo += diffuse;
    const float total = luminance(specular) + luminance(diffuse);
    // Never certain where both are: the albedo is an average, and a rare bright direction must keep a chance.
    if (luminance(diffuse) > 0.0) {
      b.specularChance = luminance(specular) > 0.0 ? clamp(luminance(specular) / total, 0.1, 0.9) : 0.0;
    }
  }
  return b;
}

/// f * cosine of i, and the density of sampling i. Both 0 below the horizon.
vec3 bsdf_evaluate(Bsdf b, uint64_t table, vec3 o, vec3 i, out float density) {
  density = 0.0;
  if (i.z <= 0.0 || o.z <= 0.0) return vec3(0.0);
  const vec3 h = normalize(o + i);
  const float a2 = b.alpha * b.alpha;
  const float s = dot(h.xy, h.xy) / a2 + h.z * h.z;   // exact near the peak, where 1 - h.z^2 would cancel
  const float d = 1.0 / (kPi * a2 * s * s);
  const float so = sqrt(a2 + (1.0 - a2) * o.z * o.z), si = sqrt(a2 + (1.0 - a2) * i.z * i.z);
  const float v = 0.5 / (i.z * so + o.z * si);
  const float q = max(1.0 - dot(o, h), 0.0);
  const float q2 = q * q;
  vec3 f = (b.f0 + (b.f90 - b.f0) * (q2 * q2 * q)) * (d * v);
  density = b.specularChance * d * 0.5 / (o.z + so);
  if (b.specularChance < 1.0) {
    f += b.diffuse * bsdf_base_transmission(AlbedoTable(table), b.dielectricF0, b.dielectricF90, i.z, b.roughness);
    density += (1.0 - b.specularChance) * i.z / kPi;
  }
  return f * i.z;
}

/// A half vector among those visible from o, for isotropic alpha. Dupuy, Benyoub 2023, listing 3.
vec3 bsdf_sample_half(float alpha, vec3 o, vec2 u) {
  const vec3 w = normalize(vec3(alpha * o.xy, o.z));
  const float phi = 2.0 * kPi * u.x;
  const float z = (1.0 - u.y) * (1.0 + w.z) - w.z;
  const float r = sqrt(clamp(1.0 - z * z, 0.0, 1.0));
  const vec3 h = vec3(r * cos(phi), r * sin(phi), z) + w;
  return normalize(vec3(alpha * h.xy, h.z));
}

/// A direction i; `choice` in [0, 1) picks the lobe. May lie below the horizon: absorbed.
vec3 bsdf_sample(Bsdf b, vec3 o, vec2 u, float choice) {
  if (choice < b.specularChance) {
    const vec3 h = bsdf_sample_half(b.alpha, o, u);
    return 2.0 * dot(o, h) * h - o;
  }
  const float r = sqrt(u.y), phi = 2.0 * kPi * u.x;
  return vec3(r * cos(phi), r * sin(phi), sqrt(max(1.0 - u.y, 0.0)));
}

#endif
