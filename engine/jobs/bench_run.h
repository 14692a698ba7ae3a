// One measured run of one renderer. The pipeline is full all the time: framesInFlight() frames are under way from
// before the first timed frame until after the last, in every mode alike.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frame/renderer.h"
#include "jobs/bench_analysis.h"
#include "jobs/frame_time.h"
#include "jobs/gpu_watch.h"

namespace tandem::jobs {

/// Warm-up ends when one of the least values is reached and the frame times have settled (statistics.h), at the latest
/// when one of the most is.
struct WarmUpLimits {
  size_t leastFrames = 120;
  double leastSeconds = 3.0;
  size_t mostFrames = 1000;
  double mostSeconds = 10.0;
};

struct RunPlan {
  size_t frames = 0;     // timed frames; 0: as many as fit `seconds`, at least 1
  double seconds = 0.0;  // of the timed frames
  WarmUpLimits warmUp;
  FrameTimes times;       // frame n of every run shows the scene at the same time
  bool readback = false;  // every finished picture is copied to the host
};

struct BenchRun {
  uint32_t repeat = 0;  // from 1
  size_t warmUpFrames = 0;
  double warmUpSeconds = 0.0;
  bool settled = false;            // before warm-up came to its limit
  std::vector<double> frameMs;     // from the frame before finished to this one
                                   // finished, as the host saw it
  std::vector<double> latencyMs;   // from a frame's start to its end
  double seconds = 0.0;            // of all timed frames: from the end of the last warm-up
                                   // frame to that of the last one
  uint64_t beginNs = 0;            // when the timed frames begin, on the steady clock
  std::vector<FrameTrace> frames;  // and, after the timed ones, those that were
                                   // under way at their end
  std::vector<GpuUse> gpus;        // while the timed frames ran, one for each watched GPU
  /// How many frames come after the timed ones.
  size_t framesAfter() const { return frames.size() - frameMs.size(); }
  bool complete = false;  // false: a signal ended it early
};

/// Warms up and measures, and leaves no frame under way. Ends at a frame's boundary on SIGINT and SIGTERM
/// (jobs/interrupt.h). `watch`: null, or has been started. Throws AdverseError where the machine fails.
BenchRun measure(frame::Renderer& renderer, const RunPlan& plan, GpuWatch* watch = nullptr);

/// A frame that is compared between modes.
struct ProofFrame {
  uint32_t frame = 0;
  uint64_t linearHash = 0;
  uint64_t ldrHash = 0;
  std::vector<uint32_t> nodes;  // that ran passes of it, ascending
  bool samePicture(const ProofFrame& other) const {
    return frame == other.frame && linearHash == other.linearHash && ldrHash == other.ldrHash;
  }
};

/// Fills the pipeline with kProofFrame and hashes each of them (jobs/pixel_hash.h): in afr every node renders some.
std::vector<ProofFrame> prove(frame::Renderer& renderer, const FrameTimes& times);

/// Closest-hit and shadow rays of kProofFrame, counted while it is under way alone.
uint64_t countRays(frame::Renderer& renderer, const FrameTimes& times);

inline constexpr uint32_t kProofFrame = 12;  // half a second in at 24 fps: what moves is on its way

}  // namespace tandem::jobs
