// Files that appear whole or not at all: written beside their place under another name, flushed, every step checked,
// then renamed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"

namespace tandem::output {

enum class Existing { Keep, Replace };  // what happens to a file that is there already

/// The system calls through which bytes reach the disk, as in POSIX (-1 and errno). Tests give their own and fail at
/// any byte.
struct FileOps {
  std::function<ssize_t(int file, const void* bytes, size_t count)> write;
  std::function<int(int file)> fsync;
  std::function<int(int file)> close;
  static const FileOps& system();
};

/// Writes `path` whole. Throws AdverseError naming file, reason and remedy, and leaves nothing behind: no partial file,
/// and with Existing::Keep no change to a file that is there. Thread-safe for different paths.
void writeWholeFile(const std::string& path, std::span<const std::byte> bytes, Existing existing,
                    const FileOps& ops = FileOps::system());

/// The file that a partial file was to become: `a.exr` of `a.exr.part123`. Nothing where `name` is no such name.
/// Partial files are left behind by a process that was killed.
std::optional<std::string_view> targetOfPartial(std::string_view name);

/// Asked before the work begins: makes the folder of `path` where it is missing, and tries whether a file can be made
/// in it. Refuses a folder that cannot be written (Failed) and, with Existing::Keep, a file that exists (WrongUsage).
/// Empty: all is well.
std::optional<Refusal> prepareTarget(const std::string& path, Existing existing);

}  // namespace tandem::output
