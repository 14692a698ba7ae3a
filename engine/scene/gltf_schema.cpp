#include "scene/gltf_schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scene/gltf_document.h"

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

enum class Kind {
  Index,    // into the array named by `target`
  Integer,  // 0 .. 2^31-1
  Size,     // 0 .. 2^64-1
  Number,
  Numbers,  // an array of `length` numbers (0: any length)
  String,
  Boolean,
  Object,
  Array,
};

/// A path like "meshes[].primitives[].attributes.*": `[]` stands for every element, `*` for every member. A `!` at its
/// end: the field is required. Required arrays must not be empty.
struct Rule {
  std::string_view path;
  Kind kind;
  std::string_view target = {};
  size_t length = 0;
};

constexpr std::string_view kLights = "extensions.KHR_lights_punctual.lights";

// glTF 2.0 section 5 (properties reference) and the KHR extensions that are read.
constexpr Rule kRules[] = {
    {"asset!", Kind::Object},
    {"asset.version!", Kind::String},
    {"asset.minVersion", Kind::String},
    {"extensionsUsed[]", Kind::String},
    {"extensionsRequired[]", Kind::String},
    {"scene", Kind::Index, "scenes"},
    {"scenes[]", Kind::Object},
    {"scenes[].nodes[]", Kind::Index, "nodes"},
    {"nodes[]", Kind::Object},
    {"nodes[].name", Kind::String},
    {"nodes[].children[]", Kind::Index, "nodes"},
    {"nodes[].mesh", Kind::Index, "meshes"},
    {"nodes[].camera", Kind::Index, "cameras"},
    {"nodes[].skin", Kind::Index, "skins"},
    {"nodes[].matrix", Kind::Numbers, {}, 16},
    {"nodes[].translation", Kind::Numbers, {}, 3},
    {"nodes[].rotation", Kind::Numbers, {}, 4},
    {"nodes[].scale", Kind::Numbers, {}, 3},
    {"nodes[].weights", Kind::Numbers},
    {"nodes[].extensions.KHR_lights_punctual.light!", Kind::Index, kLights},
    {"extensions.KHR_lights_punctual.lights[]", Kind::Object},
    {"extensions.KHR_lights_punctual.lights[].type!", Kind::String},
    {"extensions.KHR_lights_punctual.lights[].color", Kind::Numbers, {}, 3},
    {"extensions.KHR_lights_punctual.lights[].intensity", Kind::Number},
    {"extensions.KHR_lights_punctual.lights[].range", Kind::Number},
    {"extensions.KHR_lights_punctual.lights[].spot", Kind::Object},
    {"extensions.KHR_lights_punctual.lights[].spot.innerConeAngle", Kind::Number},
    {"extensions.KHR_lights_punctual.lights[].spot.outerConeAngle", Kind::Number},
    {"cameras[]", Kind::Object},
    {"cameras[].type!", Kind::String},
    {"cameras[].perspective.yfov!", Kind::Number},
    {"cameras[].perspective.znear!", Kind::Number},
    {"cameras[].perspective.zfar", Kind::Number},
    {"cameras[].perspective.aspectRatio", Kind::Number},
    {"cameras[].orthographic.xmag!", Kind::Number},
    {"cameras[].orthographic.ymag!", Kind::Number},
    {"cameras[].orthographic.znear!", Kind::Number},
    {"cameras[].orthographic.zfar!", Kind::Number},
    {"meshes[]", Kind::Object},
    {"meshes[].primitives!", Kind::Array},
    {"meshes[].primitives[]", Kind::Object},
    {"meshes[].primitives[].attributes!", Kind::Object},
    {"meshes[].primitives[].attributes.*", Kind::Index, "accessors"},
    {"meshes[].primitives[].indices", Kind::Index, "accessors"},
    {"meshes[].primitives[].material", Kind::Index, "materials"},
    {"meshes[].primitives[].mode", Kind::Integer},
    {"meshes[].primitives[].targets[]", Kind::Object},
    {"meshes[].primitives[].targets[].*", Kind::Index, "accessors"},
    {"meshes[].weights", Kind::Numbers},
    {"accessors[]", Kind::Object},
    {"accessors[].bufferView", Kind::Index, "bufferViews"},
    {"accessors[].byteOffset", Kind::Size},
    {"accessors[].componentType!", Kind::Integer},
    {"accessors[].normalized", Kind::Boolean},
    {"accessors[].count!", Kind::Size},
    {"accessors[].type!", Kind::String},
    {"accessors[].sparse.count!", Kind::Integer},
    {"accessors[].sparse.indices!", Kind::Object},
    {"accessors[].sparse.indices.bufferView!", Kind::Index, "bufferViews"},
    {"accessors[].sparse.indices.byteOffset", Kind::Integer},
    {"accessors[].sparse.indices.componentType!", Kind::Integer},
    {"accessors[].sparse.values!", Kind::Object},
    {"accessors[].sparse.values.bufferView!", Kind::Index, "bufferViews"},
    {"accessors[].sparse.values.byteOffset", Kind::Integer},
    {"bufferViews[]", Kind::Object},
    {"bufferViews[].buffer!", Kind::Index, "buffers"},
    {"bufferViews[].byteOffset", Kind::Size},
    {"bufferViews[].byteLength!", Kind::Size},
    {"bufferViews[].byteStride", Kind::Integer},
    {"buffers[]", Kind::Object},
    {"buffers[].uri", Kind::String},
    {"buffers[].byteLength!", Kind::Size},
    {"images[]", Kind::Object},
    {"images[].name", Kind::String},
    {"images[].uri", Kind::String},
    {"images[].bufferView", Kind::Index, "bufferViews"},
    {"samplers[]", Kind::Object},
    {"samplers[].magFilter", Kind::Integer},
    {"samplers[].minFilter", Kind::Integer},
    {"samplers[].wrapS", Kind::Integer},
    {"samplers[].wrapT", Kind::Integer},
    {"textures[]", Kind::Object},
    {"textures[].source", Kind::Index, "images"},
    {"textures[].sampler", Kind::Index, "samplers"},
    {"materials[]", Kind::Object},
    {"materials[].name", Kind::String},
    {"materials[].extensions", Kind::Object},
    {"materials[].extensions.*", Kind::Object},
    {"materials[].pbrMetallicRoughness", Kind::Object},
    {"materials[].pbrMetallicRoughness.baseColorFactor", Kind::Numbers, {}, 4},
    {"materials[].pbrMetallicRoughness.metallicFactor", Kind::Number},
    {"materials[].pbrMetallicRoughness.roughnessFactor", Kind::Number},
    {"materials[].emissiveFactor", Kind::Numbers, {}, 3},
    {"materials[].alphaMode", Kind::String},
    {"materials[].alphaCutoff", Kind::Number},
    {"materials[].doubleSided", Kind::Boolean},
    {"materials[].normalTexture.scale", Kind::Number},
    {"materials[].extensions.KHR_materials_emissive_strength.emissiveStrength", Kind::Number},
    {"materials[].extensions.KHR_materials_ior.ior", Kind::Number},
    {"materials[].extensions.KHR_materials_specular.specularFactor", Kind::Number},
    {"materials[].extensions.KHR_materials_specular.specularColorFactor", Kind::Numbers, {}, 3},
    {"animations[]", Kind::Object},
    {"animations[].channels!", Kind::Array},
    {"animations[].channels[].sampler!", Kind::Index, "animations[].samplers"},
    {"animations[].channels[].target!", Kind::Object},
    {"animations[].channels[].target.node", Kind::Index, "nodes"},
    {"animations[].channels[].target.path!", Kind::String},
    {"animations[].samplers!", Kind::Array},
    {"animations[].samplers[].input!", Kind::Index, "accessors"},
    {"animations[].samplers[].output!", Kind::Index, "accessors"},
    {"animations[].samplers[].interpolation", Kind::String},
    {"skins[]", Kind::Object},
    {"skins[].joints!", Kind::Array},
    {"skins[].joints[]", Kind::Index, "nodes"},
    {"skins[].skeleton", Kind::Index, "nodes"},
    {"skins[].inverseBindMatrices", Kind::Index, "accessors"},
};

