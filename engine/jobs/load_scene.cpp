#include "jobs/load_scene.h"

#include <string_view>

#include "base/log.h"
#include "base/stopwatch.h"
#include "scene/builtin.h"
#include "scene/environment.h"

namespace tandem::jobs {
namespace {

constexpr std::string_view kBuiltin = "builtin:";

Expected<scene::LoadedScene> loadAny(const std::string& name, const scene::LoadOptions& options) {
  if (!isBuiltin(name)) return scene::loadGltf(name, options);
  if (!options.scene.empty() || options.allowExternal) {
    return refuse(ExitCode::WrongUsage, "{} belongs to glTF files, {} has none: leave it out",
                  options.scene.empty() ? "--allow-external" : "--scene", name);
  }
  Expected<scene::Scene> made = scene::makeBuiltin(std::string_view(name).substr(kBuiltin.size()));
  if (!made) return made.refusal();
  return scene::LoadedScene{std::move(*made), {}};
}

}  // namespace

bool isBuiltin(const std::string& name) { return name.starts_with(kBuiltin); }

Expected<scene::LoadedScene> loadScene(const std::string& name, const scene::LoadOptions& options,
                                       const std::string& environment) {
  Stopwatch watch;
  Expected<scene::LoadedScene> loaded = loadAny(name, options);
  if (!loaded) return loaded.refusal();
  if (!environment.empty()) {
    Expected<scene::Environment> light = scene::loadEnvironment(environment);
    if (!light) return light.refusal();
    loaded->scene.environment = std::move(*light);
  } else if (!isBuiltin(name) && loaded->scene.environment.radiance.empty()) {
    loaded->scene.environment = scene::defaultSky();
  }
  log::debug("{} read or made in {:.0f} ms", name, watch.lap());
  return loaded;
}

}  // namespace tandem::jobs
