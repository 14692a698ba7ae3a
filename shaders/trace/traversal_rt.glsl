// What a ray hits, by the driver's acceleration structures: the other of the two files that supply trace_closest and trace_any, for the
// ray-generation shaders of ray-tracing pipelines. Same promises as traversal_bvh.glsl, but for watertightness, which is the driver's, and
// for accept_hit, which ray_alpha.rahit asks.
#ifndef TANDEM_SHADERS_TRACE_TRAVERSAL_RT_GLSL
#define TANDEM_SHADERS_TRACE_TRAVERSAL_RT_GLSL

#include "shaders/shared/bvh.h"
#include "trace/hit.glsl"
#include "trace/ray_payload.glsl"

layout(location = 0) rayPayloadEXT RayPayload gRay;

/// The nearest hit in (tMin, tMax). On a miss hit.t is tMax and the rest means nothing.
bool trace_closest(BvhScene scene, vec3 origin, vec3 direction, float tMin, float tMax, out Hit hit) {
  hit = Hit(tMax, kRayMissed, 0u, vec2(0.0));
  if (scene.instanceCount == 0u) return false;
  gRay.instance = kRayMissed;
  gRay.alphaKey = gAlphaKey;
  traceRayEXT(accelerationStructureEXT(scene.accelerated), gl_RayFlagsNoneEXT, 0xffu, 0u, 0u, 0u, origin, tMin, direction, tMax, 0);
  if (gRay.instance == kRayMissed) return false;
  hit = Hit(gRay.t, gRay.instance, gRay.primitive, gRay.barycentrics);
  return true;
}

/// Whether anything lies in (tMin, tMax): true = blocked.
bool trace_any(BvhScene scene, vec3 origin, vec3 direction, float tMin, float tMax) {
  if (scene.instanceCount == 0u) return false;
  gRay.instance = 0u;   // only ray_miss.rmiss changes it
  gRay.alphaKey = gAlphaKey;
  traceRayEXT(accelerationStructureEXT(scene.accelerated), gl_RayFlagsTerminateOnFirstHitEXT | gl_RayFlagsSkipClosestHitShaderEXT, 0xffu,
              0u, 0u, 0u, origin, tMin, direction, tMax, 0);
  return gRay.instance != kRayMissed;
}

#endif
