#include "scene/gltf_document.h"

namespace tandem::scene::gltf {

namespace {

/// The length of the UTF-8 character at `at`; 0 if the bytes there are none (The Unicode Standard, table 3-7).
size_t characterAt(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0}; };
  const auto between = [](uint8_t value, uint8_t low, uint8_t high) { return value >= low && value <= high; };
  const auto trail = [&](size_t i) { return between(byte(i), 0x80, 0xbf); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (between(lead, 0xc2, 0xdf)) return trail(1) ? 2 : 0;
  if (between(lead, 0xe0, 0xef)) {
    const bool second = between(byte(1), lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && trail(2) ? 3 : 0;
  }
  if (between(lead, 0xf0, 0xf4)) {
    const bool second = between(byte(1), lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && trail(2) && trail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

size_t replaceInvalidUtf8(std::string& text) {
  size_t first = text.npos;
  for (size_t at = 0; at < text.size();) {
    const size_t length = characterAt(text, at);
    if (length == 0) {
      text[at] = '?';
      if (first == text.npos) first = at;
    }
    at += length == 0 ? 1 : length;
  }
  return first;
}

std::string printable(const std::string& text, size_t longest) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t length = characterAt(text, at);
    if (shown.size() + length > longest) return shown + "...";
    const auto byte = static_cast<uint8_t>(text[at]);
    // U+0080 to U+009F steer terminals too; in UTF-8 they are C2 80 to C2 9F.
    const bool control =
        byte < 0x20 || byte == 0x7f || (byte == 0xc2 && length == 2 && static_cast<uint8_t>(text[at + 1]) < 0xa0);
    if (length == 0 || control) {
      shown += '?';
    } else {
      shown += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return shown;
}

}  // namespace tandem::scene::gltf
