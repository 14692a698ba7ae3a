// glTF 2.0 files (.gltf, .glb) by tinygltf, checked field by field: a Scene that comes out may be trusted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "scene/scene.h"

namespace tandem::scene {

/// A scene and what was met on the way that is not drawn as its author meant it: one line a kind, with a count.
struct LoadedScene {
  Scene scene;
  std::vector<std::string> warnings;
};

struct LoadOptions {
  std::string scene;  // name or index of the scene to show; empty: the file's default. A name wins over an index
  bool allowExternal = false;  // files outside the scene's folder may be read; URIs with a scheme and devices never are
};

/// Reads a file. Refuses with the file, the field and what is wrong with it (ExitCode::UnusableInput), or, where no
/// scene is called `options.scene`, with the names that there are (ExitCode::WrongUsage).
Expected<LoadedScene> loadGltf(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tandem::scene
