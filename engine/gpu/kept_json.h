// A small JSON file in the cache folder that maps keys to what was once measured: {"schema": 1, "pairs": {key: value}}.
// A file that is no such file of ours is ignored, with a line in the debug log, and rewritten; one that cannot be
// written costs a line in the debug log and no more. Several processes may use one file: it appears whole or not at
// all, and of two that write at once one's entry is lost.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace tandem::gpu {

class KeptJson {
 public:
  /// `folder`: cacheFolder(); empty: nothing is kept. `member`: what the map is called in the file.
  KeptJson(const std::filesystem::path& folder, const std::string& name, std::string member)
      : file_(folder.empty() ? folder : folder / name), member_(std::move(member)) {}

  std::optional<nlohmann::ordered_json> find(const std::string& key) const;
  void store(const std::string& key, const nlohmann::ordered_json& value) const;
  const std::filesystem::path& file() const { return file_; }  // empty: nothing is kept

 private:
  nlohmann::ordered_json read() const;

  std::filesystem::path file_;
  std::string member_;
};

}  // namespace tandem::gpu
