// glTF 2.0 files (.gltf, .glb) by tinygltf, checked field by field: a Scene that comes out may be trusted.
#pragma once

#include "base/check.h"
#include "scene/scene.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::scene {

/// A scene and what was met on the way that is not drawn as its author meant it: one line a kind, with a count.
struct LoadedScene {
  Scene scene;
  std::vector<std::string> warnings;
};

/// Reads a file. Refuses (ExitCode::UnusableInput) with the file, the field and what is wrong with it.
Expected<LoadedScene> loadGltf(const std::filesystem::path& path);

}  // namespace tandem::scene
