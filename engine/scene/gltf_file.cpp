#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scene/gltf_document.h"
#include "scene/gltf_extensions.h"
#include "scene/gltf_schema.h"

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

constexpr uint64_t kMaxFile = uint64_t{1} << 32;  // a .glb's length field has 32 bits
constexpr size_t kMaxJson = size_t{1} << 30;
constexpr int kMaxDepth = 256;  // tinygltf and the JSON library recurse once a level
constexpr size_t kGlbHeader = 12;
constexpr size_t kChunkHeader = 8;

uint32_t littleEndian32(const std::vector<uint8_t>& bytes, size_t at) {
  return uint32_t{bytes[at]} | uint32_t{bytes[at + 1]} << 8 | uint32_t{bytes[at + 2]} << 16 |
         uint32_t{bytes[at + 3]} << 24;
}

/// The two parts of a file that matter: views into Document::file.
struct Parts {
  std::string_view json;
  std::optional<std::span<const uint8_t>> bin;
};

/// glTF 2.0 section 4.4, binary container.
Expected<Parts> splitGlb(Document& document) {
  const std::vector<uint8_t>& file = document.file;
  if (file.size() < kGlbHeader) return document.no("{} bytes are shorter than a GLB header", file.size());
  const uint32_t version = littleEndian32(file, 4);
  if (version != 2) return document.no("GLB container version {} is not supported; only version 2 is", version);
  const size_t length = littleEndian32(file, 8);
  if (length > file.size()) {
    return document.no("the GLB header's length is {}, but the file has {} bytes: truncated", length, file.size());
  }
  if (length < file.size())
    document.warnings.add("bytes after the length in the GLB header were ignored", "GLB header");
  Parts parts;
  size_t chunk = 0;
  for (size_t at = kGlbHeader; at < length; ++chunk) {
    if (length - at < kChunkHeader) return document.no("GLB chunk {} is cut off by the header's length", chunk);
    const size_t size = littleEndian32(file, at);
    const std::string_view type(reinterpret_cast<const char*>(&file[at + 4]), 4);
    at += kChunkHeader;
    if (size > length - at) {
      return document.no("GLB chunk {} has length {}, but {} bytes are left of the header's length", chunk, size,
                         length - at);
    }
    if (chunk == 0 && type != "JSON") return document.no("the first GLB chunk is not JSON");
    if (chunk == 0) parts.json = std::string_view(reinterpret_cast<const char*>(file.data()) + at, size);
    if (chunk == 1 && type == std::string_view("BIN\0", 4)) parts.bin = std::span(file.data() + at, size);
    at += size;
  }
  if (chunk == 0) return document.no("the GLB file has no JSON chunk");
  return parts;
}

Expected<Parts> splitFile(Document& document) {
  const std::vector<uint8_t>& file = document.file;
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.empty()) return document.no("the file is empty");
  if (text.starts_with("glTF")) return splitGlb(document);
  if (text.starts_with("\xef\xbb\xbf")) {
    document.warnings.add("a BOM (byte order mark), which glTF forbids, was passed over", "first bytes");
    text.remove_prefix(3);
  }
  const bool looksLikeJson = text.find_first_not_of(" \t\r\n") == text.find('{') && text.find('{') != text.npos;
  if (document.path.extension() == ".glb" && !looksLikeJson) {
    return document.no("is not a GLB file: its magic is not 'glTF'");
  }
  return Parts{text, std::nullopt};
}

