// Materials and textures of a scene in the form that shaders read.
#pragma once

#include <vector>

#include "gpu/textures.h"
#include "scene/scene.h"
#include "shaders/shared/scene.h"

namespace tandem::trace {

struct MaterialTable {
  std::vector<shared::MaterialData> materials;  // scene order, then glTF's default material
  std::vector<gpu::TextureSource> textures;     // points into the scene's images; never empty
  uint32_t defaultMaterial = 0;
  bool textured = false;  // some material uses a texture
  bool normalMapped = false;
  bool specularTextured = false;
};

/// The scene must outlive the table.
MaterialTable makeMaterialTable(const scene::Scene& scene);

}  // namespace tandem::trace
