// A node's lane: its batches in the order in which they must reach its queue. A batch that waits for a link keeps the
// ones behind it waiting, all but the early ones: those depend on nothing that waits, and so the rows of the next frame
// are traced while the post-processing of this one still waits for rows from elsewhere. Whichever thread brings the
// last missing arrival submits. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/frame_ticket.h"
#include "gpu/commands.h"
#include "topology/link.h"

namespace tandem::exec {

/// A recorded batch on its way to the queue.
struct LaneBatch {
  gpu::Commands* commands = nullptr;
  std::string name;
  size_t missingArrivals = 0;
  bool early = false;  // may overtake batches that wait
  std::vector<gpu::SyncPoint> waits;
  uint64_t submittedNs = 0;  // host's steady clock, just before the submission
  std::shared_ptr<FrameTicket> ticket;
  std::function<void(gpu::SyncPoint)> onSubmitted;  // starts the batch's transfers, releases slots
};

class Lane {
 public:
  explicit Lane(gpu::Device& device) : device_(device) {}

  void enqueue(std::shared_ptr<LaneBatch> batch);
  /// One transfer that `batch` waits for has arrived, or failed: then the whole frame has.
  void arrived(const std::shared_ptr<LaneBatch>& batch, const topology::Arrival& arrival);

 private:
  void pump(std::unique_lock<std::mutex>& lock);
  void submit(LaneBatch& batch);

  gpu::Device& device_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<LaneBatch>> batches_;
};

}  // namespace tandem::exec
