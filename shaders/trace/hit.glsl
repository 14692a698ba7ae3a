// What a ray hits, whoever walks the trees (traversal_bvh.glsl, traversal_rt.glsl).
#ifndef TANDEM_SHADERS_TRACE_HIT_GLSL
#define TANDEM_SHADERS_TRACE_HIT_GLSL

struct Hit {
  float t;
  uint instance;
  uint primitive;      // index in the mesh's triangle list
  vec2 barycentrics;   // weights of the triangle's second and third corner
};

#endif
