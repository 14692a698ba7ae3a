// Conventions, stated once for the whole project:
//   World axes are glTF's: right-handed, +Y up, metres. A camera looks down its own -Z, +X right, +Y up.
//   Matrices are column-major, vectors are columns: world = parent * local * point. Quaternions are (x, y, z, w) in
//   files, glm::quat here. Angles are radians unless a name ends in `Degrees`. Colours are linear Rec.709 / D65 unless
//   a name says sRGB. Pixel (0, 0) is the top left one; x runs right, y runs down; a pixel's centre is at +0.5.
#pragma once

#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>

namespace tandem {

using glm::mat3;
using glm::mat4;
using glm::quat;
using glm::uvec2;
using glm::vec2;
using glm::vec3;
using glm::vec4;

/// A width and a height in pixels.
struct Extent {
  uint32_t width = 0;
  uint32_t height = 0;
  uint64_t pixels() const { return uint64_t{width} * height; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Axis-aligned bounds; empty while min > max.
struct Bounds {
  vec3 min{3.402823466e38f};
  vec3 max{-3.402823466e38f};
  bool empty() const { return min.x > max.x || min.y > max.y || min.z > max.z; }
  void add(vec3 point) {
    min = glm::min(min, point);
    max = glm::max(max, point);
  }
  vec3 centre() const { return 0.5f * (min + max); }
  float radius() const { return empty() ? 0.0f : 0.5f * glm::length(max - min); }
};

}  // namespace tandem
