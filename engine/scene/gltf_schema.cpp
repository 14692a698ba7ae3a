#include "scene/gltf_schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scene/gltf_document.h"
#include "scene/gltf_schema_rules.h"

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

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

}  // namespace tandem::scene::gltf
