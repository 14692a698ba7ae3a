// Noise of post passes: from pixel and frame number alone, so that a frame is the same whoever renders it and in
// whatever order.
#ifndef TANDEM_POST_NOISE_GLSL
#define TANDEM_POST_NOISE_GLSL

/// pcg3d: M. Jarzynski, M. Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020.
uvec3 hashPixel(uvec2 pixel, uint salt) {
  uvec3 v = uvec3(pixel, salt) * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> 16u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  return v;
}

/// The two halves of a hash as numbers in (0, 1), mean 0.5.
vec3 highUnit(uvec3 hash) { return (vec3(hash >> 16u) + 0.5) / 65536.0; }
vec3 lowUnit(uvec3 hash) { return (vec3(hash & 0xffffu) + 0.5) / 65536.0; }

#endif
