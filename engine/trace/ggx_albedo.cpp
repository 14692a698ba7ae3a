#include "trace/ggx_albedo.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::trace {

namespace {

constexpr uint32_t kPoints = 2048;

/// Van der Corput's sequence in base 2.
double radicalInverse(uint32_t bits) {
  uint32_t reversed = 0;
  for (int i = 0; i < 32; i++) reversed |= ((bits >> i) & 1u) << (31 - i);
  return reversed * 0x1p-32;
}

/// Integrates over visible normals (Heitz 2018, "Sampling the GGX Distribution of Visible Normals"): with that density
/// the integrand is F G2 / G1, smooth and at most 1.
shared::AlbedoEntry integrate(double cosine, double alpha) {
  const double sine = std::sqrt(std::max(0.0, 1.0 - cosine * cosine));
  const double length = std::sqrt(alpha * alpha * sine * sine + cosine * cosine);
  const glm::dvec3 stretched(alpha * sine / length, 0.0, cosine / length);
  const auto smith = [alpha](double c) { return std::sqrt(alpha * alpha + (1.0 - alpha * alpha) * c * c); };
  double scale = 0.0, bias = 0.0;
  for (uint32_t k = 0; k < kPoints; k++) {
    // Spherical caps: Dupuy, Benyoub 2023, listing 3.
    const double phi = 2.0 * std::numbers::pi * radicalInverse(k);
    const double z = (1.0 - (k + 0.5) / kPoints) * (1.0 + stretched.z) - stretched.z;
    const double r = std::sqrt(std::clamp(1.0 - z * z, 0.0, 1.0));
    const glm::dvec3 cap = glm::dvec3(r * std::cos(phi), r * std::sin(phi), z) + stretched;
    const glm::dvec3 h = glm::normalize(glm::dvec3(alpha * cap.x, alpha * cap.y, cap.z));
    const double oh = sine * h.x + cosine * h.z;
    const double i = 2.0 * oh * h.z - cosine;
    if (i <= 0.0) continue;
    // G2 / G1(o), height-correlated: Heitz 2014, "Understanding the Masking-Shadowing Function", eq. 99.
    const double ratio = i * (cosine + smith(cosine)) / (i * smith(cosine) + cosine * smith(i));
    const double schlick = std::pow(1.0 - oh, 5.0);
    scale += ratio * (1.0 - schlick);
    bias += ratio * schlick;
  }
  return {static_cast<float>(scale / kPoints), static_cast<float>(bias / kPoints)};
}

GgxAlbedo compute() {
  GgxAlbedo table;
  for (uint32_t row = 0; row < shared::kAlbedoRoughnesses; row++) {
    const double roughness = row / (shared::kAlbedoRoughnesses - 1.0);
    const double alpha = std::max(roughness * roughness, static_cast<double>(kMinAlpha));
    for (uint32_t column = 0; column < shared::kAlbedoCosines; column++) {
      const double root = column / (shared::kAlbedoCosines - 1.0);
      table.entries.push_back(integrate(std::max(root * root, 1e-4), alpha));
    }
    // With cosine = x^2 the weight 2 cosine d cosine becomes 4 x^3 dx. The same linear interpolation as on the device,
    // by midpoints.
    constexpr uint32_t kSteps = 16 * (shared::kAlbedoCosines - 1);
    const shared::AlbedoEntry* entries = table.entries.data() + size_t{row} * shared::kAlbedoCosines;
    glm::dvec4 mean(0.0);
    for (uint32_t step = 0; step < kSteps; step++) {
      const double x = (step + 0.5) / kSteps;
      const double at = x * (shared::kAlbedoCosines - 1);
      const auto low = std::min(static_cast<uint32_t>(at), shared::kAlbedoCosines - 2);
      const double scale = std::lerp(double{entries[low].scale}, double{entries[low + 1].scale}, at - low);
      const double bias = std::lerp(double{entries[low].bias}, double{entries[low + 1].bias}, at - low);
      mean += 4.0 * x * x * x / kSteps * glm::dvec4(scale, bias, scale / (scale + bias), bias / (scale + bias));
    }
    table.means.push_back(vec4(mean));
  }
  return table;
}

}  // namespace

const GgxAlbedo& ggxAlbedo() {
  static const GgxAlbedo table = compute();
  return table;
}

}  // namespace tandem::trace
