#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "scene/gltf_document.h"

namespace tandem::scene::gltf {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAllow = "--allow-external lifts this for files that you trust";

Refusal no(std::string why) { return Refusal{ExitCode::UnusableInput, std::move(why)}; }

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Percent-decoding, RFC 3986 section 2.1. A '%' that begins no escape stands for itself, as many exporters write it.
std::string percentDecode(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? hexDigit(text[i + 2]) : -1;
    if (low < 0) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

/// RFC 4648 section 4. White space is passed over, padding may be left out.
Expected<std::vector<uint8_t>> base64Decode(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> value;
  value.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) value[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int held = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const int digit = value[static_cast<uint8_t>(c)];
    if (digit < 0) return no("the data URI holds characters that are not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<uint8_t>(bits >> held));
    }
  }
  return bytes;
}

/// data:[<media type>][;base64],<data> (RFC 2397).
Expected<std::vector<uint8_t>> decodeDataUri(const std::string& uri) {
  const size_t comma = uri.find(',');
  if (comma == std::string::npos) return no("the data URI has no comma before its data");
  const std::string_view head = std::string_view(uri).substr(0, comma);
  if (head.ends_with(";base64")) return base64Decode(std::string_view(uri).substr(comma + 1));
  const std::string text = percentDecode(uri.substr(comma + 1));
  return std::vector<uint8_t>(text.begin(), text.end());
}

bool hasScheme(const std::string& uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string::npos || colon == 0 || !std::isalpha(static_cast<unsigned char>(uri[0]))) return false;
  return std::all_of(uri.begin(), uri.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
  });
}

/// Whether a file, with all links followed, is in a folder or below it.
bool isInside(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path top = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path real = fs::weakly_canonical(file, error);
  return !error && std::mismatch(top.begin(), top.end(), real.begin(), real.end()).first == top.end();
}

/// Where a relative URI leads, inside the scene's folder. What leaves it could be any file of the machine.
Expected<fs::path> resolve(const Document& document, const std::string& uri) {
  const std::string shown = printable(uri);
  if (uri.empty()) return no("the uri is empty");
  if (hasScheme(uri)) {
    return no(fmt::format("uri '{}' has a scheme; only data: URIs and files beside the scene are read", shown));
  }
  const std::string name = percentDecode(uri);
  if (name.find('\0') != std::string::npos) return no(fmt::format("uri '{}' holds a zero byte", shown));
  const fs::path folder = document.path.parent_path();
  const fs::path relative = fs::path(name).lexically_normal();
  if (document.options.allowExternal) return folder / relative;
  if (relative.is_absolute()) {
    return no(fmt::format("uri '{}' is an absolute path; only files beside the scene are read ({})", shown, kAllow));
  }
  if (relative.empty() || *relative.begin() == ".." || !isInside(folder / relative, folder)) {
    return no(
        fmt::format("uri '{}' leaves the scene's folder; only files in it or below it are read ({})", shown, kAllow));
  }
  return folder / relative;
}

}  // namespace

Expected<std::vector<uint8_t>> readRegularFile(const fs::path& path, uint64_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return no("no such file");
  if (status.type() == fs::file_type::directory) return no("is a directory, not a file");
  if (status.type() == fs::file_type::none) return no(fmt::format("cannot be looked at: {}", error.message()));
  // Devices and pipes may never end.
  if (status.type() != fs::file_type::regular) return no("is not a regular file");
  const uint64_t size = fs::file_size(path, error);
  if (error) return no(fmt::format("its size cannot be read: {}", error.message()));
  std::vector<uint8_t> bytes(std::min(size, limit));
  std::ifstream file(path, std::ios::binary);
  if (!file) return no("cannot be opened; check its permissions");
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) return no("cannot be read to its end");
  return bytes;
}

Expected<std::vector<uint8_t>> readUri(const Document& document, const std::string& uri, uint64_t limit) {
  if (uri.starts_with("data:")) return decodeDataUri(uri);
  const auto path = resolve(document, uri);
  if (!path) return path.refusal();
  auto bytes = readRegularFile(*path, limit);
  if (!bytes) return no(fmt::format("file '{}': {}", printable(uri), bytes.refusal().message));
  return bytes;
}

}  // namespace tandem::scene::gltf
