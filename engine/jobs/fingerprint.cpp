#include "jobs/fingerprint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "jobs/load_scene.h"
#include "jobs/pixel_hash.h"
#include "jobs/version.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

/// Of a file's bytes, a block at a time.
std::string contentHash(const fs::path& path) {
  std::error_code ignored;
  std::ifstream file;
  if (fs::is_regular_file(path, ignored)) file.open(path, std::ios::binary);
  if (!file.is_open()) return "missing";
  std::vector<char> block(size_t{1} << 20);
  std::vector<uint64_t> hashes;
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    hashes.push_back(pixelHash(std::as_bytes(std::span(block).first(static_cast<size_t>(file.gcount())))));
  }
  return hashText(pixelHash(std::as_bytes(std::span(hashes))));
}

/// The JSON of a .gltf, or of a .glb's first chunk (glTF 2.0, section 4.4).
nlohmann::json readDocument(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char head[20] = {};
  file.read(head, sizeof(head));
  std::string text;
  if (file && std::memcmp(head, "glTF", 4) == 0) {
    uint32_t size = 0;
    std::memcpy(&size, head + 12, sizeof(size));
    std::error_code ignored;
    text.resize(std::min<uintmax_t>(size, fs::file_size(path, ignored)));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
  } else {
    file.clear();
    file.seekg(0);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  return nlohmann::json::parse(text, nullptr, false);
}

/// RFC 3986, section 2.1; what is no escape stays.
std::string percentDecoded(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    unsigned char byte = 0;
    const bool escape = text.front() == '%' && text.size() >= 3 &&
                        std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr == text.data() + 3;
    decoded += escape ? static_cast<char>(byte) : text.front();
    text.remove_prefix(escape ? 3 : 1);
  }
  return decoded;
}

/// The contents of the files that a scene's buffers and images name.
json namedFiles(const fs::path& scene) {
  json files = json::array();
  const nlohmann::json document = readDocument(scene);
  if (!document.is_object()) return files;
  for (const char* list : {"buffers", "images"}) {
    const auto items = document.find(list);
    if (items == document.end() || !items->is_array()) continue;
    for (const nlohmann::json& item : *items) {
      const auto uri = item.is_object() ? item.find("uri") : item.end();
      if (uri == item.end() || !uri->is_string()) continue;
      const std::string& text = uri->get_ref<const std::string&>();
      if (text.starts_with("data:")) continue;
      files.push_back(contentHash(scene.parent_path() / percentDecoded(text)));
    }
  }
  return files;
}

json sceneJson(const CaptureSettings& settings) {
  if (isBuiltin(settings.scene)) return settings.scene;
  return {contentHash(settings.scene), namedFiles(settings.scene), settings.load.scene, settings.load.allowExternal};
}

json vectorJson(const std::optional<vec3>& vector) { return vector ? json{vector->x, vector->y, vector->z} : json(); }

json cameraJson(const scene::CameraRequest& camera) {
  return {{"name", camera.name},
          {"eye", vectorJson(camera.eye)},
          {"target", vectorJson(camera.target)},
          {"up", vectorJson(camera.up)},
          {"yfov", camera.yfovDegrees ? json(*camera.yfovDegrees) : json()}};
}

json pictureJson(const frame::PictureSettings& picture, uint32_t samples) {
  json aovs = json::array();
  for (const frame::Aov aov : picture.aovs) aovs.push_back(frame::aovName(aov));
  return {{"size", {picture.size.width, picture.size.height}},
          {"samples", samples},
          {"bounces", picture.bounces},
          {"seed", picture.seed},
          {"tone", static_cast<int>(picture.tone)},
          {"ev", picture.ev ? json(*picture.ev) : json()},
          {"motionBlur", picture.motionBlur},
          {"aovs", aovs}};
}

}  // namespace

std::string settingsFingerprint(const CaptureSettings& settings, uint32_t samples) {
  const FrameTimes& times = settings.times;
  const json all = {{"version", kVersion},
                    {"tracer", settings.machine.tracer == frame::Tracer::Rt ? "rt" : "compute"},
                    {"scene", sceneJson(settings)},
                    {"environment", settings.environment.empty() ? json() : json(contentHash(settings.environment))},
                    {"picture", pictureJson(settings.picture, samples)},
                    {"camera", cameraJson(settings.camera)},
                    {"times", {times.rate.numerator, times.rate.denominator, times.start, times.shutterDegrees}}};
  const std::string text = all.dump(-1, ' ', false, json::error_handler_t::replace);
  return hashText(pixelHash(std::as_bytes(std::span(text))));
}

}  // namespace tandem::jobs
