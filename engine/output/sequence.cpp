#include "output/sequence.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <regex>

namespace tandem::output {

namespace {

constexpr const char* kGrammar = "write 7, 1-100, 1-100x5 (every fifth) or a list of these, 1,4,7-9";
constexpr uint32_t kLastFrame = 99'999'999;

struct Range {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t step = 1;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// Takes a number off the front of `text`; nothing where there is none, or one too large.
std::optional<uint32_t> takeNumber(std::string_view& text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > kLastFrame) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool takeLetter(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

/// Our own grammar, one item of the list.
std::optional<Range> parseItem(std::string_view text) {
  const std::optional<uint32_t> first = takeNumber(text);
  if (!first) return std::nullopt;
  Range range{*first, *first, 1};
  if (takeLetter(text, '-')) {
    const std::optional<uint32_t> last = takeNumber(text);
    if (!last) return std::nullopt;
    range.last = *last;
    if (takeLetter(text, 'x')) {
      const std::optional<uint32_t> step = takeNumber(text);
      if (!step) return std::nullopt;
      range.step = *step;
    }
  }
  return text.empty() ? std::optional(range) : std::nullopt;
}

/// Why an item is not ours: spelled as another program spells it, or nonsense.
Refusal explain(std::string_view item, std::string_view all) {
  static const std::regex foreign(
      R"(^(\d+)\s*(?:-|:|\.{2,3}=?|–|—|to)\s*(\d+)\s*(?:(?:x|X|:|/|@|%|\+|by|step)\s*(\d+))?$)");
  std::match_results<std::string_view::const_iterator> match;
  if (std::regex_match(item.begin(), item.end(), match, foreign)) {
    const std::string right = match[1].str() + "-" + match[2].str() + (match[3].matched ? "x" + match[3].str() : "");
    if (right != item) return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\" is written {} here", all, item, right);
  }
  if (!item.empty() && item.find_first_not_of("0123456789-x") == std::string_view::npos && item.front() == '-') {
    return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\": frames are numbered from 0; {}", all, item, kGrammar);
  }
  const bool digits = item.find_first_not_of("0123456789-x") == std::string_view::npos && item.size() > 8;
  if (digits) {
    return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\": the last frame there can be is {}; {}", all, item,
                  kLastFrame, kGrammar);
  }
  return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\" is not a frame or a range of frames; {}", all, item,
                kGrammar);
}

std::optional<Refusal> checkRange(const Range& range, std::string_view item, std::string_view all) {
  if (range.step == 0) {
    return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\": a step of 0 goes nowhere; every frame is {}-{}", all,
                  item, range.first, range.last);
  }
  if (range.last < range.first) {
    return refuse(ExitCode::WrongUsage, "--frames {}: \"{}\" ends before it begins; write {}-{}", all, item, range.last,
                  range.first);
  }
  return std::nullopt;
}

}  // namespace

Expected<std::vector<uint32_t>> parseFrames(std::string_view text) {
  std::vector<uint32_t> frames;
  std::string_view rest = text;
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    const std::optional<Range> range = parseItem(item);
    if (!range) return explain(item, text);
    if (std::optional<Refusal> refusal = checkRange(*range, item, text)) return *std::move(refusal);
    // Counted before they are made: a slip of a digit must not fill the memory.
    if (frames.size() + (range->last - range->first) / range->step + 1 > kMaxFrames) {
      return refuse(ExitCode::WrongUsage, "--frames {}: more than {} frames; split the range into several runs", text,
                    kMaxFrames);
    }
    for (uint32_t frame = range->first; frame <= range->last; frame += range->step) frames.push_back(frame);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::ranges::sort(frames);
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  return frames;
}

Expected<Format> formatOf(std::string_view path) {
  const size_t dot = path.find_last_of("./");
  std::string extension;
  if (dot != std::string_view::npos && path[dot] == '.' && dot > 0 && path[dot - 1] != '/') {
    for (const char c : path.substr(dot)) extension += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (extension == ".exr") return Format::Exr;
  if (extension == ".png") return Format::Png;
  return refuse(ExitCode::WrongUsage, "-o {}: the name must end in .exr (scene-linear) or .png (tone mapped)", path);
}

namespace {

struct Placeholder {
  size_t begin = 0;
  size_t end = 0;
  uint32_t digits = 0;
};

/// The `#...` or `%...d` that begins at or after `from`. A % that no letter follows is an ordinary character of a name.
std::optional<Expected<Placeholder>> findPlaceholder(std::string_view text, size_t from) {
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '#') {
      const size_t end = std::min(text.find_first_not_of('#', i), text.size());
      return Placeholder{i, end, static_cast<uint32_t>(end - i)};
    }
    if (text[i] != '%') continue;
    const size_t letter = text.find_first_not_of("0123456789", i + 1);
    if (letter == std::string_view::npos || !std::isalpha(static_cast<unsigned char>(text[letter]))) continue;
    const std::string_view width = text.substr(i + 1, letter - i - 1);
    if (text[letter] != 'd' || (!width.empty() && width.front() != '0') || width.size() > 3) {
      return refuse(ExitCode::WrongUsage, "-o {}: \"{}\" is no frame number; write #### or %04d", text,
                    text.substr(i, letter - i + 1));
    }
    uint32_t digits = 0;
    std::from_chars(width.data(), width.data() + width.size(), digits);
    return Placeholder{i, letter + 1, std::max(digits, 1u)};
  }
  return std::nullopt;
}

}  // namespace

Expected<OutputPattern> parsePattern(std::string_view text, size_t frameCount) {
  const Expected<Format> format = formatOf(text);
  if (!format) return format.refusal();
  OutputPattern pattern{std::string(text), "", 0, *format};
  const std::optional<Expected<Placeholder>> found = findPlaceholder(text, 0);
  if (!found) {
    if (frameCount <= 1) return pattern;
    return refuse(ExitCode::WrongUsage, "-o {}: {} frames need {} names; put #### or %04d where the frame number goes",
                  text, frameCount, frameCount);
  }
  if (!*found) return found->refusal();
  const Placeholder place = **found;
  if (findPlaceholder(text, place.end)) {
    return refuse(ExitCode::WrongUsage, "-o {}: more than one place for the frame number; keep one", text);
  }
  if (place.digits > 20) {
    return refuse(ExitCode::WrongUsage, "-o {}: {} digits for a frame number; 20 are enough", text, place.digits);
  }
  pattern.before = text.substr(0, place.begin);
  pattern.after = text.substr(place.end);
  pattern.digits = place.digits;
  return pattern;
}

std::string expandPattern(const OutputPattern& pattern, uint32_t frame) {
  if (!pattern.hasPlaceholder()) return pattern.before;
  return fmt::format("{}{:0{}}{}", pattern.before, frame, pattern.digits, pattern.after);
}

bool matchesFileName(const OutputPattern& pattern, std::string_view name) {
  const auto lastPart = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  if (!pattern.hasPlaceholder()) return name == lastPart(pattern.before);
  // The number stands in a folder's name: all frames have one file name.
  if (pattern.after.find('/') != std::string::npos) return name == lastPart(pattern.after);
  const std::string_view before = lastPart(pattern.before);
  if (name.size() < before.size() + pattern.digits + pattern.after.size()) return false;
  if (!name.starts_with(before) || !name.ends_with(pattern.after)) return false;
  name.remove_prefix(before.size());
  name.remove_suffix(pattern.after.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace tandem::output
