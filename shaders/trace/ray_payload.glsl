// What the shaders of a ray-tracing pipeline tell each other about one ray.
#ifndef TANDEM_SHADERS_TRACE_RAY_PAYLOAD_GLSL
#define TANDEM_SHADERS_TRACE_RAY_PAYLOAD_GLSL

#extension GL_EXT_ray_tracing : require

const uint kRayMissed = 0xffffffffu;

struct RayPayload {
  float t;
  uint instance;       // kRayMissed: nothing was hit
  uint primitive;
  vec2 barycentrics;
  uint alphaKey;       // gAlphaKey of the ray's maker
};

#endif