// The texture references of a material all have the same fields.
constexpr std::string_view kTextureSlots[] = {
    "materials[].pbrMetallicRoughness.baseColorTexture", "materials[].pbrMetallicRoughness.metallicRoughnessTexture",
    "materials[].normalTexture", "materials[].occlusionTexture", "materials[].emissiveTexture"};
constexpr Rule kTextureRules[] = {
    {".index!", Kind::Index, "textures"},
    {".texCoord", Kind::Integer},
    {".extensions", Kind::Object},
    {".extensions.KHR_texture_transform", Kind::Object},
    {".extensions.KHR_texture_transform.offset", Kind::Numbers, {}, 2},
    {".extensions.KHR_texture_transform.scale", Kind::Numbers, {}, 2},
    {".extensions.KHR_texture_transform.rotation", Kind::Number},
    {".extensions.KHR_texture_transform.texCoord", Kind::Integer},
};

/// Follows one rule through the document. Recursion ends with the rule's path, a handful of steps.
class Walker {
 public:
  explicit Walker(const json& root) : root_(root) {}

  std::optional<std::string> check(const Rule& rule) {
    rule_ = &rule;
    std::string_view path = rule.path;
    required_ = path.ends_with('!');
    if (required_) path.remove_suffix(1);
    where_.clear();
    element_ = nullptr;
    return walk(root_, path);
  }

