// What is in the files that the program leaves, and in what it says.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

using nlohmann::json;

inline bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// PNG 1.2: the signature begins and the IEND chunk ends a whole file.
inline bool isWholePng(const std::string& bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.ends_with(std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

/// The bytes of a picture without the time of day at which it was written (OpenEXR's attribute capDate).
inline std::string timeless(std::string bytes) {
  constexpr std::string_view kName("capDate\0string\0", 15);
  constexpr size_t kSize = 4, kDate = 19;  // its length, and YYYY:MM:DD hh:mm:ss
  const size_t at = bytes.find(kName);
  if (at != std::string::npos && at + kName.size() + kSize + kDate <= bytes.size())
    bytes.replace(at + kName.size() + kSize, kDate, kDate, ' ');
  return bytes;
}

/// The objects of a file of JSON lines.
inline std::vector<json> jsonLines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

inline bool isExr(const std::string& bytes) { return bytes.starts_with("\x76\x2f\x31\x01"); }

}  // namespace tandem::cli
