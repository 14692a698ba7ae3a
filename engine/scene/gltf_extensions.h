// glTF extensions at the level of JSON, before tinygltf: which are known, and the compressed ones unpacked into
// ordinary buffers, views and accessors, so that nothing behind has to know them. Private to the glTF loader.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "scene/gltf_document.h"

namespace tandem::scene::gltf {

/// One of the top-level arrays; an empty one where the file has none.
const nlohmann::json& arrayOf(const nlohmann::json& root, const char* key);

/// Refuses required extensions without which a file's shapes would be wrong; warns of what is drawn without.
std::optional<Refusal> checkExtensions(Document& document, const nlohmann::json& root);

/// Whether a buffer holds nothing, because all its views are compressed (EXT_meshopt_compression, "fallback").
bool isFallback(const nlohmann::json& buffer);

/// EXT_meshopt_compression: each compressed view becomes a plain one with a buffer of its own.
std::optional<Refusal> expandMeshopt(Document& document, nlohmann::json& root);

/// KHR_draco_mesh_compression: each compressed primitive gets plain accessors, with views and buffers of their own.
std::optional<Refusal> expandDraco(Document& document, nlohmann::json& root);

/// Sets how much all compressed data of a file may become: 1 GiB, or more for large files. To be called once the
/// buffers are read. An unpacked size is a number in the file, which its own size does not back.
void setUnpackBudget(Document& document);

/// Takes `bytes` from the budget; false if it does not have them.
bool takeFromBudget(Document& document, uint64_t bytes);

}  // namespace tandem::scene::gltf
