#include "jobs/manifest.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "jobs/pixel_hash.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

constexpr std::pair<FrameStatus, const char*> kStatusNames[] = {
    {FrameStatus::Done, "done"}, {FrameStatus::Failed, "failed"}, {FrameStatus::Begun, "begun"}};

/// Longer lines are not ours.
constexpr size_t kMaxLine = 64 * 1024;

/// File names may be any bytes; JSON is UTF-8. Names of one manifest that differ do so in their digits: none are lost.
std::string asText(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string folderOf(const output::OutputPattern& pattern) {
  return pattern.before.substr(0, pattern.before.rfind('/') + 1);
}

std::optional<uint64_t> readHash(const json& hash, const char* name) {
  const auto field = hash.find(name);
  if (field == hash.end() || !field->is_string()) return std::nullopt;
  const std::string& digits = field->get_ref<const std::string&>();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// What a line of a finished frame has besides.
bool readDone(const json& line, ManifestEntry& entry) {
  const auto bytes = line.find("bytes"), hash = line.find("hash");
  if (bytes == line.end() || !bytes->is_number_unsigned() || hash == line.end() || !hash->is_object()) return false;
  const auto linear = readHash(*hash, "linear"), ldr = readHash(*hash, "ldr");
  if (!linear || !ldr) return false;
  entry.bytes = bytes->get<uint64_t>();
  entry.linearHash = *linear;
  entry.ldrHash = *ldr;
  return true;
}

}  // namespace

std::string manifestPath(const output::OutputPattern& pattern) {
  const std::string folder = folderOf(pattern);
  std::string name = pattern.before.substr(folder.size()) + (pattern.hasPlaceholder() ? "#" : "") + pattern.after;
  std::ranges::replace(name, '/', '+');
  return folder + "." + name + ".tandem.jsonl";
}

std::string manifestLine(const ManifestEntry& entry) {
  const auto status = std::ranges::find(kStatusNames, entry.status, &std::pair<FrameStatus, const char*>::first);
  json line = {{"frame", entry.frame}, {"file", entry.file}, {"status", status->second}};
  if (entry.status == FrameStatus::Done) {
    line["bytes"] = entry.bytes;
    line["hash"] = {{"linear", hashText(entry.linearHash)}, {"ldr", hashText(entry.ldrHash)}};
  }
  line["settings"] = entry.settings;
  if (entry.status == FrameStatus::Done) {
    line["seconds"] = entry.seconds;
    line["device"] = entry.device;
  }
  if (!entry.message.empty()) line["message"] = entry.message;
  return asText(line) + "\n";
}

std::optional<ManifestEntry> readManifestLine(std::string_view text) {
  if (text.size() > kMaxLine) return std::nullopt;
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  const auto frame = line.find("frame"), file = line.find("file"), status = line.find("status"),
             settings = line.find("settings");
  if (frame == line.end() || !frame->is_number_unsigned() || frame->get<uint64_t>() > UINT32_MAX) return std::nullopt;
  for (const auto& field : {file, status, settings}) {
    if (field == line.end() || !field->is_string()) return std::nullopt;
  }
  ManifestEntry entry;
  entry.frame = frame->get<uint32_t>();
  entry.file = file->get<std::string>();
  entry.settings = settings->get<std::string>();
  const auto name = std::ranges::find_if(
      kStatusNames, [&](const auto& known) { return status->get_ref<const std::string&>() == known.second; });
  if (name == std::end(kStatusNames)) return std::nullopt;
  entry.status = name->first;
  if (entry.status == FrameStatus::Done && !readDone(line, entry)) return std::nullopt;
  return entry;
}

Manifest::Manifest(const output::OutputPattern& pattern) : folder_(folderOf(pattern)), path_(manifestPath(pattern)) {}

Manifest::~Manifest() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Refusal> Manifest::openExisting() { return file_ >= 0 ? std::nullopt : open(0); }

std::optional<Refusal> Manifest::create() { return file_ >= 0 ? std::nullopt : open(O_CREAT); }

std::optional<Refusal> Manifest::open(int flags) {
  // Non-blocking: a pipe of that name must not hold us up.
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0666);
  if (file_ < 0) {
    if (flags == 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    return refuse(ExitCode::Failed, "cannot open {}, the record of the frames: {}; check it and its folder", path_,
                  std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return refuse(ExitCode::Failed, "{} is no file, but the record of the frames has this name; remove it", path_);
  }
  if (auto refusal = lock()) return refusal;
  read();
  return std::nullopt;
}

std::optional<Refusal> Manifest::lock() const {
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return std::nullopt;
  if (errno == EWOULDBLOCK) {
    return refuse(ExitCode::WrongUsage,
                  "another capture is writing these frames into {} now (it holds {}); wait until it ends, or choose "
                  "another folder or name with -o",
                  folder_.empty() ? "this folder" : folder_, path_);
  }
  log::warn("{}: this disk has no locks ({}); do not start a second capture with the same -o", path_,
            std::strerror(errno));
  return std::nullopt;
}

void Manifest::read() {
  std::string text;
  char bytes[64 * 1024];
  ssize_t count = 0;
  while ((count = ::read(file_, bytes, sizeof(bytes))) != 0) {
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) {
      throw adverse("cannot read {}: {}; check the disk, or remove that file to render all frames again", path_,
                    std::strerror(errno));
    }
  }
  const size_t whole = text.rfind('\n') + 1;  // 0 where there is none
  if (whole < text.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    throw adverse("cannot cut the torn last line of {}: {}; check the disk", path_, std::strerror(errno));
  }
  for (size_t begin = 0; begin < whole;) {
    const size_t end = text.find('\n', begin);
    std::optional<ManifestEntry> entry = readManifestLine(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (!entry) continue;
    std::string key = asText(entry->file);
    entries_[std::move(key)] = *std::move(entry);
  }
}

const ManifestEntry* Manifest::find(const std::string& file) const {
  const auto entry = entries_.find(asText(relative(file)));
  return entry == entries_.end() ? nullptr : &entry->second;
}

void Manifest::append(const std::string& file, ManifestEntry entry) {
  entry.file = relative(file);
  const std::string line = manifestLine(entry);
  const std::lock_guard guard(appending_);
  const off_t before = ::lseek(file_, 0, SEEK_END);
  const ssize_t count = ::write(file_, line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size()) && ::fsync(file_) == 0) return;
  const int error = count >= 0 && count < static_cast<ssize_t>(line.size()) ? ENOSPC : errno;
  if (count > 0 && ::ftruncate(file_, before) != 0) log::warn("{}: its last line is torn", path_);
  throw adverse("cannot write {}: {}; free some space on that disk, then go on with --resume", path_,
                std::strerror(error));
}

}  // namespace tandem::jobs
