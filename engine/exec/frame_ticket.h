// One frame under way: how many of its batches have not been submitted yet, where they end, and what went wrong. Shared
// between the render thread and the bridges; thread-safe.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/queue.h"

namespace tandem::exec {

class FrameTicket {
 public:
  explicit FrameTicket(size_t batches) : missing_(batches) {}

  void submitted(gpu::SyncPoint point);
  /// The frame will not finish. The first failure is kept.
  void fail(std::exception_ptr failure);
  bool failed() const;
  /// All batches have been submitted and have finished, or the frame has failed. Waits for nothing.
  bool finished() const;

  /// Blocks until all batches have been submitted and have finished. Throws what failed; `limitSeconds` bounds the wait
  /// for the submits.
  void wait(double limitSeconds, const std::string& what);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t missing_;
  std::vector<gpu::SyncPoint> points_;
  std::exception_ptr failure_;
};

}  // namespace tandem::exec