/// Whether brackets nest deeper than the parsers behind can bear. Brackets in strings do not count.
bool nestsTooDeep(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') ++i;
      if (c == '"') inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

/// The text just before a place, to find it by.
std::string before(std::string_view text, size_t at) {
  constexpr size_t kShown = 60;
  at = std::min(at, text.size());
  const size_t from = at > kShown ? at - kShown : 0;
  return printable(std::string(text.substr(from, at - from)));
}

Expected<json> parseJson(Document& document, std::string_view bytes) {
  std::string text(bytes);
  if (const size_t at = replaceInvalidUtf8(text); at != text.npos) {
    document.warnings.add("text that is not UTF-8: '?' was put in its place", fmt::format("byte {}", at));
  }
  if (text.size() > kMaxJson) return document.no("the JSON has {} bytes; at most {} are read", text.size(), kMaxJson);
  if (nestsTooDeep(text)) return document.no("the JSON is nested deeper than {} levels", kMaxDepth);
  try {
    json root = json::parse(text);
    if (!root.is_object()) return document.no("the JSON root is not an object");
    return root;
  } catch (const json::parse_error& error) {
    return document.no("not valid JSON at byte {}, after '{}'", error.byte, before(text, error.byte));
  } catch (const json::exception& error) {
    // A number that overflows; the message quotes it.
    const std::string what = error.what();
    const size_t quote = what.find('\'');
    const size_t at = quote == what.npos ? 0 : text.find(what.substr(quote + 1, what.rfind('\'') - quote - 1));
    return document.no("not valid JSON: {}, after '{}'", printable(what), before(text, at));
  }
}

std::optional<Refusal> checkVersion(const Document& document, const json& root) {
  const auto version = root["asset"]["version"].get<std::string>();
  if (!version.starts_with("2.")) {
    return document.no("asset.version: glTF version '{}' is not supported; only 2.x is", printable(version));
  }
  const auto minVersion = root["asset"].value("minVersion", std::string("2.0"));
  if (minVersion != "2.0") {
    return document.no("asset.minVersion: the file asks for glTF {}; only 2.0 is supported", printable(minVersion));
  }
  return std::nullopt;
}

std::optional<Refusal> readBuffers(Document& document, const json& root, std::optional<std::span<const uint8_t>> bin) {
  const json& buffers = arrayOf(root, "buffers");
  document.buffers.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (isFallback(buffers[i])) continue;
    BufferBytes& buffer = document.buffers[i];
    const auto length = buffers[i]["byteLength"].get<uint64_t>();
    if (length == 0) return document.no("buffers[{}].byteLength: must be at least 1", i);
    if (buffers[i].contains("uri")) {
      auto bytes = readUri(document, buffers[i]["uri"].get<std::string>(), length);
      if (!bytes) return document.no("buffers[{}].uri: {}", i, bytes.refusal().message);
      buffer.owned = std::move(*bytes);
      buffer.bytes = buffer.owned;
    } else if (i == 0 && bin) {
      buffer.bytes = *bin;
    } else {
      return document.no("buffers[{}]: has no uri, and the file has no BIN chunk for it", i);
    }
    if (buffer.bytes.size() < length) {
      std::string source = buffers[i].value("uri", std::string("the BIN chunk"));
      if (source.starts_with("data:")) source = "the data URI";
      return document.no("buffers[{}].byteLength: is {}, but {} holds {} bytes", i, length, printable(source),
                         buffer.bytes.size());
    }
    buffer.bytes = buffer.bytes.first(length);
  }
  return std::nullopt;
}

std::optional<Refusal> checkViews(const Document& document, const json& root) {
  const json& views = arrayOf(root, "bufferViews");
  for (size_t i = 0; i < views.size(); ++i) {
    const auto offset = views[i].value("byteOffset", uint64_t{0});
    const auto length = views[i]["byteLength"].get<uint64_t>();
    const auto buffer = views[i]["buffer"].get<size_t>();
    const uint64_t size = document.buffers[buffer].bytes.size();
    if (offset > size || length > size - offset) {
      return document.no(
          "bufferViews[{}]: byteOffset {} + byteLength {} pass the end of buffers[{}], which has {} bytes", i, offset,
          length, buffer, size);
    }
    const auto stride = views[i].value("byteStride", uint64_t{4});
    if (stride < 4 || stride > 252 || stride % 4 != 0) {
      return document.no("bufferViews[{}].byteStride: {} is not a multiple of 4 from 4 to 252", i, stride);
    }
  }
  return std::nullopt;
}

