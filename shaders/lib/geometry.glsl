// Frames, octahedral normals, ray offsets.
#ifndef TANDEM_SHADERS_LIB_GEOMETRY_GLSL
#define TANDEM_SHADERS_LIB_GEOMETRY_GLSL

const float kPi = 3.14159265358979;

float luminance(vec3 linearRec709) { return dot(linearRec709, vec3(0.2126, 0.7152, 0.0722)); }

/// An orthonormal frame whose third column is the unit vector n. Duff et al. 2017, "Building an Orthonormal Basis,
/// Revisited".
mat3 frame_around(vec3 n) {
  const float s = n.z < 0.0 ? -1.0 : 1.0;
  const float a = -1.0 / (s + n.z);
  const float b = n.x * n.y * a;
  return mat3(vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x), vec3(b, s + n.y * n.y * a, -n.y), n);
}

/// Cigolle et al. 2014, "A Survey of Efficient Representations for Independent Unit Vectors", listing 2.
uint octahedral_pack(vec3 n) {
  n /= abs(n.x) + abs(n.y) + abs(n.z);
  const vec2 folded = (1.0 - abs(n.yx)) * vec2(n.x < 0.0 ? -1.0 : 1.0, n.y < 0.0 ? -1.0 : 1.0);
  return packSnorm2x16(n.z < 0.0 ? folded : n.xy);
}

vec3 octahedral_unpack(uint packed) {
  const vec2 e = unpackSnorm2x16(packed);
  vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
  const float fold = max(-n.z, 0.0);
  n.xy -= vec2(n.x < 0.0 ? -fold : fold, n.y < 0.0 ? -fold : fold);
  return normalize(n);
}

/// A point a little off a surface, on the side that `normal` points to, so that rays from there don't meet the surface
/// again. After Waechter, Binder 2019, "A Fast and Robust Method for Avoiding Self-Intersection" (Ray Tracing Gems, ch.
/// 6): the step follows the rounding of each coordinate, 256 units of its last place. Theirs has a fixed step near
/// zero, for scenes of some metres; here `floor_` (metres, per instance, from the size of its bounds) takes that part,
/// which serves scenes of a millimetre and of ten kilometres alike.
vec3 offset_from_surface(vec3 point, vec3 normal, float floor_) {
  return point + normal * max(abs(point), vec3(floor_)) * 2.2e-5;
}

#endif
