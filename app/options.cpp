#include "options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tandem::app {
namespace {

/// All of `text` as a number; nothing else.
template <class T>
std::optional<T> wholeNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Expected<uint32_t> parseCount(std::string_view option, std::string_view text, uint32_t least, uint32_t most) {
  const std::optional<uint32_t> value = wholeNumber<uint32_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  return refuse(ExitCode::WrongUsage, "{} {}: give a whole number from {} to {}", option, text, least, most);
}

Expected<double> parseNumber(std::string_view option, std::string_view text) {
  const std::optional<double> value = wholeNumber<double>(text);
  if (value && std::isfinite(*value)) return *value;
  return refuse(ExitCode::WrongUsage, "{} {}: not a number", option, text);
}

Expected<vec3> parseVector(std::string_view option, std::string_view text) {
  const std::vector<std::string_view> parts = splitAtCommas(text);
  vec3 result(0.0f);
  bool good = parts.size() == 3;
  for (int axis = 0; good && axis < 3; ++axis) {
    const std::optional<float> value = wholeNumber<float>(parts[static_cast<size_t>(axis)]);
    good = value && std::isfinite(*value);
    if (good) result[axis] = *value;
  }
  if (good) return result;
  return refuse(ExitCode::WrongUsage, "{} {}: give three numbers without spaces, X,Y,Z", option, text);
}

Expected<Extent> parseSize(std::string_view text) {
  constexpr std::pair<std::string_view, Extent> kNames[] = {
      {"1080p", {1920, 1080}}, {"1440p", {2560, 1440}}, {"4k", {3840, 2160}}, {"8k", {7680, 4320}}};
  for (const auto& [name, size] : kNames) {
    if (name == text) return size;
  }
  const size_t cross = std::min(text.find('x'), text.size());
  const auto width = wholeNumber<uint32_t>(text.substr(0, cross));
  const auto height = wholeNumber<uint32_t>(text.substr(std::min(cross + 1, text.size())));
  if (!width || !height) {
    return refuse(ExitCode::WrongUsage, "--size {}: write WIDTHxHEIGHT, 1080p, 1440p, 4k or 8k", text);
  }
  const Extent size{width.value_or(0), height.value_or(0)};
  if (size.pixels() > 0) return size;
  return refuse(ExitCode::WrongUsage, "--size {}: width and height must be at least 1", text);
}

std::vector<std::string_view> splitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Refusal notAmong(std::string_view option, std::string_view text, std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
  return refuse(ExitCode::WrongUsage, "{} {}: choose one of {}", option, text, list);
}

}  // namespace tandem::app
