// From the words of the command line to a scene with light in it.
#pragma once

#include <string>

#include "base/check.h"
#include "scene/gltf.h"

namespace tandem::jobs {

bool isBuiltin(const std::string& name);

/// `name`: a .gltf or .glb file, or builtin:NAME. `environment`: a .hdr file that replaces the scene's environment;
/// empty: built-in scenes keep their own, files get the default sky, since glTF has no environments. Refuses
/// (WrongUsage) `options` for a built-in scene. Other refusals and throws as scene/gltf.h, builtin.h, environment.h.
Expected<scene::LoadedScene> loadScene(const std::string& name, const scene::LoadOptions& options,
                                       const std::string& environment);

}  // namespace tandem::jobs
