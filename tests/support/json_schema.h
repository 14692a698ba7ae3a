// JSON Schema (draft 7), as much of it as assets/bench/schema-2.json uses. A word that is not known here is an error of
// the schema's, so that none is passed over.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace tandem::jobs::test {

class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : schema_(std::move(schema)) {}

  /// One line a fault, "/scenes/0/size: ..."; empty: it holds.
  std::vector<std::string> faults(const nlohmann::json& document) const {
    std::vector<std::string> found;
    check(schema_, document, "", found);
    return found;
  }

 private:
  using json = nlohmann::json;
  using Faults = std::vector<std::string>;

  static bool isOfType(const json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_boolean();
    if (type == "string") return value.is_string();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void check(const json& schema, const json& value, const std::string& path, Faults& faults) const {
    for (const auto& word : schema.items()) {
      const std::string& name = word.key();
      const json& wanted = word.value();
      const auto fault = [&](const std::string& what) { faults.push_back(path + ": " + what); };
      if (name == "$ref") {
        check(schema_.at(json::json_pointer(wanted.get<std::string>().substr(1))), value, path, faults);
      } else if (name == "type") {
        bool fits = false;
        for (const json& type : wanted.is_array() ? wanted : json::array({wanted}))
          fits = fits || isOfType(value, type.get<std::string>());
        if (!fits) fault(value.dump().substr(0, 80) + " is not of type " + wanted.dump());
      } else if (name == "const") {
        if (value != wanted) fault(value.dump().substr(0, 80) + " is not " + wanted.dump());
      } else if (name == "enum") {
        if (std::find(wanted.begin(), wanted.end(), value) == wanted.end())
          fault(value.dump().substr(0, 80) + " is none of " + wanted.dump());
      } else if (name == "minimum" || name == "maximum") {
        const bool below = name == "minimum";
        if (value.is_number() &&
            (below ? value.get<double>() < wanted.get<double>() : value.get<double>() > wanted.get<double>()))
          fault(value.dump() + " is past the " + name);
      } else if (name == "minItems" || name == "maxItems") {
        const bool few = name == "minItems";
        if (value.is_array() && (few ? value.size() < wanted.get<size_t>() : value.size() > wanted.get<size_t>()))
          fault("number of elements: " + name);
      } else if (name == "items") {
        for (size_t index = 0; value.is_array() && index < value.size(); ++index)
          check(wanted, value[index], path + "/" + std::to_string(index), faults);
      } else if (name == "anyOf") {
        checkAny(wanted, value, path, faults);
      } else if (name == "required") {
        for (const json& key : wanted) {
          if (value.is_object() && !value.contains(key.get<std::string>())) fault("without " + key.dump());
        }
      } else if (name == "properties" || name == "additionalProperties") {
        // Below, both together.
      } else if (!kRemarks.contains(name)) {
        fault("the schema's word '" + name + "' is not known to this check");
      }
    }
    if (value.is_object()) checkFields(schema, value, path, faults);
  }

  void checkAny(const json& choices, const json& value, const std::string& path, Faults& faults) const {
    Faults last;
    for (const json& choice : choices) {
      last.clear();
      check(choice, value, path, last);
      if (last.empty()) return;
    }
    faults.insert(faults.end(), last.begin(), last.end());
  }

  void checkFields(const json& schema, const json& value, const std::string& path, Faults& faults) const {
    const json known = schema.value("properties", json::object());
    const json others = schema.value("additionalProperties", json(true));
    for (const auto& field : value.items()) {
      const std::string inner = path + "/" + field.key();
      if (known.contains(field.key())) {
        check(known.at(field.key()), field.value(), inner, faults);
      } else if (others.is_object()) {
        check(others, field.value(), inner, faults);
      } else if (others == false) {
        faults.push_back(inner + ": not in the schema");
      }
    }
  }

  inline static const std::set<std::string> kRemarks{"$schema", "title", "description", "definitions"};
  json schema_;
};

}  // namespace tandem::jobs::test
