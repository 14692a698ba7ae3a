// Finished frames on their way to the disk, off the render thread: threads that hash, encode and write, behind a short
// queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "output/image_writer.h"

namespace tandem::jobs {

/// One finished frame with pixels of its own.
struct FrameJob {
  uint32_t frame = 0;
  std::vector<std::string> files;  // .exr or .png each
  Extent size;
  std::vector<shared::RadianceTexel> linear;
  std::vector<shared::LdrTexel> ldr;
  std::vector<shared::AlbedoTexel> albedo;  // each AOV empty unless asked for
  std::vector<shared::NormalTexel> normal;
  std::vector<shared::DepthTexel> depth;
  std::vector<shared::MotionTexel> motion;
  output::ExrMetadata metadata;
  double seconds = 0.0;  // that it took to render
};

/// The writing of one file, whether it succeeded or not. Nanoseconds of the steady clock.
struct FileTime {
  std::string file;
  uint32_t thread = 0;  // of the writer's, from 0
  uint64_t beginNs = 0, endNs = 0;
};

/// What became of it. `failure` names file, call and remedy; files before the one that failed are on disk.
struct WrittenFrame {
  uint32_t frame = 0;
  uint64_t linearHash = 0;
  uint64_t ldrHash = 0;
  std::optional<std::string> failure;
  std::vector<FileTime> times;
};

class FrameLog;

class FrameWriter {
 public:
  struct Settings {
    output::Existing existing = output::Existing::Keep;
    output::Compression compression = output::Compression::Zip;
    uint32_t threads = 1;
    FrameLog* log = nullptr;  // gets a line for each frame; outlives the writer
  };
  explicit FrameWriter(const Settings& settings);
  /// Writes what waits, then ends.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Blocks while kWaiting frames wait. Render thread.
  void push(FrameJob job);
  /// Frames keep failing: it is not worth rendering more. Any thread.
  bool hopeless() const;
  /// Waits for all, and gives what became of them by frame number. Once, after the last push.
  std::vector<WrittenFrame> finish();

  static constexpr size_t kWaiting = 2;
  static constexpr uint32_t kHopeless = 3;  // failures in a row

 private:
  void work(uint32_t thread);
  WrittenFrame write(const FrameJob& job, uint32_t thread) const;

  Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FrameJob> waiting_;
  std::vector<WrittenFrame> written_;
  uint32_t failuresInRow_ = 0;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::jobs
