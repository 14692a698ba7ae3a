// Directional albedo of single-scattering GGX, as a table: what a rough surface reflects in one bounce, and so what the
// surface model of shaders/lib/bsdf.glsl has to give back (multiple scattering) and to pass on (diffuse base). Per
// cosine and roughness: reflectance of F = F0 scale + F90 bias (the split of Karis 2013, "Real Shading in Unreal Engine
// 4", eq. 8).
#pragma once

#include <vector>

#include "base/math.h"
#include "shaders/shared/scene.h"

namespace tandem::trace {

/// alpha = max(roughness^2, kMinAlpha); kMinAlpha of bsdf.glsl.
inline constexpr float kMinAlpha = 0.001f;

struct GgxAlbedo {
  /// [roughness][cosine]: roughness = row / (kAlbedoRoughnesses - 1), cosine = (column / (kAlbedoCosines - 1))^2.
  std::vector<shared::AlbedoEntry> entries;
  /// Per roughness, cosine-weighted means over the hemisphere of scale, bias, scale / E and bias / E, with E = scale +
  /// bias.
  std::vector<vec4> means;
};

/// The table, computed when first asked for (some tens of milliseconds) and kept. Thread-safe.
const GgxAlbedo& ggxAlbedo();

}  // namespace tandem::trace
