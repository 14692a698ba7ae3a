#include "jobs/load_scene.h"

#include <string_view>

#include "scene/builtin.h"
#include "scene/environment.h"

namespace tandem::jobs {
namespace {

constexpr std::string_view kBuiltin = "builtin:";

Expected<scene::LoadedScene> loadAny(const std::string& name) {
  if (!name.starts_with(kBuiltin)) return scene::loadGltf(name);
  Expected<scene::Scene> made = scene::makeBuiltin(std::string_view(name).substr(kBuiltin.size()));
  if (!made) return made.refusal();
  return scene::LoadedScene{std::move(*made), {}};
}

}  // namespace

Expected<scene::LoadedScene> loadScene(const std::string& name, const std::string& environment) {
  Expected<scene::LoadedScene> loaded = loadAny(name);
  if (!loaded) return loaded.refusal();
  if (!environment.empty()) {
    Expected<scene::Environment> light = scene::loadEnvironment(environment);
    if (!light) return light.refusal();
    loaded->scene.environment = std::move(*light);
  } else if (!name.starts_with(kBuiltin) && loaded->scene.environment.radiance.empty()) {
    loaded->scene.environment = scene::defaultSky();
  }
  return loaded;
}

}  // namespace tandem::jobs
