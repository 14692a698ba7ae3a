// Light from infinitely far: equirectangular Radiance .hdr pictures, and a sky for scenes that bring none.
#pragma once

#include <filesystem>

#include "base/check.h"
#include "scene/scene.h"

namespace tandem::scene {

/// Reads a Radiance .hdr file. Texels that are not finite or negative are clamped, with one counted warning (log).
Expected<Environment> loadEnvironment(const std::filesystem::path& path);

/// The sky of scenes without light of their own: a plain blue-to-white gradient with a bright horizon and a grey
/// ground.
Environment defaultSky();

/// The same radiance from everywhere.
Environment uniformEnvironment(vec3 radiance);

}  // namespace tandem::scene
