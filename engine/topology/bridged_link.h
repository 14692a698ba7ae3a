// What all links between two independent devices share: buffers per slot, copies at both ends, the bridge in between,
// the bookkeeping. A kind of link says only through which host memory the bytes go (`Leg`) and whether the host must
// move them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "gpu/commands.h"
#include "topology/bridge.h"
#include "topology/link.h"

namespace tandem::topology {

/// The host-side memory of one item in one slot, seen from both ends. For shared memory both buffers are the same
/// bytes.
struct Leg {
  gpu::Buffer outbound;  // on the sender: source is copied here
  gpu::Buffer inbound;   // on the receiver: copied from here to target
};

class BridgedLink : public Link {
 public:
  BridgedLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);
  ~BridgedLink() override;

  const gpu::Buffer& source(uint32_t item, uint32_t slot) const override { return slots_.at(slot).sources.at(item); }
  const gpu::Buffer& target(uint32_t item, uint32_t slot) const override { return slots_.at(slot).targets.at(item); }
  void acquire(uint32_t slot) override;
  void send(uint32_t slot, gpu::SyncPoint ready, std::function<void(Arrival)> arrived) override;
  void release(uint32_t slot, gpu::SyncPoint done) override;
  void close() override;
  LinkReport report() override;

 protected:
  /// Makes the host memory of one item; called once per item and slot, before anything is sent.
  virtual Leg makeLeg(uint64_t bytes, const std::string& name) = 0;
  /// Moves bytes on the host where the memory is not shared. Runs on the bridge, after the sender's copy has finished.
  virtual void carry(const std::vector<Leg>&) {}
  virtual std::string kind() const = 0;
  virtual std::string path() const = 0;

  /// Derived constructors call this last. Derived destructors call close() first: afterwards nothing is under way.
  void build();
  gpu::Device& sender() { return sender_; }
  gpu::Device& receiver() { return receiver_; }
  const LinkDesc& desc() const { return desc_; }

 private:
  struct Slot {
    std::vector<gpu::Buffer> sources, targets;
    std::vector<Leg> legs;
    std::unique_ptr<gpu::Commands> sendCommands, receiveCommands;
    gpu::SyncPoint sent;     // the sender's copy of the last transfer
    gpu::SyncPoint readers;  // what must be reached before the targets may be written again
    bool measured = true;    // times of the last transfer have been added to the report
    bool acquired = false;   // may be written and sent
    bool busy = false;       // between send and arrival
  };
  gpu::SyncPoint submitSend(Slot& slot, gpu::SyncPoint ready);
  gpu::SyncPoint carryAndReceive(Slot& slot, gpu::SyncPoint sent);
  void measure(Slot& slot);
  void setBusy(Slot& slot, bool busy);

  gpu::Device& sender_;
  gpu::Device& receiver_;
  LinkDesc desc_;
  std::vector<Slot> slots_;
  std::mutex mutex_;  // guards `busy` and the report
  std::condition_variable idle_;
  LinkReport report_;
  std::unique_ptr<Bridge> bridge_;
};

}  // namespace tandem::topology
