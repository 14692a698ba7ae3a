#include <algorithm>
#include <cmath>

#include "scene/gltf_parts.h"

namespace tandem::scene::gltf {

namespace {

constexpr double kHalfPi = 1.5707963267948966;
constexpr double kMaxIntensity = 1e12;

void setCone(Document& document, const tinygltf::SpotLight& spot, const std::string& where, Light& light) {
  double outer = spot.outerConeAngle;
  double inner = spot.innerConeAngle;
  if (!(outer > 0.0 && outer <= kHalfPi)) {
    document.warnings.add("outerConeAngle is not between 0 and pi/2: it was clamped", where);
    outer = std::clamp(outer, 1e-3, kHalfPi);
  }
  if (!(inner >= 0.0 && inner <= outer)) {
    document.warnings.add("innerConeAngle is not between 0 and outerConeAngle: it was clamped", where);
    inner = std::clamp(inner, 0.0, outer);
  }
  light.outerCone = static_cast<float>(outer);
  light.innerCone = static_cast<float>(inner);
}

/// A lens field that must be above zero, else a default.
float positiveOr(Document& document, double value, float otherwise, const std::string& where) {
  if (value > 0.0 && value <= 1e18) return static_cast<float>(value);
  const std::string field = where.substr(where.rfind('.') + 1);
  document.warnings.add(fmt::format("a camera's {} is not above 0: {} was used", field, otherwise), where);
  return otherwise;
}

void setPerspective(Document& document, const tinygltf::PerspectiveCamera& from, const std::string& where, Lens& lens) {
  constexpr double kPi = 2.0 * kHalfPi;
  if (from.yfov > 0.0 && from.yfov < kPi) {
    lens.yfov = static_cast<float>(from.yfov);
  } else {
    document.warnings.add(fmt::format("a camera's yfov is not between 0 and pi: {} was used", lens.yfov),
                          where + ".yfov");
  }
  // tinygltf says 0 for a field that is absent, which these two may be.
  lens.aspect = from.aspectRatio > 0.0 && from.aspectRatio < 1e6 ? static_cast<float>(from.aspectRatio) : 0.0f;
  if (!(from.znear > 0.0))
    document.warnings.add("a camera's znear is not above 0 (pictures are not clipped there)", where);
  if (from.zfar != 0.0 && from.zfar <= from.znear) {
    document.warnings.add("a camera's zfar is not beyond its znear (pictures are not clipped there)", where);
  }
}

}  // namespace

std::vector<uint32_t> buildLights(Document& document, Scene& scene) {
  std::vector<uint32_t> indices;
  for (const tinygltf::Light& from : document.model.lights) {
    const std::string where = fmt::format("lights[{}]", indices.size());
    Light light;
    light.name = printable(from.name);
    if (from.type == "directional") {
      light.kind = LightKind::Directional;
    } else if (from.type == "spot") {
      light.kind = LightKind::Spot;
      setCone(document, from.spot, where, light);
    } else if (from.type != "point") {
      document.warnings.add(fmt::format("a light's type '{}' is unknown: it was left out", printable(from.type)),
                            where);
      indices.push_back(kNone);
      continue;
    }
    for (int i = 0; i < 3 && !from.color.empty(); ++i) {
      const double value = from.color[static_cast<size_t>(i)];
      if (value < 0.0) document.warnings.add("a light's color is negative: 0 was used", where);
      light.color[i] = static_cast<float>(std::clamp(value, 0.0, kMaxIntensity));
    }
    light.intensity = static_cast<float>(std::clamp(from.intensity, 0.0, kMaxIntensity));
    if (from.intensity < 0.0 || from.intensity > kMaxIntensity) {
      document.warnings.add("a light's intensity is out of range: it was clamped", where);
    }
    light.range = from.range > 0.0 && from.range < 1e18 ? static_cast<float>(from.range) : 0.0f;
    scene.lights.push_back(std::move(light));
    indices.push_back(static_cast<uint32_t>(scene.lights.size() - 1));
  }
  return indices;
}

void buildLenses(Document& document, Scene& scene) {
  for (const tinygltf::Camera& from : document.model.cameras) {
    const std::string where = fmt::format("cameras[{}].{}", scene.lenses.size(), from.type);
    Lens lens;
    lens.name = printable(from.name);
    lens.orthographic = from.type == "orthographic";
    if (lens.orthographic) {
      // A negative magnification is discouraged, not forbidden; its size is what counts.
      lens.xmag = positiveOr(document, std::abs(from.orthographic.xmag), 1.0f, where + ".xmag");
      lens.ymag = positiveOr(document, std::abs(from.orthographic.ymag), 1.0f, where + ".ymag");
    } else {
      setPerspective(document, from.perspective, where, lens);
    }
    scene.lenses.push_back(std::move(lens));
  }
}

}  // namespace tandem::scene::gltf
