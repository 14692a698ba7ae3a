#include "exec/lane.h"

#include "gpu/clock.h"

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

/// Submits from the front for as long as nothing is missing, then the early ones behind. The lock is held over the
/// submit, so that order in the lane is order in the queue, and over onSubmitted, which only hands work to links. A
/// link may call back on this thread (`peer` always, others where a send fails), but only into the lane of the
/// receiver, which is another one, and whose batches never hold the lock while they wait for this one.
void Lane::pump(std::unique_lock<std::mutex>&) {
  while (!batches_.empty() && batches_.front()->missingArrivals == 0) {
    const std::shared_ptr<LaneBatch> batch = batches_.front();
    batches_.pop_front();
    submit(*batch);
  }
  for (size_t index = 1; index < batches_.size();) {
    const std::shared_ptr<LaneBatch> batch = batches_[index];
    if (!batch->early) {
      ++index;
      continue;
    }
    batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(index));
    submit(*batch);
  }
}

void Lane::submit(LaneBatch& batch) {
  if (batch.ticket->failed()) return;
  try {
    batch.submittedNs = gpu::hostNanoseconds();
    const gpu::SyncPoint point = device_.queue().submit(batch.commands->handle(), batch.waits, batch.name);
    batch.onSubmitted(point);
    batch.ticket->submitted(point);
  } catch (...) {
    batch.ticket->fail(std::current_exception());
  }
}

}  // namespace tandem::exec