 private:
  std::optional<std::string> walk(const json& at, std::string_view path) {
    if (path.empty()) return checkLeaf(at);
    if (path.starts_with("[]")) return walkArray(at, path.substr(2));
    if (path.starts_with('.')) path.remove_prefix(1);
    if (!at.is_object()) return where_ + ": must be a JSON object";
    const size_t end = std::min(path.find_first_of(".["), path.size());
    const std::string_view key = path.substr(0, end);
    const std::string_view rest = path.substr(end);
    if (key == "*") return walkMembers(at, rest);
    const auto member = at.find(std::string(key));
    if (member == at.end()) {
      if (rest.empty() && required_) return fmt::format("{}{}{}: is missing", where_, where_.empty() ? "" : ".", key);
      return std::nullopt;
    }
    return descend(key, *member, rest);
  }

  std::optional<std::string> walkArray(const json& at, std::string_view rest) {
    if (!at.is_array()) return where_ + ": must be a JSON array";
    const size_t length = where_.size();
    const bool topLevel = where_.find('[') == std::string::npos;
    for (size_t i = 0; i < at.size(); ++i) {
      if (topLevel) element_ = &at[i];
      where_ += fmt::format("[{}]", i);
      if (auto error = walk(at[i], rest)) return error;
      where_.resize(length);
    }
    return std::nullopt;
  }

  std::optional<std::string> walkMembers(const json& at, std::string_view rest) {
    for (const auto& [key, value] : at.items()) {
      if (auto error = descend(printable(key), value, rest)) return error;
    }
    return std::nullopt;
  }

  std::optional<std::string> descend(std::string_view key, const json& value, std::string_view rest) {
    const size_t length = where_.size();
    if (!where_.empty()) where_ += '.';
    where_ += key;
    auto error = walk(value, rest);
    where_.resize(length);
    return error;
  }

  std::optional<std::string> checkLeaf(const json& value) const {
    const auto must = [&](std::string_view what) { return fmt::format("{}: must be {}", where_, what); };
    switch (rule_->kind) {
      case Kind::Index:
        return checkIndex(value);
      case Kind::Integer:
        if (!value.is_number_unsigned() || value.get<uint64_t>() > 0x7fffffffu) return must("an integer, 0 or larger");
        break;
      case Kind::Size:
        if (!value.is_number_unsigned()) return must("an integer, 0 or larger");
        break;
      case Kind::Number:
        if (!value.is_number()) return must("a number");
        break;
      case Kind::Numbers:
        return checkNumbers(value);
      case Kind::String:
        if (!value.is_string()) return must("a string");
        break;
      case Kind::Boolean:
        if (!value.is_boolean()) return must("true or false");
        break;
      case Kind::Object:
        if (!value.is_object()) return must("a JSON object");
        break;
      case Kind::Array:
        if (!value.is_array()) return must("a JSON array");
        if (required_ && value.empty()) return must("an array with at least one element");
        break;
    }
    return std::nullopt;
  }

