// Small glTF files for tests: a JSON document of one quad that tests change before it is written.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scene/gltf.h"

namespace tandem::scene::test {

using nlohmann::json;

/// A folder of its own for each test, gone at its end.
class GltfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / (std::string("tandem_") + info->test_suite_name() + "_" +
                                                        info->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  Expected<LoadedScene> load(const json& document, const LoadOptions& options = {}) const {
    return loadGltf(write("scene.gltf", document.dump()), options);
  }

  std::filesystem::path folder_;
};

inline std::string base64(const std::string& bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

template <class T>
std::string bytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Adds bytes as a buffer and a view of their own; returns the view's index.
inline size_t addView(json& document, const std::string& bytes) {
  document["buffers"].push_back(
      {{"byteLength", bytes.size()}, {"uri", "data:application/octet-stream;base64," + base64(bytes)}});
  document["bufferViews"].push_back({{"buffer", document["buffers"].size() - 1}, {"byteLength", bytes.size()}});
  return document["bufferViews"].size() - 1;
}

/// Adds an accessor over a view of its own; returns the accessor's index.
template <class T>
size_t addAccessor(json& document, const std::vector<T>& values, int componentType, const std::string& type,
                   size_t count) {
  const size_t view = addView(document, bytesOf(values));
  document["accessors"].push_back(
      {{"bufferView", view}, {"componentType", componentType}, {"type", type}, {"count", count}});
  return document["accessors"].size() - 1;
}

inline constexpr int kByte = 5120;
inline constexpr int kUnsignedByte = 5121;
inline constexpr int kUnsignedShort = 5123;
inline constexpr int kUnsignedInt = 5125;
inline constexpr int kFloat = 5126;

/// A unit quad in the XY plane, corners (0,0) (1,0) (1,1) (0,1), facing +Z: accessor 0 POSITION, accessor 1 indices,
/// material 0, mesh 0, node 0, scene 0.
inline json quadDocument() {
  json document;
  document["asset"] = {{"version", "2.0"}};
  addAccessor<float>(document, {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, kFloat, "VEC3", 4);
  addAccessor<uint16_t>(document, {0, 1, 2, 0, 2, 3}, kUnsignedShort, "SCALAR", 6);
  document["materials"] = json::array({{{"name", "paint"}}});
  document["meshes"] = json::array(
      {{{"name", "quad"},
        {"primitives", json::array({{{"attributes", {{"POSITION", 0}}}, {"indices", 1}, {"material", 0}}})}}});
  document["nodes"] = json::array({{{"name", "quad"}, {"mesh", 0}}});
  document["scenes"] = json::array({{{"nodes", json::array({0})}}});
  document["scene"] = 0;
  return document;
}

/// The quad's primitive.
inline json& primitive(json& document) { return document["meshes"][0]["primitives"][0]; }

/// A .glb file of a JSON text and a BIN chunk.
inline std::string glb(std::string text, std::string bin) {
  text.resize((text.size() + 3) / 4 * 4, ' ');
  bin.resize((bin.size() + 3) / 4 * 4, '\0');
  const auto word = [](size_t value) { return bytesOf<uint32_t>({static_cast<uint32_t>(value)}); };
  std::string body = word(text.size()) + "JSON" + text;
  if (!bin.empty()) body += word(bin.size()) + std::string("BIN\0", 4) + bin;
  return "glTF" + word(2) + word(12 + body.size()) + body;
}

/// Whether some line holds the words.
inline bool mentions(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

/// A PNG of 2 x 1 pixels, red then blue, 8-bit RGB, as base64.
inline constexpr char kRedBluePng[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg==";

}  // namespace tandem::scene::test
