#include "topology/bridged_link.h"

#include <chrono>

namespace tandem::topology {

double LinkReport::gigabytesPerSecond() const {
  const double ms = sendMs + hostMs + receiveMs;
  return ms > 0.0 ? static_cast<double>(bytes) / ms * 1e-6 : 0.0;
}

BridgedLink::BridgedLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc)
    : sender_(sender), receiver_(receiver), desc_(std::move(desc)) {}

BridgedLink::~BridgedLink() { close(); }

void BridgedLink::build() {
  for (uint32_t index = 0; index < desc_.slots; ++index) {
    Slot slot;
    for (size_t item = 0; item < desc_.itemBytes.size(); ++item) {
      const uint64_t bytes = desc_.itemBytes[item];
      const std::string name = fmt::format("{} item {} slot {}", desc_.name, item, index);
      slot.sources.emplace_back(sender_, bytes, gpu::Memory::Device, name + " source");
      slot.targets.emplace_back(receiver_, bytes, gpu::Memory::Device, name + " target");
      slot.legs.push_back(makeLeg(bytes, name));
    }
    slot.sendCommands = std::make_unique<gpu::Commands>(sender_, fmt::format("{} slot {} send", desc_.name, index));
    slot.receiveCommands =
        std::make_unique<gpu::Commands>(receiver_, fmt::format("{} slot {} receive", desc_.name, index));
    slots_.push_back(std::move(slot));
  }
  report_.kind = kind();
  report_.path = path();
  bridge_ = std::make_unique<Bridge>("tandem bridge");
}

void BridgedLink::close() {
  if (bridge_) bridge_->stop();
}

void BridgedLink::acquire(uint32_t index) {
  Slot& slot = slots_.at(index);
  if (!receiver_.passSeam(gpu::SeamPoint::SlotWait, desc_.name)) return;
  {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::duration<double>(receiver_.waitLimitSeconds());
    if (!idle_.wait_for(lock, limit, [&] { return !slot.busy; })) {
      throw adverse("waited {} s for slot {} of the link {}: the receiving GPU does not keep up or hangs",
                    limit.count(), index, desc_.name);
    }
  }
  if (slot.sent.queue != nullptr) slot.sent.queue->wait(slot.sent.value, desc_.name + " slot reuse");
  if (slot.readers.queue != nullptr) slot.readers.queue->wait(slot.readers.value, desc_.name + " slot reuse");
  measure(slot);
  slot.acquired = true;
}

gpu::SyncPoint BridgedLink::submitSend(Slot& slot, gpu::SyncPoint ready) {
  gpu::Commands& commands = *slot.sendCommands;
  commands.begin();
  commands.barrier();
  commands.beginSection("send");
  for (size_t item = 0; item < slot.legs.size(); ++item) {
    commands.copy(slot.sources[item], slot.legs[item].outbound, desc_.itemBytes[item]);
  }
  commands.endSection();
  commands.barrierToHost();
  commands.end();
  const gpu::SyncPoint waits[] = {ready};
  return sender_.queue().submit(commands.handle(), waits, desc_.name + " send");
}

gpu::SyncPoint BridgedLink::carryAndReceive(Slot& slot, gpu::SyncPoint sent) {
  sender_.queue().wait(sent.value, desc_.name, gpu::SeamPoint::BridgeWait, bridgeMaySpin(sender_.adapter().software()));
  const auto start = std::chrono::steady_clock::now();
  carry(slot.legs);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;

  gpu::Commands& commands = *slot.receiveCommands;
  commands.begin();
  commands.barrier();
  commands.beginSection("receive");
  for (size_t item = 0; item < slot.legs.size(); ++item) {
    commands.copy(slot.legs[item].inbound, slot.targets[item], desc_.itemBytes[item]);
  }
  commands.endSection();
  commands.end();
  const gpu::SyncPoint received = receiver_.queue().submit(commands.handle(), {}, desc_.name + " receive");
  const std::lock_guard lock(mutex_);
  report_.hostMs += elapsed.count();
  ++report_.transfers;
  for (const uint64_t bytes : desc_.itemBytes) report_.bytes += bytes;
  slot.readers = received;
  slot.measured = false;
  return received;
}

void BridgedLink::send(uint32_t index, gpu::SyncPoint ready, std::function<void(Arrival)> arrived) {
  Slot& slot = slots_.at(index);
  TANDEM_CHECK(slot.acquired, "slot {} of the link {} is sent while it may still be in use: acquire it first", index,
               desc_.name);
  slot.acquired = false;
  setBusy(slot, true);
  gpu::SyncPoint sent;
  try {
    sent = submitSend(slot, ready);
    slot.sent = sent;
  } catch (...) {
    setBusy(slot, false);
    arrived({{}, std::current_exception()});
    return;
  }
  const bool posted = bridge_->post([this, &slot, sent, arrived] {
    Arrival arrival;
    try {
      arrival.point = carryAndReceive(slot, sent);
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

/// Adds the device times of a slot's last transfer, which has finished, to the report.
void BridgedLink::measure(Slot& slot) {
  if (slot.measured) return;
  const auto sent = slot.sendCommands->times();
  const auto received = slot.receiveCommands->times();
  const std::lock_guard lock(mutex_);
  for (const auto& time : sent) report_.sendMs += time.milliseconds;
  for (const auto& time : received) report_.receiveMs += time.milliseconds;
  slot.measured = true;
}

LinkReport BridgedLink::report() {
  for (Slot& slot : slots_) {
    if (slot.readers.queue != nullptr) slot.readers.queue->wait(slot.readers.value, desc_.name + " report");
    measure(slot);
  }
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace tandem::topology
