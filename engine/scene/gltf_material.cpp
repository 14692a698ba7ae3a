#include <algorithm>
#include <array>
#include <utility>

#include "scene/gltf_parts.h"
#include "scene/image_file.h"

namespace tandem::scene::gltf {

namespace {

constexpr double kMaxEmission = 1e8;  // radiance; sums over paths stay far from infinity

const tinygltf::Value* findExtension(const tinygltf::ExtensionMap& extensions, const char* name) {
  const auto found = extensions.find(name);
  return found == extensions.end() || !found->second.IsObject() ? nullptr : &found->second;
}

double numberOr(const tinygltf::Value& object, const char* key, double otherwise) {
  return object.Has(key) && object.Get(key).IsNumber() ? object.Get(key).GetNumberAsDouble() : otherwise;
}

/// Element i of an array of numbers; the schema has checked its length.
double elementOr(const tinygltf::Value& object, const char* key, int i, double otherwise) {
  return object.Has(key) && object.Get(key).IsArray() ? object.Get(key).Get(i).GetNumberAsDouble() : otherwise;
}

/// A texture reference inside of an extension, as tinygltf gives those outside.
tinygltf::TextureInfo infoOf(const tinygltf::Value& object, const char* key) {
  tinygltf::TextureInfo info;
  if (!object.Has(key)) return info;
  const tinygltf::Value& from = object.Get(key);
  info.index = from.Get("index").GetNumberAsInt();
  if (from.Has("texCoord")) info.texCoord = from.Get("texCoord").GetNumberAsInt();
  if (from.Has("extensions") && from.Get("extensions").Has("KHR_texture_transform")) {
    info.extensions["KHR_texture_transform"] = from.Get("extensions").Get("KHR_texture_transform");
  }
  return info;
}

/// The image of a texture; else that of the extensions for other formats, which may still be readable; -1: none.
int imageOf(const tinygltf::Texture& texture) {
  if (texture.source >= 0) return texture.source;
  for (const char* name : {"KHR_texture_basisu", "EXT_texture_webp"}) {
    if (const auto* extension = findExtension(texture.extensions, name))
      return extension->Get("source").GetNumberAsInt();
  }
  return -1;
}

Image makeChecker() {
  constexpr uint32_t kSide = 16;
  Image image{"missing image", kSide, kSide, {}};
  for (uint32_t i = 0; i < kSide * kSide; ++i) {
    const uint8_t level = (i / 2 + i / kSide / 2) % 2 == 0 ? 255 : 0;
    image.pixels.insert(image.pixels.end(), {level, 0, level, 255});
  }
  return image;
}

Image makeSolid(std::array<uint8_t, 4> colour) {
  return {"image in an unsupported format", 1, 1, {colour.begin(), colour.end()}};
}

Wrap toWrap(int wrap) {
  switch (wrap) {
    case TINYGLTF_TEXTURE_WRAP_CLAMP_TO_EDGE:
      return Wrap::ClampToEdge;
    case TINYGLTF_TEXTURE_WRAP_MIRRORED_REPEAT:
      return Wrap::MirroredRepeat;
    default:
      return Wrap::Repeat;
  }
}

bool isWrap(int wrap) {
  return wrap == TINYGLTF_TEXTURE_WRAP_REPEAT || wrap == TINYGLTF_TEXTURE_WRAP_CLAMP_TO_EDGE ||
         wrap == TINYGLTF_TEXTURE_WRAP_MIRRORED_REPEAT;
}

}  // namespace

uint32_t MaterialTable::find(int material) {
  if (material < 0) return kNone;
  const auto found = materials_.find(material);
  if (found != materials_.end()) return found->second;
  scene_.materials.push_back(make(static_cast<size_t>(material)));
  const auto index = static_cast<uint32_t>(scene_.materials.size() - 1);
  materials_[material] = index;
  return index;
}

float MaterialTable::clampFactor(double value, double low, double high, const std::string& where) {
  const double clamped = std::clamp(value, low, high);
  if (clamped != value) {
    const std::string field = where.substr(where.rfind('.') + 1);
    document_.warnings.add(fmt::format("{} out of range, clamped to {} .. {}", field, low, high), where);
  }
  return static_cast<float>(clamped);
}

Material MaterialTable::make(size_t index) {
  const tinygltf::Material& source = document_.model.materials[index];
  const tinygltf::PbrMetallicRoughness& pbr = source.pbrMetallicRoughness;
  const std::string where =
      fmt::format("materials[{}]{}", index, source.name.empty() ? "" : fmt::format(" '{}'", printable(source.name)));
  Material material;
  material.name = printable(source.name);
  for (int i = 0; i < 4; ++i) {
    material.baseColor[i] =
        clampFactor(pbr.baseColorFactor[static_cast<size_t>(i)], 0.0, 1.0, where + ".baseColorFactor");
  }
  material.metallic = clampFactor(pbr.metallicFactor, 0.0, 1.0, where + ".metallicFactor");
  material.roughness = clampFactor(pbr.roughnessFactor, 0.0, 1.0, where + ".roughnessFactor");
  double strength = 1.0;
  if (const auto* extension = findExtension(source.extensions, "KHR_materials_emissive_strength")) {
    strength =
        clampFactor(numberOr(*extension, "emissiveStrength", 1.0), 0.0, kMaxEmission, where + ".emissiveStrength");
  }
  for (int i = 0; i < 3; ++i) {
    const double factor = source.emissiveFactor[static_cast<size_t>(i)];
    material.emissive[i] = static_cast<float>(strength * clampFactor(factor, 0.0, 1.0, where + ".emissiveFactor"));
  }
  if (source.alphaMode == "MASK") {
    material.alphaMode = AlphaMode::Mask;
  } else if (source.alphaMode == "BLEND") {
    material.alphaMode = AlphaMode::Blend;
  } else if (source.alphaMode != "OPAQUE") {
    document_.warnings.add("alphaMode is none of OPAQUE, MASK, BLEND: OPAQUE was used", where + ".alphaMode");
  }
  material.alphaCutoff = clampFactor(source.alphaCutoff, 0.0, 1e6, where + ".alphaCutoff");
  material.doubleSided = source.doubleSided;
  material.unlit = source.extensions.contains("KHR_materials_unlit");
  if (const auto* extension = findExtension(source.extensions, "KHR_materials_ior")) {
    const double ior = numberOr(*extension, "ior", 1.5);
    // 0 means "infinitely high" by the extension's text; between 0 and 1 nothing is defined.
    material.ior = ior == 0.0 ? 0.0f : clampFactor(ior, 1.0, 1e6, where + ".ior");
  }
  if (const auto* extension = findExtension(source.extensions, "KHR_materials_specular")) {
    material.specular = clampFactor(numberOr(*extension, "specularFactor", 1.0), 0.0, 1.0, where + ".specularFactor");
    for (int i = 0; i < 3; ++i) {
      material.specularColor[i] =
          clampFactor(elementOr(*extension, "specularColorFactor", i, 1.0), 0.0, 1e6, where + ".specularColorFactor");
    }
    material.specularTexture = makeUse(infoOf(*extension, "specularTexture"), Slot::Data, where + ".specularTexture");
    // Data, though it is a colour: without a readable image the factor alone is nearer than grey or a checker.
    material.specularColorTexture =
        makeUse(infoOf(*extension, "specularColorTexture"), Slot::Data, where + ".specularColorTexture");
  }
  material.normalScale = clampFactor(source.normalTexture.scale, -1e6, 1e6, where + ".normalTexture.scale");
  material.baseColorTexture = makeUse(pbr.baseColorTexture, Slot::Colour, where + ".baseColorTexture");
  material.metallicRoughnessTexture =
      makeUse(pbr.metallicRoughnessTexture, Slot::Surface, where + ".metallicRoughnessTexture");
  material.normalTexture = makeUse(source.normalTexture, Slot::Data, where + ".normalTexture");
  material.emissiveTexture = makeUse(source.emissiveTexture, Slot::Emission, where + ".emissiveTexture");
  return material;
}

template <class Info>
TextureUse MaterialTable::makeUse(const Info& info, Slot slot, const std::string& where) {
  TextureUse use;
  if (info.index < 0) return use;
  int uvSet = info.texCoord;
  if (const auto* transform = findExtension(info.extensions, "KHR_texture_transform")) {
    const auto read = [&](const char* key, int i, double otherwise) {
      return clampFactor(elementOr(*transform, key, i, otherwise), -1e9, 1e9, where + ".KHR_texture_transform");
    };
    use.offset = vec2(read("offset", 0, 0.0), read("offset", 1, 0.0));
    use.scale = vec2(read("scale", 0, 1.0), read("scale", 1, 1.0));
    use.rotation = clampFactor(numberOr(*transform, "rotation", 0.0), -1e9, 1e9, where + ".KHR_texture_transform");
    if (transform->Has("texCoord")) uvSet = transform->Get("texCoord").GetNumberAsInt();
  }
  if (uvSet > 1) {
    document_.warnings.add(fmt::format("texCoord {} is not supported (0 and 1 are): the texture was left out", uvSet),
                           where);
    return use;
  }
  use.uvSet = static_cast<uint32_t>(uvSet);
  use.texture = findTexture(info.index, slot, where);
  return use;
}

uint32_t MaterialTable::findTexture(int texture, Slot slot, const std::string& where) {
  const auto found = textures_.find({texture, slot});
  if (found != textures_.end()) return found->second;
  const tinygltf::Texture& source = document_.model.textures[static_cast<size_t>(texture)];
  const int imageIndex = imageOf(source);
  uint32_t image = kNone;
  if (imageIndex < 0) {
    document_.warnings.add("a texture names no image that can be used (no source)", where);
  } else {
    image = findImage(imageIndex, where);
  }
  if (image == kNone) image = standIn(slot, foreignImages_.contains(imageIndex));
  uint32_t index = kNone;
  if (image != kNone) {
    Texture made = makeTexture(source);
    made.image = image;
    scene_.textures.push_back(made);
    index = static_cast<uint32_t>(scene_.textures.size() - 1);
  }
  textures_[{texture, slot}] = index;
  return index;
}

Texture MaterialTable::makeTexture(const tinygltf::Texture& texture) {
  Texture made;
  if (texture.sampler < 0) return made;
  const tinygltf::Sampler& sampler = document_.model.samplers[static_cast<size_t>(texture.sampler)];
  const bool knownFilter = sampler.magFilter == -1 || sampler.magFilter == TINYGLTF_TEXTURE_FILTER_NEAREST ||
                           sampler.magFilter == TINYGLTF_TEXTURE_FILTER_LINEAR;
  if (!isWrap(sampler.wrapS) || !isWrap(sampler.wrapT) || !knownFilter) {
    document_.warnings.add("a sampler's wrapS, wrapT or magFilter is unknown: its default was used",
                           fmt::format("samplers[{}]", texture.sampler));
  }
  made.wrapU = toWrap(sampler.wrapS);
  made.wrapV = toWrap(sampler.wrapT);
  made.linearFilter = sampler.magFilter != TINYGLTF_TEXTURE_FILTER_NEAREST;
  return made;
}

uint32_t MaterialTable::findImage(int image, const std::string& where) {
  const auto found = images_.find(image);
  if (found != images_.end()) return found->second;
  const ImageSource& source = document_.images[static_cast<size_t>(image)];
  auto decoded = readImage(source);
  uint32_t index = kNone;
  if (decoded) {
    decoded->name = source.name.empty() ? fmt::format("images[{}]", image) : source.name;
    scene_.images.push_back(std::move(*decoded));
    index = static_cast<uint32_t>(scene_.images.size() - 1);
  } else if (decoded.refusal().message.ends_with(kForeignFormat)) {
    document_.warnings.add(fmt::format("{}; drawn in grey", kForeignFormat), where);
    foreignImages_.insert(image);
  } else {
    document_.warnings.add(fmt::format("images[{}] is not shown: {}", image, decoded.refusal().message), where);
  }
  images_[image] = index;
  return index;
}

Expected<Image> MaterialTable::readImage(const ImageSource& source) const {
  if (source.bufferView >= 0) {
    const tinygltf::BufferView& view = document_.model.bufferViews[static_cast<size_t>(source.bufferView)];
    const auto bytes = document_.buffers[static_cast<size_t>(view.buffer)].bytes;
    return decodeImage(bytes.subspan(view.byteOffset, view.byteLength));
  }
  if (source.uri.empty()) return Refusal{ExitCode::UnusableInput, "the image has neither uri nor bufferView"};
  auto bytes = readUri(document_, source.uri, uint64_t{1} << 31);
  if (!bytes) return bytes.refusal();
  auto image = decodeImage(*bytes);
  if (image || source.uri.starts_with("data:")) return image;
  return Refusal{ExitCode::UnusableInput, fmt::format("'{}': {}", printable(source.uri), image.refusal().message)};
}

uint32_t MaterialTable::standIn(Slot slot, bool foreignFormat) {
  if (slot == Slot::Data || (slot == Slot::Surface && !foreignFormat)) return kNone;
  const auto [entry, isNew] = standIns_.try_emplace({slot, foreignFormat}, kNone);
  if (!isNew) return entry->second;
  if (!foreignFormat) {
    scene_.images.push_back(makeChecker());
  } else if (slot == Slot::Surface) {
    scene_.images.push_back(makeSolid({0, 153, 0, 255}));  // roughness 0.6, no metal
  } else {
    const uint8_t level = slot == Slot::Emission ? 0 : 128;  // what glows at unknown places rather glows nowhere
    scene_.images.push_back(makeSolid({level, level, level, 255}));
  }
  entry->second = static_cast<uint32_t>(scene_.images.size() - 1);
  return entry->second;
}

}  // namespace tandem::scene::gltf