  std::optional<std::string> checkIndex(const json& value) const {
    if (!value.is_number_unsigned()) return where_ + ": must be an index (an integer, 0 or larger)";
    const size_t size = targetSize();
    if (value.get<uint64_t>() < size) return std::nullopt;
    return fmt::format("{}: {} is out of range, {} has {}", where_, value.get<uint64_t>(), rule_->target, size);
  }

  /// The length of the array that an index points into; "x[].y" is y of the same element of x.
  size_t targetSize() const {
    const json* at = &root_;
    std::string_view path = rule_->target;
    const size_t brackets = path.find("[].");
    if (brackets != std::string_view::npos) {
      at = element_;
      path.remove_prefix(brackets + 3);
    }
    while (!path.empty()) {
      const size_t end = std::min(path.find('.'), path.size());
      if (!at->is_object()) return 0;
      const auto member = at->find(std::string(path.substr(0, end)));
      if (member == at->end()) return 0;
      at = &*member;
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at->is_array() ? at->size() : 0;
  }

  std::optional<std::string> checkNumbers(const json& value) const {
    if (!value.is_array()) return where_ + ": must be an array of numbers";
    if (rule_->length != 0 && value.size() != rule_->length) {
      return fmt::format("{}: must have {} numbers, has {}", where_, rule_->length, value.size());
    }
    for (const json& number : value) {
      if (!number.is_number()) return where_ + ": must hold numbers only";
    }
    return std::nullopt;
  }

  const json& root_;
  const Rule* rule_ = nullptr;
  const json* element_ = nullptr;  // of the top-level array that is being walked
  bool required_ = false;
  std::string where_;
};

std::optional<std::string> findAccessorKindError(const json& root) {
  const auto accessors = root.find("accessors");
  for (size_t i = 0; accessors != root.end() && i < accessors->size(); ++i) {
    const json& accessor = (*accessors)[i];
    const auto componentType = accessor["componentType"].get<uint64_t>();
    if (componentType < 5120 || componentType > 5126 || componentType == 5124) {
      return fmt::format("accessors[{}].componentType: {} is not one of glTF 2.0's", i, componentType);
    }
    const auto type = accessor["type"].get<std::string>();
    constexpr std::array<std::string_view, 7> kTypes{"SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"};
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      return fmt::format("accessors[{}].type: '{}' is not one of glTF 2.0's", i, printable(type));
    }
  }
  return std::nullopt;
}

/// Rules that say "this object, because that field has this value".
std::optional<std::string> findKindError(const json& root) {
  if (auto error = findAccessorKindError(root)) return error;
  const auto cameras = root.find("cameras");
  for (size_t i = 0; cameras != root.end() && i < cameras->size(); ++i) {
    const json& camera = (*cameras)[i];
    const auto type = camera["type"].get<std::string>();
    if (type != "perspective" && type != "orthographic") {
      return fmt::format("cameras[{}].type: '{}' is neither perspective nor orthographic", i, printable(type));
    }
    if (!camera.contains(type) || !camera[type].is_object()) {
      return fmt::format("cameras[{}].{}: is missing", i, type);
    }
  }
  const json::json_pointer lightsPath("/extensions/KHR_lights_punctual/lights");
  if (!root.contains(lightsPath)) return std::nullopt;
  const json& lights = root[lightsPath];
  for (size_t i = 0; i < lights.size(); ++i) {
    if (lights[i]["type"] == "spot" && !lights[i].contains("spot")) {
      return fmt::format("extensions.KHR_lights_punctual.lights[{}].spot: is missing", i);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> findSchemaError(const json& root) {
  Walker walker(root);
  for (const Rule& rule : kRules) {
    if (auto error = walker.check(rule)) return error;
  }
  for (const std::string_view slot : kTextureSlots) {
    for (const Rule& rule : kTextureRules) {
      const std::string path = fmt::format("{}{}", slot, rule.path);
      if (auto error = walker.check({path, rule.kind, rule.target, rule.length})) return error;
    }
  }
  return findKindError(root);
}

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

}  // namespace tandem::scene::gltf
