// The manifest of a sequence: JSON lines beside its frames that say how each was made, for --resume; and the lock that
// keeps two captures out of each other's files.
//
// One for each -o, named after it: `shots/a.####.exr` and `shots/a.%d.exr` have `shots/.a.#.exr.tandem.jsonl`,
// `shots/a.exr` has `shots/.a.exr.tandem.jsonl`. Where the number stands in a folder's name, `take_##/b.exr`, the
// manifest lies beside these folders: `.take_#+b.exr.tandem.jsonl`.
//
// A line: {"frame": 12, "file": "a.0012.exr", "status": "done", "bytes": 1802, "hash": {"linear": "...", "ldr": "..."},
// "settings": "...", "seconds": 0.5, "device": "..."}. `file` is relative to the manifest's folder, `settings` is
// fingerprint.h's. Status: done; failed, with a "message"; begun: a file that has a line is about to be replaced. The
// last line of a file counts. Lines are appended by one write each and flushed, so a crash tears at most the last one,
// which has no line end and is ignored.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/check.h"
#include "output/sequence.h"

namespace tandem::jobs {

enum class FrameStatus { Done, Failed, Begun };

/// One line. Of a frame that is not done only frame, file, status, settings and message mean anything.
struct ManifestEntry {
  uint32_t frame = 0;
  std::string file;
  FrameStatus status = FrameStatus::Done;
  uint64_t bytes = 0;  // of the file
  uint64_t linearHash = 0;
  uint64_t ldrHash = 0;
  std::string settings;
  double seconds = 0.0;
  std::string device;
  std::string message;
};

/// Where the manifest of a pattern lies.
std::string manifestPath(const output::OutputPattern& pattern);

/// One line with its end; and its reading, nothing where it is no such line.
std::string manifestLine(const ManifestEntry& entry);
std::optional<ManifestEntry> readManifestLine(std::string_view line);

/// An open manifest holds its lock; the lock ends with the object, or with the process, however that ends.
class Manifest {
 public:
  explicit Manifest(const output::OutputPattern& pattern);
  ~Manifest();
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

  /// Opens, locks and reads the manifest where there is one, and changes nothing on disk but a torn last line. Refuses
  /// (WrongUsage) while another capture holds it, and (Failed) what cannot be opened.
  std::optional<Refusal> openExisting();
  /// The same, and makes a manifest where there is none. Its folder must be there.
  std::optional<Refusal> create();

  /// The last line of `file` (named as by output::expandPattern) when the manifest was opened; null: none. Any thread.
  const ManifestEntry* find(const std::string& file) const;
  /// Appends a line for `file`. Throws AdverseError, and then there is no part of it. Any thread.
  void append(const std::string& file, ManifestEntry entry);

 private:
  std::optional<Refusal> open(int flags);
  std::optional<Refusal> lock() const;
  void read();
  std::string relative(const std::string& file) const { return file.substr(folder_.size()); }

  std::string folder_;  // with its slash; empty: the working folder
  std::string path_;
  int file_ = -1;
  std::map<std::string, ManifestEntry> entries_;
  std::mutex appending_;
};

}  // namespace tandem::jobs
