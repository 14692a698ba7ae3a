// The manifests of one run, one for each -o: what is known of the frames of before, and the lines of those that are
// written now.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/manifest.h"

namespace tandem::jobs {

struct FrameJob;      // frame_writer.h
struct WrittenFrame;  // frame_writer.h
struct Target;        // targets.h

class FrameLog {
 public:
  explicit FrameLog(const std::vector<output::OutputPattern>& patterns);

  /// Locks and reads the manifests that are there; makes the missing ones. Refuse as Manifest does.
  std::optional<Refusal> openExisting();
  std::optional<Refusal> create();

  /// What new lines say: fingerprint.h, and the GPUs that render.
  void describe(std::string settings, std::string device);

  /// The last line of the `index`-th file of a frame; null: none.
  const ManifestEntry* find(const Target& target, size_t index) const;

  /// Before the files of a frame are touched: lines of before count no more. Throws AdverseError. Any thread.
  void begin(const FrameJob& job);
  /// All files are in place. Throws AdverseError. Any thread.
  void done(const FrameJob& job, const WrittenFrame& written);
  /// As far as it can be noted: a full disk may be why the frame failed. Any thread.
  void failed(const FrameJob& job, const std::string& message) noexcept;

 private:
  ManifestEntry entryOf(const FrameJob& job, FrameStatus status) const;

  std::vector<std::shared_ptr<Manifest>> manifests_;  // one a pattern; patterns that differ in digits alone share one
  std::map<std::string, size_t> order_;               // by path: locks are taken in one order by all runs
  std::string settings_;
  std::string device_;
};

}  // namespace tandem::jobs
