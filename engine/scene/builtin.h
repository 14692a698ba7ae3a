// Scenes made in code: known answers for tests (furnace, sphere, cornell), loads for benchmarks (terrain, spinners).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "scene/scene.h"

namespace tandem::scene {

/// `name` with parameters, as on the command line after "builtin:": "furnace", "sphere", "cornell",
/// "terrain?triangles=N", "spinners", "skinned?vertices=N".
Expected<Scene> makeBuiltin(std::string_view name);

/// Names and one line on each, for help texts and refusals.
std::vector<std::pair<std::string, std::string>> builtinNames();

}  // namespace tandem::scene
