// `--trace FILE.json`: when each pass ran on each node, each transfer on each link, and each file was written, in the
// trace-event form of Chrome and Perfetto (open it at ui.perfetto.dev). One process per node with a row for its passes
// and rows for the links that leave it; one for the host with the bridges and the writer threads. All times are
// microseconds of the host's steady clock, from the earliest event on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/renderer.h"
#include "jobs/frame_writer.h"

namespace tandem::jobs {

/// Collects what happened in a run. Render thread.
class TraceFile {
 public:
  void add(const frame::FrameResult& frame);
  void add(const WrittenFrame& written);

  /// The JSON. `nodes`: name the processes.
  std::string text(const std::vector<frame::NodeReport>& nodes) const;

 private:
  struct Pass {
    uint32_t frame = 0;
    exec::PassReport report;
  };
  std::vector<Pass> passes_;
  std::vector<exec::TransferReport> transfers_;
  std::vector<WrittenFrame> written_;
};

}  // namespace tandem::jobs
