#include "scene/gltf_extensions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

// Drawn as their authors meant them; of XMP, which is about authors and licences, there is nothing to draw.
constexpr std::array<std::string_view, 12> kDrawn{
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_specular",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_xmp",
    "KHR_xmp_json_ld",
};

// Without these the shapes are right and the look suffers: no reason to refuse a file that requires them. Image formats
// among them have warnings of their own, where they are met.
constexpr std::array<std::string_view, 12> kLooksOnly{
    "EXT_texture_webp",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_transmission",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_texture_basisu",
};

template <size_t n>
bool isOneOf(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// How often each extension is carried by some object of the file.
std::map<std::string, size_t> countExtensions(const json& root) {
  std::map<std::string, size_t> counts;
  std::vector<const json*> open{&root};
  while (!open.empty()) {
    const json* at = open.back();
    open.pop_back();
    if (at->is_object()) {
      for (const auto& [key, value] : at->items()) {
        if (key == "extras") continue;
        if (key == "extensions" && value.is_object()) {
          for (const auto& extension : value.items()) ++counts[extension.key()];
        }
        open.push_back(&value);
      }
    } else if (at->is_array()) {
      for (const json& value : *at) open.push_back(&value);
    }
  }
  return counts;
}

}  // namespace

const json& arrayOf(const json& root, const char* key) {
  static const json kNothing = json::array();
  const auto found = root.find(key);
  return found == root.end() ? kNothing : *found;
}

std::optional<Refusal> checkExtensions(Document& document, const json& root) {
  std::map<std::string, size_t> uses = countExtensions(root);
  const json& used = arrayOf(root, "extensionsUsed");
  for (const json& name : arrayOf(root, "extensionsRequired")) {
    const auto extension = name.get<std::string>();
    if (!isOneOf(kDrawn, extension) && !isOneOf(kLooksOnly, extension)) {
      return document.no("extensionsRequired: the file cannot be shown without {}, which is not supported",
                         printable(extension));
    }
    if (std::find(used.begin(), used.end(), name) == used.end()) {
      document.warnings.add("extensions are required without being listed in extensionsUsed", extension);
    }
  }
  for (const json& name : used) uses[name.get<std::string>()] += 0;
  for (const auto& [name, count] : uses) {
    if (isOneOf(kDrawn, name) || name == "KHR_texture_basisu" || name == "EXT_texture_webp") continue;
    const char* format = isOneOf(kLooksOnly, name) ? "extension {} is not supported yet: drawn without"
                                                   : "extension {} is unknown and was ignored";
    document.warnings.add(fmt::format(fmt::runtime(format), printable(name)),
                          fmt::format("{} objects carry it", count));
  }
  return std::nullopt;
}

void setUnpackBudget(Document& document) {
  constexpr uint64_t kLeast = uint64_t{1} << 30;
  constexpr uint64_t kUsualRatio = 16;
  uint64_t packed = 0;
  for (const BufferBytes& buffer : document.buffers) packed += buffer.bytes.size();
  document.unpackBudget = std::max(kLeast, kUsualRatio * packed);
}

bool takeFromBudget(Document& document, uint64_t bytes) {
  if (bytes > document.unpackBudget) return false;
  document.unpackBudget -= bytes;
  return true;
}

}  // namespace tandem::scene::gltf
