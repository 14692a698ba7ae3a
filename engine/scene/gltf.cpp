#include "scene/gltf.h"

#include <new>
#include <stdexcept>

#include "scene/gltf_accessor.h"
#include "scene/gltf_parts.h"

namespace tandem::scene {

namespace {

Expected<LoadedScene> load(const std::filesystem::path& path, const LoadOptions& options) {
  auto loaded = gltf::loadDocument(path, options);
  if (!loaded) return loaded.refusal();
  gltf::Document& document = **loaded;
  if (auto refusal = gltf::checkAccessors(document)) return *refusal;

  LoadedScene result;
  result.scene.name = gltf::printable(path.filename());
  gltf::MaterialTable materials(document, result.scene);
  gltf::MeshTable meshes(document, result.scene, materials);
  std::vector<uint32_t> sceneNode;
  if (auto refusal = gltf::buildNodes(document, result.scene, meshes, sceneNode)) return *refusal;
  if (auto refusal = gltf::buildSkins(document, result.scene, sceneNode)) return *refusal;
  if (auto refusal = gltf::buildAnimations(document, result.scene, sceneNode)) return *refusal;
  result.warnings = document.warnings.lines();
  return result;
}

}  // namespace

Expected<LoadedScene> loadGltf(const std::filesystem::path& path, const LoadOptions& options) {
  // The sizes that a file may claim are bounded by the file; a machine too small even for that is the file's refusal.
  try {
    return load(path, options);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return refuse(ExitCode::UnusableInput, "{}: needs more memory than this machine has", gltf::printable(path));
}

}  // namespace tandem::scene
