// Values of options, read strictly: the whole text or a refusal (WrongUsage) that names the option, what was given and
// what would be right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/math.h"

namespace tandem::app {

Expected<uint32_t> parseCount(std::string_view option, std::string_view text, uint32_t least, uint32_t most);
/// Finite, with a point whatever the locale.
Expected<double> parseNumber(std::string_view option, std::string_view text);
/// X,Y,Z
Expected<vec3> parseVector(std::string_view option, std::string_view text);
/// WxH, 1080p, 1440p, 4k, 8k
Expected<Extent> parseSize(std::string_view text);

/// The pieces of a list: "a,b" -> a and b.
std::vector<std::string_view> splitAtCommas(std::string_view text);

/// The refusal of a word that is none of `words`.
Refusal notAmong(std::string_view option, std::string_view text, std::span<const std::string_view> words);

/// A word's value. `later`: words that a later version will know.
template <class T>
Expected<T> parseWord(std::string_view option, std::string_view text,
                      const std::vector<std::pair<std::string_view, T>>& words,
                      const std::vector<std::string_view>& later = {}) {
  std::vector<std::string_view> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  Refusal refusal = notAmong(option, text, known);
  for (const std::string_view word : later) {
    if (word == text) refusal.message = fmt::format("{} {} is not in this version; {}", option, text, refusal.message);
  }
  return refusal;
}

}  // namespace tandem::app
