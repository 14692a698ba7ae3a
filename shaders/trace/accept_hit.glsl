// Whether a hit counts where surfaces have holes (alpha mask) or are transparent by chance (alpha blend). An including
// shader first defines kParams: the address of its PathTraceParams.
#ifndef TANDEM_SHADERS_TRACE_ACCEPT_HIT_GLSL
#define TANDEM_SHADERS_TRACE_ACCEPT_HIT_GLSL

#include "shaders/shared/path_trace.h"
#include "lib/rng.glsl"
#include "lib/surface.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Params { PathTraceParams block; };

#define PARAMS Params(kParams).block
#define SCENE Params(kParams).block.scene

uint gAlphaKey;   // of the ray being traced: transparency is decided anew for every ray

bool accept_hit(uint placement, uint primitive, vec2 barycentrics) {
  if (!has_feature(kFeatureAlpha)) return true;
  const HitSource source = hit_source(SCENE, placement, primitive);
  Instances instances = Instances(SCENE.instances);
  const uint material = instances.instance[source.instance].material;
  Materials materials = Materials(SCENE.materials);
  const MeshPoint p = mesh_point(SCENE, instances.instance[source.instance].mesh, source.primitive, barycentrics);
  const float alpha = surface_base_color(materials, material, p).a;
  if ((materials.material[material].flags & kMaterialMask) != 0u) {
    return alpha >= materials.material[material].alphaCutoff;
  }
  return unit_float(hash_combine(gAlphaKey, hash_combine(source.instance, source.primitive))) < alpha;
}

#endif
