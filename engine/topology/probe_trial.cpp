#include "topology/probe_trial.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "topology/bridge.h"

namespace tandem::topology {
namespace {

using Clock = std::chrono::steady_clock;

double microsecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::max(0.0, std::chrono::duration<double, std::micro>(end - begin).count());
}

/// Nearest rank; sorts. 0 for nothing.
double percentile(std::vector<double>& values, double percent) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(std::ceil(percent / 100.0 * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

double gigabytesPerSecond(uint64_t bytes, double microseconds) {
  return microseconds > 0.0 ? static_cast<double>(bytes) / microseconds / 1e3 : 0.0;
}

/// Where the arrival of one transfer is told by the bridge's thread. Kept alive by both sides.
class Delivery {
 public:
  void tell(const Arrival& arrival) {
    {
      const std::lock_guard lock(mutex_);
      arrival_ = arrival;
    }
    here_.store(true, std::memory_order_release);
    changed_.notify_all();
  }

  /// The point behind which the bytes are usable. Throws what the transfer failed by.
  gpu::SyncPoint take(double limitSeconds, bool spin) {
    const auto limit = Clock::now() + std::chrono::duration<double>(limitSeconds);
    while (spin && !here_.load(std::memory_order_acquire) && Clock::now() < limit) std::this_thread::yield();
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, limit, [this] { return here_.load(); }))
      throw adverse("nothing arrived in {} s", limitSeconds);
    if (arrival_.failure) std::rethrow_exception(arrival_.failure);
    return arrival_.point;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> here_ = false;
  Arrival arrival_;
};

/// A link with the two devices at its ends, used as a frame uses it: acquire, send, a batch on the receiver that is
/// submitted on arrival, wait, release. Closes the link at its end, so that nothing is told of to one that is gone.
class Line {
 public:
  Line(gpu::Device& from, gpu::Device& to, Link& link)
      : from_(from), to_(to), link_(link), spin_(bridgeMaySpin(from.adapter().software() || to.adapter().software())) {
    for (auto& commands : batches_) commands = std::make_unique<gpu::Commands>(to, "link probe batch");
  }
  ~Line() { link_.close(); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  std::shared_ptr<Delivery> send(uint32_t slot, gpu::SyncPoint ready, uint64_t bytes) {
    const auto delivery = std::make_shared<Delivery>();
    const uint64_t itemBytes[] = {bytes};
    batches_[slot]->begin();
    batches_[slot]->end();
    link_.send(slot, ready, itemBytes, [this, slot, delivery](Arrival arrival) {
      try {
        if (!arrival.failure) arrival.point = submitBatch(slot, arrival.point);
      } catch (...) {
        arrival.failure = std::current_exception();
      }
      delivery->tell(arrival);
    });
    return delivery;
  }

  /// Until a batch on the receiver that could use the bytes has finished.
  void receive(uint32_t slot, Delivery& delivery) {
    const gpu::SyncPoint used = delivery.take(to_.waitLimitSeconds(), spin_);
    wait(used);
    link_.release(slot, used);
  }

  void wait(gpu::SyncPoint point) const {
    if (point.queue != nullptr) point.queue->wait(point.value, "link probe", gpu::SeamPoint::HostWait, spin_);
  }

  gpu::Device& from() { return from_; }
  gpu::Device& to() { return to_; }
  Link& link() { return link_; }
  bool spins() const { return spin_; }

 private:
  gpu::SyncPoint submitBatch(uint32_t slot, gpu::SyncPoint arrived) {
    const gpu::SyncPoint waits[] = {arrived};
    return to_.queue().submit(batches_[slot]->handle(), waits, "link probe batch");
  }

  gpu::Device& from_;
  gpu::Device& to_;
  Link& link_;
  bool spin_;
  std::unique_ptr<gpu::Commands> batches_[kTrialSlots];
};

uint32_t patternWord(uint32_t i, uint32_t seed) { return (i + 1u) * 2654435761u ^ seed * 0x9e3779b9u; }

void writePattern(Line& line, uint32_t slot, uint64_t bytes, uint32_t seed) {
  const gpu::Buffer upload(line.from(), bytes, gpu::Memory::Upload, "link probe pattern");
  auto* words = reinterpret_cast<uint32_t*>(upload.mapped().data());
  for (uint32_t i = 0; i < bytes / 4; ++i) words[i] = patternWord(i, seed);
  upload.flush();
  gpu::runOnce(line.from(), "link probe pattern", [&](gpu::Commands& commands) {
    commands.barrier();
    commands.copy(upload, line.link().source(0, slot), bytes);
    commands.barrier();
  });
}

/// The first word that is not the pattern's.
std::optional<uint64_t> firstWrongWord(Line& line, uint32_t slot, uint64_t bytes, uint32_t seed) {
  const gpu::Buffer readback(line.to(), bytes, gpu::Memory::Readback, "link probe check");
  gpu::runOnce(line.to(), "link probe check", [&](gpu::Commands& commands) {
    commands.barrier();
    commands.copy(line.link().target(0, slot), readback, bytes);
    commands.barrierToHost();
  });
  readback.invalidate();
  const auto* words = reinterpret_cast<const uint32_t*>(readback.mapped().data());
  for (uint32_t i = 0; i < bytes / 4; ++i) {
    if (words[i] != patternWord(i, seed)) return i;
  }
  return std::nullopt;
}

/// Work that keeps the sender busy for a fraction of a millisecond: as in a frame, the link is told of a transfer
/// before it may begin, and its bridge is awake when it may.
class BusyWork {
 public:
  explicit BusyWork(gpu::Device& device)
      : device_(device),
        scratch_(device, device.adapter().software() ? 1u << 16 : 1u << 26, gpu::Memory::Device, "link probe work"),
        commands_(device, "link probe work") {}
  /// Once the work submitted before has finished.
  gpu::SyncPoint submit() {
    commands_.begin();
    commands_.barrier();
    for (uint32_t i = 0; i < (device_.adapter().software() ? 1u : 16u); ++i) {
      commands_.fill(scratch_, i);
      commands_.barrier();
    }
    commands_.end();
    return device_.queue().submit(commands_.handle(), {}, "link probe work");
  }

 private:
  gpu::Device& device_;
  gpu::Buffer scratch_;
  gpu::Commands commands_;
};

/// Microseconds from ready on the sender to the end of an empty batch on the receiver, `count` times. Where nobody
/// polls, this thread would see "ready" later than the bridge does: there the sender is ready before the link is told.
std::vector<double> timeTransfers(Line& line, BusyWork& work, uint64_t bytes, uint32_t count) {
  std::vector<double> times;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = i % kTrialSlots;
    line.link().acquire(slot);
    const gpu::SyncPoint ready = work.submit();
    if (!line.spins()) line.wait(ready);
    auto begin = Clock::now();
    const auto delivery = line.send(slot, ready, bytes);
    line.wait(ready);
    if (line.spins()) begin = Clock::now();
    line.receive(slot, *delivery);
    times.push_back(microsecondsBetween(begin, Clock::now()));
  }
  return times;
}

/// 1e9 bytes per second of the copies alone that a link made between two reports.
double copyRate(const LinkReport& before, LinkReport after) {
  after.bytes -= before.bytes;
  after.sendMs -= before.sendMs;
  after.hostMs -= before.hostMs;
  after.receiveMs -= before.receiveMs;
  after.directMs -= before.directMs;
  return after.gigabytesPerSecond();
}

/// Transfers back to back through all slots.
double streamRate(Line& line, uint64_t bytes, uint32_t count) {
  std::shared_ptr<Delivery> underWay[kTrialSlots];
  auto begin = Clock::now();
  const uint32_t total = count + kTrialSlots;  // the first round fills the slots and is not counted
  for (uint32_t i = 0; i < total + kTrialSlots; ++i) {
    const uint32_t slot = i % kTrialSlots;
    if (underWay[slot]) line.receive(slot, *underWay[slot]);
    if (i == 2 * kTrialSlots - 1) begin = Clock::now();  // the last transfer of the first round has arrived
    underWay[slot] = nullptr;
    if (i >= total) continue;
    line.link().acquire(slot);
    underWay[slot] = line.send(slot, {}, bytes);
  }
  return gigabytesPerSecond(bytes * count, microsecondsBetween(begin, Clock::now()));
}

}  // namespace

std::optional<std::string> patternFault(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort) {
  Line line(from, to, link);
  uint32_t seed = 1;
  for (const uint64_t bytes : effort.patternBytes) {
    std::shared_ptr<Delivery> deliveries[kTrialSlots];
    const uint32_t first = seed;
    for (uint32_t slot = 0; slot < kTrialSlots; ++slot) {
      link.acquire(slot);
      writePattern(line, slot, bytes, seed++);
      deliveries[slot] = line.send(slot, {}, bytes);
    }
    for (uint32_t slot = 0; slot < kTrialSlots; ++slot) {
      line.receive(slot, *deliveries[slot]);
      if (const auto word = firstWrongWord(line, slot, bytes, first + slot))
        return fmt::format("the pattern differs at word {} of {} (slot {})", *word, bytes / 4, slot);
    }
  }
  return std::nullopt;
}

LinkFigures measureLink(gpu::Device& from, gpu::Device& to, Link& link, const ProbeEffort& effort) {
  Line line(from, to, link);
  BusyWork work(from);
  const uint64_t bytes = effort.patternBytes.back();
  LinkFigures figures;
  timeTransfers(line, work, bytes, kTrialSlots);  // first use of every slot's memory
  const LinkReport before = link.report();
  std::vector<double> whole = timeTransfers(line, work, bytes, effort.transfers);
  figures.transferGbps = gigabytesPerSecond(bytes, percentile(whole, 50));
  figures.copyGbps = copyRate(before, link.report());  // while legs do not yet disturb each other
  figures.streamGbps = streamRate(line, bytes, effort.streamed);
  std::vector<double> hops = timeTransfers(line, work, 0, effort.hops);
  figures.hopMedianUs = percentile(hops, 50);
  figures.hopP99Us = percentile(hops, 99);
  return figures;
}

}  // namespace tandem::topology