/// What tinygltf's model does not tell any more.
void noteOddities(Document& document, const json& root) {
  const json& nodes = arrayOf(root, "nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    const json& node = nodes[i];
    if (node.contains("matrix") &&
        (node.contains("translation") || node.contains("rotation") || node.contains("scale")))
      document.warnings.add("a node's matrix stands beside translation, rotation or scale: the matrix was used",
                            fmt::format("nodes[{}].matrix", i));
  }
  const json& cameras = arrayOf(root, "cameras");
  for (size_t i = 0; i < cameras.size(); ++i) {
    if (cameras[i].contains("perspective") && cameras[i]["perspective"].value("aspectRatio", 1.0) <= 0.0) {
      document.warnings.add("a camera's aspectRatio is not above 0: it was ignored", fmt::format("cameras[{}]", i));
    }
  }
  const json::json_pointer lightsPath("/extensions/KHR_lights_punctual/lights");
  if (!root.contains(lightsPath)) return;
  for (size_t i = 0; i < root[lightsPath].size(); ++i) {
    if (root[lightsPath][i].value("range", 1.0) <= 0.0) {
      document.warnings.add("a light's range must be above 0: it was taken as unlimited",
                            fmt::format("lights[{}].range", i));
    }
  }
}

/// The indices fields of all primitives, taken out of the JSON: tinygltf refuses index accessors that are sparse alone.
std::vector<int> takeIndices(json& root) {
  std::vector<int> indices;
  if (!root.contains("meshes")) return indices;
  for (json& mesh : root["meshes"]) {
    for (json& primitive : mesh["primitives"]) {
      indices.push_back(primitive.value("indices", -1));
      primitive.erase("indices");
    }
  }
  return indices;
}

/// tinygltf gets everything but buffers and images, so it opens no file and decodes nothing.
std::optional<Refusal> fillModel(Document& document, json&& root) {
  const json& images = arrayOf(root, "images");
  for (const json& image : images) {
    document.images.push_back(
        {printable(image.value("name", "")), image.value("uri", ""), image.value("bufferView", -1)});
  }
  for (const char* key : {"buffers", "images", "extras"}) root.erase(key);
  const std::vector<int> indices = takeIndices(root);
  const std::string text = root.dump();
  std::string errors;
  std::string notes;
  tinygltf::TinyGLTF parser;
  const bool parsed =
      parser.LoadASCIIFromString(&document.model, &errors, &notes, text.data(), static_cast<unsigned>(text.size()), "");
  if (!parsed) return document.no("not valid glTF: {}", printable(errors));
  auto next = indices.begin();
  for (tinygltf::Mesh& mesh : document.model.meshes) {
    for (tinygltf::Primitive& primitive : mesh.primitives) primitive.indices = *next++;
  }
  return std::nullopt;
}

}  // namespace

void Warnings::add(const std::string& kind, const std::string& where) {
  const auto [entry, isNew] = index_.try_emplace(kind, entries_.size());
  if (isNew) entries_.push_back({kind, where, 0});
  ++entries_[entry->second].count;
}

std::vector<std::string> Warnings::lines() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    lines.push_back(entry.count == 1 ? fmt::format("{} ({})", entry.kind, entry.where)
                                     : fmt::format("{} ({} times, first: {})", entry.kind, entry.count, entry.where));
  }
  return lines;
}

Expected<std::unique_ptr<Document>> loadDocument(const std::filesystem::path& path, const LoadOptions& options) {
  auto document = std::make_unique<Document>();
  document->path = path;
  document->options = options;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxFile) return document->no("has {} bytes; at most {} are read", size, kMaxFile);
  auto bytes = readRegularFile(path, kMaxFile);
  if (!bytes) return document->no("{}", bytes.refusal().message);
  document->file = std::move(*bytes);
  const auto parts = splitFile(*document);
  if (!parts) return parts.refusal();
  auto root = parseJson(*document, parts->json);
  if (!root) return root.refusal();

  if (auto problem = findSchemaError(*root)) return document->no("{}", *problem);
  if (auto refusal = checkVersion(*document, *root)) return *refusal;
  if (auto refusal = checkExtensions(*document, *root)) return *refusal;
  if (auto refusal = readBuffers(*document, *root, parts->bin)) return *refusal;
  setUnpackBudget(*document);
  if (auto refusal = expandMeshopt(*document, *root)) return *refusal;
  if (auto refusal = checkViews(*document, *root)) return *refusal;
  if (auto refusal = expandDraco(*document, *root)) return *refusal;
  noteOddities(*document, *root);
  if (auto refusal = fillModel(*document, std::move(*root))) return *refusal;
  return document;
}

}  // namespace tandem::scene::gltf
