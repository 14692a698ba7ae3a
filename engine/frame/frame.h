// The frame, as one readable function. Data flows by handles from call to call, so the text of describeFrame is the
// dependency graph; where each pass runs is decided elsewhere (schedule/), and no pass can tell.
#pragma once

#include <memory>

#include "frame/settings.h"
#include "graph/graph.h"
#include "output/readback.h"
#include "post/frame_values.h"
#include "trace/path_trace.h"

namespace tandem::frame {

/// What changes from frame to frame, read while a frame is recorded.
struct FrameSources {
  std::shared_ptr<trace::TraceSource> trace;
  std::shared_ptr<const post::PostFrame> post;
};

/// Where the finished planes come out.
struct FrameReadbacks {
  explicit FrameReadbacks(uint32_t slots)
      : linear(slots), ldr(slots), exposure(slots), albedo(slots), normal(slots), depth(slots), motion(slots) {}
  output::Readback linear, ldr, exposure, albedo, normal, depth, motion;
  /// The slot of the frame that is recorded next, and whether it is copied to the host at all.
  void setSlot(uint32_t slot, bool copies);
};

void describeFrame(graph::Graph& graph, const PictureSettings& picture, const FrameSources& sources,
                   FrameReadbacks& out);

/// Whether an additional plane was asked for.
bool wants(const PictureSettings& picture, Aov aov);

}  // namespace tandem::frame
