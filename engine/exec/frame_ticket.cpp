#include "exec/frame_ticket.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace tandem::exec {

void FrameTicket::submitted(gpu::SyncPoint point) {
  {
    const std::lock_guard lock(mutex_);
    points_.push_back(point);
    --missing_;
  }
  changed_.notify_all();
}

void FrameTicket::fail(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  changed_.notify_all();
}

bool FrameTicket::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

bool FrameTicket::finished() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return true;
  return missing_ == 0 && std::ranges::all_of(points_, [](const gpu::SyncPoint& point) {
           return point.queue->completed() >= point.value;
         });
}

void FrameTicket::wait(double limitSeconds, const std::string& what) {
  std::vector<gpu::SyncPoint> points;
  {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::duration<double>(limitSeconds);
    if (!changed_.wait_for(lock, limit, [this] { return missing_ == 0 || failure_; })) {
      throw adverse("waited {} s for {} and {} of its batches were never submitted: a GPU or a link hangs",
                    limitSeconds, what, missing_);
    }
    if (failure_) std::rethrow_exception(failure_);
    points = points_;
  }
  for (const gpu::SyncPoint& point : points) point.queue->wait(point.value, what);
}

}  // namespace tandem::exec
