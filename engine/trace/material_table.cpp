#include "trace/material_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "trace/light_table.h"

namespace tandem::trace {

namespace {

constexpr std::array<uint8_t, 4> kWhite{255, 255, 255, 255};

gpu::AddressMode addressMode(scene::Wrap wrap) {
  switch (wrap) {
    case scene::Wrap::MirroredRepeat:
      return gpu::AddressMode::MirroredRepeat;
    case scene::Wrap::ClampToEdge:
      return gpu::AddressMode::ClampToEdge;
    case scene::Wrap::Repeat:
      break;
  }
  return gpu::AddressMode::Repeat;
}

/// Mean of an sRGB picture in linear light.
vec3 meanColor(const scene::Image& image) {
  std::array<double, 256> linear{};
  for (size_t i = 0; i < linear.size(); i++) {
    const double c = static_cast<double>(i) / 255.0;
    linear[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  glm::dvec3 sum(0.0);
  for (size_t i = 0; i + 3 < image.pixels.size(); i += 4) {
    sum += glm::dvec3(linear[image.pixels[i]], linear[image.pixels[i + 1]], linear[image.pixels[i + 2]]);
  }
  return vec3(sum / std::max(static_cast<double>(image.pixels.size() / 4), 1.0));
}

/// Gives every (texture, colour space) pair that is used one entry.
class TextureList {
 public:
  TextureList(const scene::Scene& scene, MaterialTable& table) : scene_(scene), table_(table) {}

  shared::TextureSlot slot(const scene::TextureUse& use, bool srgb, gpu::MipFilter filter = gpu::MipFilter::Mean) {
    shared::TextureSlot slot{};
    slot.texture = shared::kNoTexture;
    if (use.texture == scene::kNone) return slot;
    // KHR_texture_transform: offset * rotation * scale; rotation is counter-clockwise as seen with v downwards.
    const float c = std::cos(use.rotation), s = std::sin(use.rotation);
    slot.row0 = vec3(c * use.scale.x, s * use.scale.y, use.offset.x);
    slot.row1 = vec3(-s * use.scale.x, c * use.scale.y, use.offset.y);
    const uint32_t index = entry(use.texture, srgb, filter);
    const gpu::TextureSource& source = table_.textures[index];
    const double texels = static_cast<double>(source.width) * source.height;
    const double area = std::abs(static_cast<double>(use.scale.x) * use.scale.y);
    slot.level = static_cast<float>(0.5 * std::log2(std::max(texels * area, 1e-30)));
    slot.texture = index | (use.uvSet == 1 ? shared::kSecondUvSet : 0u);
    table_.textured = true;
    return slot;
  }

  vec3 mean(const scene::TextureUse& use) {
    if (use.texture == scene::kNone) return vec3(1.0f);
    const uint32_t image = scene_.textures[use.texture].image;
    const auto [found, isNew] = means_.try_emplace(image);
    if (isNew) found->second = image == scene::kNone ? vec3(1.0f) : meanColor(scene_.images[image]);
    return found->second;
  }

 private:
  uint32_t entry(uint32_t texture, bool srgb, gpu::MipFilter filter) {
    const auto [found, isNew] =
        entries_.try_emplace({texture, srgb, filter}, static_cast<uint32_t>(table_.textures.size()));
    if (!isNew) return found->second;
    const scene::Texture& t = scene_.textures[texture];
    gpu::TextureSource source{"white", 1, 1, kWhite.data()};
    if (t.image != scene::kNone) {
      const scene::Image& image = scene_.images[t.image];
      source = {image.name, image.width, image.height, image.pixels.data()};
    }
    source.srgb = srgb;
    source.filter = filter;
    source.u = addressMode(t.wrapU);
    source.v = addressMode(t.wrapV);
    source.linear = t.linearFilter;
    table_.textures.push_back(source);
    return found->second;
  }

  const scene::Scene& scene_;
  MaterialTable& table_;
  std::map<std::tuple<uint32_t, bool, gpu::MipFilter>, uint32_t> entries_;
  std::map<uint32_t, vec3> means_;
};

shared::MaterialData makeMaterial(const scene::Material& m, TextureList& textures) {
  shared::MaterialData data{};
  data.baseColor = m.baseColor;
  data.emissive = m.emissive;
  data.metallic = m.metallic;
  // KHR_materials_ior: a reflectance of ((ior - 1) / (ior + 1))^2; an ior of 0 stands for 1.
  const float root = m.ior > 0.0f ? (m.ior - 1.0f) / (m.ior + 1.0f) : 1.0f;
  data.specularColor = root * root * m.specularColor;
  data.specular = m.specular;
  data.roughness = m.roughness;
  data.normalScale = m.normalScale;
  data.alphaCutoff = m.alphaCutoff;
  data.flags = (m.alphaMode == scene::AlphaMode::Mask ? shared::kMaterialMask : 0u) |
               (m.alphaMode == scene::AlphaMode::Blend ? shared::kMaterialBlend : 0u) |
               (m.unlit ? shared::kMaterialUnlit : 0u) | (m.doubleSided ? shared::kMaterialDoubleSided : 0u);
  data.baseColorTexture =
      textures.slot(m.baseColorTexture, true,
                    m.alphaMode == scene::AlphaMode::Opaque ? gpu::MipFilter::Mean : gpu::MipFilter::AlphaWeighted);
  data.metallicRoughnessTexture = textures.slot(m.metallicRoughnessTexture, false);
  data.normalTexture = textures.slot(m.normalTexture, false, gpu::MipFilter::Normals);
  data.emissiveTexture = textures.slot(m.emissiveTexture, true);
  data.specularTexture = textures.slot(m.specularTexture, false);
  data.specularColorTexture = textures.slot(m.specularColorTexture, true);
  if (!m.unlit && luminance(m.emissive) > 0.0f) {
    data.emissiveWeight = luminance(m.emissive * textures.mean(m.emissiveTexture));
    if (data.emissiveWeight > 0.0f) data.flags |= shared::kMaterialEmissive;
  }
  return data;
}

}  // namespace

MaterialTable makeMaterialTable(const scene::Scene& scene) {
  MaterialTable table;
  TextureList textures(scene, table);
  for (const scene::Material& m : scene.materials) {
    table.materials.push_back(makeMaterial(m, textures));
    table.normalMapped |= m.normalTexture.texture != scene::kNone;
    table.specularTextured |=
        m.specularTexture.texture != scene::kNone || m.specularColorTexture.texture != scene::kNone;
  }
  table.defaultMaterial = static_cast<uint32_t>(table.materials.size());
  table.materials.push_back(makeMaterial(scene::Material{}, textures));
  if (table.textures.empty()) table.textures.push_back({"white", 1, 1, kWhite.data()});
  return table;
}

}  // namespace tandem::trace
