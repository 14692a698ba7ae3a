#include "topology/bridged_link.h"

#include <algorithm>
#include <numeric>

#include "gpu/device.h"

namespace tandem::topology {
namespace {

constexpr size_t kMostEvents = 4096;

uint64_t nanoseconds(LinkPacer::Clock::time_point point) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(point.time_since_epoch()).count());
}

std::chrono::nanoseconds fromMs(double ms) { return std::chrono::nanoseconds(static_cast<int64_t>(ms * 1e6)); }

/// A sleep may end late by what the scheduler likes; where cores are to spare the last stretch is polled.
void waitUntil(LinkPacer::Clock::time_point moment, bool spin) {
  std::this_thread::sleep_until(spin ? moment - std::chrono::microseconds(200) : moment);
  while (LinkPacer::Clock::now() < moment) std::this_thread::yield();
}

void wait(gpu::SyncPoint point, const std::string& what) {
  if (point.queue != nullptr) point.queue->wait(point.value, what);
}

}  // namespace

double LinkReport::gigabytesPerSecond() const {
  const double ms = sendMs + hostMs + receiveMs + directMs;
  return ms > 0.0 ? static_cast<double>(bytes) / ms * 1e-6 : 0.0;
}

double LinkReport::streamedGigabytesPerSecond() const {
  return underwayMs > 0.0 ? static_cast<double>(bytes) / underwayMs * 1e-6 : 0.0;
}

BridgedLink::BridgedLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc)
    : sender_(sender), receiver_(receiver), desc_(std::move(desc)), pacer_(desc_.gigabytesPerSecondLimit) {}

BridgedLink::~BridgedLink() { BridgedLink::close(); }

gpu::Buffer BridgedLink::makeSource(uint64_t bytes, const std::string& name) {
  return {sender_, bytes, gpu::Memory::Device, name};
}

gpu::Buffer BridgedLink::makeTarget(uint64_t bytes, const std::string& name) {
  return {receiver_, bytes, gpu::Memory::Device, name};
}

void BridgedLink::build() {
  for (uint32_t index = 0; index < desc_.slots; ++index) {
    Slot& slot = slots_.emplace_back();
    for (size_t item = 0; item < desc_.itemBytes.size(); ++item) {
      const std::string name = fmt::format("{} item {} slot {}", desc_.name, item, index);
      slot.sources.push_back(makeSource(desc_.itemBytes[item], name + " source"));
      slot.targets.push_back(makeTarget(desc_.itemBytes[item], name + " target"));
    }
    makeSlot(index);
  }
  report_.kind = kind();
  report_.path = path();
  if (pacer_.limited()) report_.path += fmt::format(", throttled to {:g} GB/s", desc_.gigabytesPerSecondLimit);
  bridge_ = std::make_unique<Bridge>("tandem bridge");
}

void BridgedLink::close() {
  if (bridge_) bridge_->stop();
}

/// What the slot held is no longer wanted once both devices have passed its last use: the host waits for both, so what
/// is recorded next may write the slot on any queue, without a barrier. (Writing after reading needs order alone.)
void BridgedLink::acquire(uint32_t index) {
  Slot& slot = slots_.at(index);
  if (!receiver_.passSeam(gpu::SeamPoint::SlotWait, desc_.name)) return;
  gpu::SyncPoint readers;
  {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::duration<double>(receiver_.waitLimitSeconds());
    if (!idle_.wait_for(lock, limit, [&] { return !slot.busy; })) {
      throw adverse("waited {} s for slot {} of the link {}: the receiving GPU does not keep up or hangs",
                    limit.count(), index, desc_.name);
    }
    readers = slot.readers;
  }
  wait(slot.sent, desc_.name + " slot reuse");
  wait(readers, desc_.name + " slot reuse");
  measure(index);
  slot.acquired = true;
}

