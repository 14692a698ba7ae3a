#include "gpu/kept_json.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace tandem::gpu {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;

/// Beside its place, then renamed: a reader sees the old file or the new one.
void writeWhole(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path part = file.string() + ".part" + std::to_string(::getpid());
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    std::filesystem::remove(part, error);
    log::debug("{} was not written", file.string());
  }
}

}  // namespace

/// The whole document, or an empty one of ours.
json KeptJson::read() const {
  const json empty = {{"schema", kSchema}, {member_, json::object()}};
  std::ifstream in(file_, std::ios::binary);
  if (!in) return empty;
  const json document = json::parse(in, nullptr, false);
  const bool ours = document.is_object() && document.value("schema", json()) == kSchema && document.contains(member_) &&
                    document[member_].is_object();
  if (ours) return document;
  log::debug("{} is no file of this version; it is ignored and will be rewritten", file_.string());
  return empty;
}

std::optional<json> KeptJson::find(const std::string& key) const {
  if (file_.empty()) return std::nullopt;
  const json document = read();
  const auto entry = document[member_].find(key);
  if (entry == document[member_].end()) return std::nullopt;
  return *entry;
}

void KeptJson::store(const std::string& key, const json& value) const {
  if (file_.empty()) return;
  json document = read();
  document[member_][key] = value;
  writeWhole(file_, document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace tandem::gpu
