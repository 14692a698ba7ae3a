#include "output/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tandem::output {

namespace {

constexpr std::string_view kPart = ".part";

std::string partName(const std::string& path) { return fmt::format("{}{}{}", path, kPart, ::getpid()); }

const char* remedyFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that disk or write to another, then go on with --resume";
    case EFBIG:
      return "the file is larger than the system allows (see `ulimit -f`); write to another disk or raise it";
    case EEXIST:
      return "add --overwrite to replace it, or --resume to keep it";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOENT:
    case ENOTDIR:
      return "make its folder first, or choose another";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "check the disk, then try again";
  }
}

AdverseError failure(const std::string& path, const char* step, int error) {
  return adverse("cannot write {}: {} failed: {}; {}", path, step, std::strerror(error), remedyFor(error));
}

/// Owner of the partial file: closes and removes it unless it was moved to its place.
class PartialFile {
 public:
  PartialFile(std::string path, const FileOps& ops) : path_(std::move(path)), part_(partName(path_)), ops_(ops) {
    file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) throw failure(path_, "open", errno);
  }
  ~PartialFile() {
    if (file_ >= 0) ops_.close(file_);
    if (!part_.empty()) ::unlink(part_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ops_.write(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      // A write of 0 bytes would go on for ever; no disk explains it but a full one.
      if (count <= 0) throw failure(path_, "write", count < 0 ? errno : ENOSPC);
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }

  void finish() {
    if (ops_.fsync(file_) != 0) throw failure(path_, "fsync", errno);
    const int file = std::exchange(file_, -1);
    if (ops_.close(file) != 0) throw failure(path_, "close", errno);
  }

  void moveIntoPlace(Existing existing) {
    if (existing == Existing::Replace) {
      if (::rename(part_.c_str(), path_.c_str()) != 0) throw failure(path_, "rename", errno);
    } else if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno != EINVAL && errno != ENOSYS) throw failure(path_, "rename", errno);
      // File systems without RENAME_NOREPLACE: a hard link is refused where the name is taken; the partial name goes
      // with the object.
      if (::link(part_.c_str(), path_.c_str()) != 0) throw failure(path_, "link", errno);
      return;
    }
    part_.clear();
  }

 private:
  std::string path_, part_;
  const FileOps& ops_;
  int file_ = -1;
};

}  // namespace

const FileOps& FileOps::system() {
  static const FileOps ops{::write, ::fsync, ::close};
  return ops;
}

void writeWholeFile(const std::string& path, std::span<const std::byte> bytes, Existing existing, const FileOps& ops) {
  PartialFile file(path, ops);
  file.write(bytes);
  file.finish();
  file.moveIntoPlace(existing);
}

std::optional<std::string_view> targetOfPartial(std::string_view name) {
  const size_t part = name.rfind(kPart);
  if (part == std::string_view::npos || part == 0) return std::nullopt;
  const std::string_view process = name.substr(part + kPart.size());
  const bool number = !process.empty() && process.find_first_not_of("0123456789") == std::string_view::npos;
  return number ? std::optional(name.substr(0, part)) : std::nullopt;
}

std::optional<Refusal> prepareTarget(const std::string& path, Existing existing) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return refuse(ExitCode::WrongUsage, "{} is a folder; name a file in it", path);
    if (existing == Existing::Keep) return refuse(ExitCode::WrongUsage, "{} exists; {}", path, remedyFor(EEXIST));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    return refuse(ExitCode::Failed, "cannot make the folder {}: {}; {}", folder.string(), error.message(),
                  remedyFor(error.value()));
  }
  try {
    PartialFile probe(path, FileOps::system());
  } catch (const AdverseError& unwritable) {
    return Refusal{ExitCode::Failed, unwritable.what()};
  }
  return std::nullopt;
}

}  // namespace tandem::output