void BridgedLink::send(uint32_t index, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
                       std::function<void(Arrival)> arrived) {
  Slot& slot = slots_.at(index);
  TANDEM_CHECK(slot.acquired, "slot {} of the link {} is sent while it may still be in use: acquire it first", index,
               desc_.name);
  TANDEM_CHECK(itemBytes.size() == desc_.itemBytes.size(), "{} items are sent over the link {} of {}", itemBytes.size(),
               desc_.name, desc_.itemBytes.size());
  for (size_t item = 0; item < itemBytes.size(); ++item) {
    TANDEM_CHECK(itemBytes[item] <= desc_.itemBytes[item], "{} bytes of item {} are sent over the link {}, it has {}",
                 itemBytes[item], item, desc_.name, desc_.itemBytes[item]);
  }
  slot.acquired = false;
  slot.itemBytes.assign(itemBytes.begin(), itemBytes.end());
  slot.bytes = std::accumulate(itemBytes.begin(), itemBytes.end(), uint64_t{0});
  setBusy(slot, true);
  try {
    slot.sent = slot.bytes > 0 ? depart(index, slot.itemBytes, ready) : ready;
  } catch (...) {
    setBusy(slot, false);
    arrived({{}, std::current_exception()});
    return;
  }
  const bool posted = bridge_->post([this, &slot, index, arrived] {
    Arrival arrival;
    try {
      arrival.point = cross(index);
    } catch (...) {
      arrival.failure = std::current_exception();
    }
    setBusy(slot, false);
    arrived(arrival);
  });
  if (posted) return;
  setBusy(slot, false);
  arrived({{}, std::make_exception_ptr(adverse("the link {} was closed while frames were under way", desc_.name))});
}

/// The bridge's part of one transfer. It never waits for the receiver's copy: that one runs beside the sender's copy of
/// the next transfer.
gpu::SyncPoint BridgedLink::cross(uint32_t index) {
  Slot& slot = slots_[index];
  const bool spin = bridgeMaySpin(sender_.adapter().software());
  if (slot.sent.queue != nullptr) slot.sent.queue->wait(slot.sent.value, desc_.name, gpu::SeamPoint::BridgeWait, spin);
  slot.departed = Clock::now();
  gpu::SyncPoint received;
  if (slot.bytes > 0) received = deliver(index, slot.itemBytes);
  slot.delivered = Clock::now();
  if (pacer_.limited()) {
    const double sendMs = slot.bytes > 0 ? departMs(index) : 0.0;
    waitUntil(pacer_.arrival(slot.departed - fromMs(sendMs), slot.bytes), spin);
  }
  slot.arrived = Clock::now();
  const std::lock_guard lock(mutex_);
  ++report_.transfers;
  report_.bytes += slot.bytes;
  slot.received = received;
  if (slot.bytes > 0) slot.readers = received;
  slot.measured = slot.bytes == 0;
  return received;
}

void BridgedLink::release(uint32_t index, gpu::SyncPoint done) {
  const std::lock_guard lock(mutex_);
  slots_.at(index).readers = done;
}

void BridgedLink::setBusy(Slot& slot, bool busy) {
  {
    const std::lock_guard lock(mutex_);
    slot.busy = busy;
  }
  idle_.notify_all();
}

/// Adds a slot's last transfer, which has finished, to the report and the events.
void BridgedLink::measure(uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.measured) return;
  const LegTimes times = legTimes(index);
  LinkEvent event;
  event.beginNs = nanoseconds(slot.departed - fromMs(times.sendMs));
  event.endNs = nanoseconds(std::max(slot.delivered + fromMs(times.receiveMs), slot.arrived));
  event.bytes = slot.bytes;
  event.bridgeBeginNs = nanoseconds(slot.departed);
  event.bridgeEndNs = nanoseconds(slot.arrived);
  const uint64_t counted = std::max(event.beginNs, lastEndNs_);
  lastEndNs_ = std::max(event.endNs, lastEndNs_);
  if (events_.size() == kMostEvents) events_.pop_front();
  events_.push_back(event);
  slot.measured = true;

  const std::lock_guard lock(mutex_);
  report_.sendMs += times.sendMs;
  report_.hostMs += times.hostMs;
  report_.receiveMs += times.receiveMs;
  report_.directMs += times.directMs;
  report_.underwayMs += static_cast<double>(lastEndNs_ - std::min(counted, lastEndNs_)) * 1e-6;
}

/// Measures all transfers that have finished, in their order.
void BridgedLink::measureFinished() {
  std::vector<uint32_t> finished;
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    const std::lock_guard lock(mutex_);
    if (slot.busy || slot.measured) continue;
    if (slot.received.queue == nullptr || slot.received.queue->completed() >= slot.received.value)
      finished.push_back(index);
  }
  std::ranges::sort(finished, {}, [&](uint32_t index) { return slots_[index].departed; });
  for (const uint32_t index : finished) measure(index);
}

LinkReport BridgedLink::report() {
  for (const Slot& slot : slots_) {
    gpu::SyncPoint received;
    {
      const std::lock_guard lock(mutex_);
      received = slot.received;
    }
    wait(received, desc_.name + " report");
  }
  measureFinished();
  const std::lock_guard lock(mutex_);
  return report_;
}

std::vector<LinkEvent> BridgedLink::takeEvents() {
  measureFinished();
  std::vector<LinkEvent> events(events_.begin(), events_.end());
  events_.clear();
  return events;
}

}  // namespace tandem::topology
