// The benchmark's JSON document of schema 2 (assets/bench/schema-2.json), as those read it that make other files of it.
// They know nothing of the benchmark itself: a page can be made of a document that another machine wrote. What is not
// there, or not of its type, reads as null and is written N/A. Pure, but for readBenchFile; thread-safe.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace tandem::jobs {

inline constexpr int kBenchSchema = 2;
inline constexpr std::string_view kNotAvailable = "N/A";

/// The field of an object; null where there is none. Lives as long as `object`.
const nlohmann::json& at(const nlohmann::json& object, std::string_view key);
template <class... Keys>
const nlohmann::json& at(const nlohmann::json& object, std::string_view key, Keys... inner) {
  return at(at(object, key), inner...);
}

/// Itself where it is a list, an empty one otherwise.
const nlohmann::json& listOf(const nlohmann::json& value);
std::optional<double> numberOf(const nlohmann::json& value);
/// Of a text; N/A for all else.
std::string textOf(const nlohmann::json& value);
/// A series of measurements. What is not a number is left out.
std::vector<double> seriesOf(const nlohmann::json& value);

/// `decimals` digits after the point, or N/A.
std::string figure(std::optional<double> value, int decimals);
/// The figure of a field that is a number.
std::string figureOf(const nlohmann::json& value, int decimals);

/// "1920x1080"; N/A where there are not two numbers.
std::string sizeText(const nlohmann::json& size);

/// Whether it is a document of this schema, with series that can be reckoned with: frame times are numbers, none
/// negative, their sum within what bootstrap.h takes. Refuses (UnusableInput), naming `name` and the field.
std::optional<Refusal> checkBenchDocument(const nlohmann::json& document, const std::string& name);

/// A checked document. Refuses (UnusableInput) what cannot be read or is no such document.
Expected<nlohmann::json> readBenchFile(const std::filesystem::path& path);

}  // namespace tandem::jobs
