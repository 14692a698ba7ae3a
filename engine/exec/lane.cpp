#include "exec/lane.h"

namespace tandem::exec {

void Lane::enqueue(std::shared_ptr<LaneBatch> batch) {
  std::unique_lock lock(mutex_);
  batches_.push_back(std::move(batch));
  pump(lock);
}

void Lane::arrived(const std::shared_ptr<LaneBatch>& batch, const topology::Arrival& arrival) {
  if (arrival.failure) return batch->ticket->fail(arrival.failure);
  std::unique_lock lock(mutex_);
  batch->waits.push_back(arrival.point);
  --batch->missingArrivals;
  pump(lock);
}

/// Submits from the front for as long as nothing is missing. The lock is held over the submit, so that order in the
/// lane is order in the queue, and over onSubmitted, which only hands work to links (a link never calls back on this
/// thread with the lane locked: its arrivals come from bridges, and a failing send reports through the ticket of its
/// receiver's lane, another lane).
void Lane::pump(std::unique_lock<std::mutex>&) {
  while (!batches_.empty() && batches_.front()->missingArrivals == 0) {
    const std::shared_ptr<LaneBatch> batch = batches_.front();
    batches_.pop_front();
    if (batch->ticket->failed()) continue;
    try {
      const gpu::SyncPoint point = device_.queue().submit(batch->commands->handle(), batch->waits, batch->name);
      batch->onSubmitted(point);
      batch->ticket->submitted(point);
    } catch (...) {
      batch->ticket->fail(std::current_exception());
    }
  }
}

}  // namespace tandem::exec
