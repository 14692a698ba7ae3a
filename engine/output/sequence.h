// Which frames, and what their files are called.
//
// Frames: `7`, `a-b` (both ends count), `a-bxN` (every N-th from a), and lists of these: `1,4,7-9`. Ascending and each
// once, whatever the order and overlap of the list. Names: one placeholder, `####` (as many digits as there are #) or
// `%d`, `%04d`; longer numbers take the digits they need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace tandem::output {

inline constexpr size_t kMaxFrames = 1'000'000;

/// Reads the value of `--frames`. Refuses (WrongUsage) nonsense, more than kMaxFrames frames, and the grammars of other
/// programs
/// (`1:100`, `1..100`, `1-100:5`), naming the right spelling.
Expected<std::vector<uint32_t>> parseFrames(std::string_view text);

enum class Format { Exr, Png };

/// By the name's extension, in upper or lower case; others are refused (WrongUsage).
Expected<Format> formatOf(std::string_view path);

/// A checked output name.
struct OutputPattern {
  std::string before;  // the placeholder stands between these two
  std::string after;
  uint32_t digits = 0;  // least number of digits; 0: no placeholder
  Format format = Format::Exr;
  bool hasPlaceholder() const { return digits > 0; }
};

/// Reads the value of `-o` for a run of `frameCount` frames. Refuses (WrongUsage) an unknown format, a placeholder that
/// is not one of ours, more than one, and none where there are several frames.
Expected<OutputPattern> parsePattern(std::string_view text, size_t frameCount);

/// The file of one frame.
std::string expandPattern(const OutputPattern& pattern, uint32_t frame);

/// Whether `name`, the last part of a path, could be that of a frame of the pattern.
bool matchesFileName(const OutputPattern& pattern, std::string_view name);

}  // namespace tandem::output
