// Types, sizes and index ranges of the JSON fields that the loader reads. Private to the glTF loader.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/check.h"

namespace tandem::scene::gltf {

/// The first field that breaks the glTF 2.0 schema, as a message ("nodes[2].mesh: 9 is out of range, meshes has 4");
/// none: all is well.
std::optional<std::string> findSchemaError(const nlohmann::json& root);

}  // namespace tandem::scene::gltf
