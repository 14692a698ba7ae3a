// What all links between two independent devices share: buffers per slot, the bridge in between, the throttle, the
// bookkeeping. A kind of link says only how the bytes go: what leaves with the sender's batch (`depart`) and what the
// bridge does once that is done (`deliver`).
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "topology/bridge.h"
#include "topology/link.h"
#include "topology/link_pacer.h"

namespace tandem::topology {

class BridgedLink : public Link {
 public:
  BridgedLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);
  ~BridgedLink() override;

  const gpu::Buffer& source(uint32_t item, uint32_t slot) const override { return slots_.at(slot).sources.at(item); }
  const gpu::Buffer& target(uint32_t item, uint32_t slot) const override { return slots_.at(slot).targets.at(item); }
  void acquire(uint32_t slot) override;
  void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
            std::function<void(Arrival)> arrived) override;
  void release(uint32_t slot, gpu::SyncPoint done) override;
  void close() override;
  LinkReport report() override;
  std::vector<LinkEvent> takeEvents() override;

 protected:
  /// Milliseconds of the parts of one transfer.
  struct LegTimes {
    double sendMs = 0.0, hostMs = 0.0, receiveMs = 0.0, directMs = 0.0;
  };

  /// Make the ends of one item in one slot: slot by slot, item by item, before anything is sent.
  virtual gpu::Buffer makeSource(uint64_t bytes, const std::string& name);
  virtual gpu::Buffer makeTarget(uint64_t bytes, const std::string& name);
  /// Makes what else a slot needs, after its ends.
  virtual void makeSlot(uint32_t) {}
  /// Puts the sender's part to work, on the thread of send(); never without bytes. Answers the point of the sender that
  /// the bridge must wait for.
  virtual gpu::SyncPoint depart(uint32_t slot, std::span<const uint64_t> itemBytes, gpu::SyncPoint ready) = 0;
  /// Brings the bytes to the targets, on the bridge's thread, after that point is reached. Answers the receiver's
  /// point.
  virtual gpu::SyncPoint deliver(uint32_t slot, std::span<const uint64_t> itemBytes) = 0;
  /// Of the slot's last transfer, which has finished on both devices.
  virtual LegTimes legTimes(uint32_t slot) = 0;
  /// Of the sender's part alone, as soon as that is done.
  virtual double departMs(uint32_t slot) = 0;
  virtual std::string kind() const = 0;
  virtual std::string path() const = 0;

  /// Derived constructors call this last. Derived destructors call close() first: afterwards nothing is under way.
  void build();
  gpu::Device& sender() { return sender_; }
  gpu::Device& receiver() { return receiver_; }
  const LinkDesc& desc() const { return desc_; }

 private:
  using Clock = LinkPacer::Clock;

  struct Slot {
    std::vector<gpu::Buffer> sources, targets;
    std::vector<uint64_t> itemBytes;                 // of the last transfer
    uint64_t bytes = 0;                              // their sum
    gpu::SyncPoint sent;                             // the sender's part of the last transfer
    gpu::SyncPoint received;                         // the receiver's part
    gpu::SyncPoint readers;                          // what must be reached before the targets may be written again
    Clock::time_point departed, delivered, arrived;  // of the last transfer: the bridge saw, submitted, handed over
    bool measured = true;                            // the last transfer has been added to the report
    bool acquired = false;                           // may be written and sent
    bool busy = false;                               // between send and arrival
  };
  gpu::SyncPoint cross(uint32_t index);
  void measure(uint32_t index);
  void measureFinished();
  void setBusy(Slot& slot, bool busy);

  gpu::Device& sender_;
  gpu::Device& receiver_;
  LinkDesc desc_;
  LinkPacer pacer_;  // the bridge's
  std::vector<Slot> slots_;
  std::mutex mutex_;  // guards `busy`, `readers` and the report
  std::condition_variable idle_;
  LinkReport report_;
  std::deque<LinkEvent> events_;  // of the thread that acquires
  uint64_t lastEndNs_ = 0;        // likewise
  std::unique_ptr<Bridge> bridge_;
};

}  // namespace tandem::topology
