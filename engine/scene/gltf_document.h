// One glTF file between its bytes and the Scene: private to the glTF loader (gltf*.cpp).
//   gltf_file      container (.gltf text, .glb chunks) and JSON           gltf_schema    types and indices of every
//   field that is read gltf_uri       data URIs and files beside the scene                   gltf_accessor  typed reads
//   from buffers gltf_mesh, gltf_material, gltf_nodes, gltf_animation                  the parts of a Scene
// Messages name the JSON path: `accessors[3].count`.
#pragma once

#include <tiny_gltf.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "scene/gltf.h"

namespace tandem::scene::gltf {

/// Text from a file as it may be printed: valid UTF-8 (control characters and broken bytes become '?'), long texts cut.
std::string printable(const std::string& text, size_t longest = 200);

/// The same for the file's own path, whose end matters.
inline std::string printable(const std::filesystem::path& path) { return printable(path.string(), 4096); }

/// What was met and is not drawn as meant: a count a kind, with the place where it was met first.
class Warnings {
 public:
  void add(const std::string& kind, const std::string& where);
  /// One line a kind, in the order in which the kinds were met.
  std::vector<std::string> lines() const;

 private:
  struct Entry {
    std::string kind;
    std::string where;
    size_t count = 0;
  };
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

/// Where an image's bytes are: in a buffer view, or behind a URI.
struct ImageSource {
  std::string name;
  std::string uri;
  int bufferView = -1;
};

/// A buffer's bytes: owned when they come from a URI, else those of the .glb file's BIN chunk.
struct BufferBytes {
  std::vector<uint8_t> owned;
  std::span<const uint8_t> bytes;
};

/// tinygltf fills `model` from the JSON without its buffers and images: their bytes are fetched here, under our own
/// checks. After loadDocument all indices in `model` are in range and all fields have their types.
struct Document {
  std::filesystem::path path;
  LoadOptions options;
  std::vector<uint8_t> file;
  std::vector<BufferBytes> buffers;
  std::vector<ImageSource> images;
  tinygltf::Model model;
  Warnings warnings;
  uint64_t unpackBudget = 0;  // bytes that compressed data may still become

  template <class... Args>
  Refusal no(fmt::format_string<Args...> format, Args&&... args) const {
    return Refusal{ExitCode::UnusableInput,
                   fmt::format("{}: {}", printable(path), fmt::format(format, std::forward<Args>(args)...))};
  }
};

/// Reads and checks everything up to, not including, the parts of the scene.
Expected<std::unique_ptr<Document>> loadDocument(const std::filesystem::path& path, const LoadOptions& options);

/// Replaces bytes that are no UTF-8 by '?'. Returns where the first one was; npos: there was none.
size_t replaceInvalidUtf8(std::string& text);

/// The bytes behind a URI: a data URI, or a file in the folder of the scene or below it (anywhere with
/// `options.allowExternal`). At most `limit` bytes are read. The refusal's message says why, without naming the scene.
Expected<std::vector<uint8_t>> readUri(const Document& document, const std::string& uri, uint64_t limit);

/// The whole of a regular file that is not a device, pipe or folder.
Expected<std::vector<uint8_t>> readRegularFile(const std::filesystem::path& path, uint64_t limit);

}  // namespace tandem::scene::gltf
