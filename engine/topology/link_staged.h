// Links by way of the host's memory: the sender copies out, the receiver copies in, each on the queue for copies of its
// device, so that both run beside rays and post. A kind of link says only which host memory that is (`Leg`) and whether
// the CPU must move bytes in between.
//
// Several queues touch a slot: the sender's passes write a source and its copies read it, the receiver's copies write a
// target and its passes read it. No barrier orders queues; timelines do. The copy out waits for `ready` and the
// receiver's batch for the copy in, and the signal and wait of a semaphore make all memory written before available
// and visible to all that follows. The way back, writing again what was read, is ordered by the host in acquire().
// Between the devices it is the bridge that waits, and a submission makes all host memory visible. Buffers are shared
// by the families (gpu/buffer.cpp), so nothing changes owner.
#pragma once

#include "gpu/commands.h"
#include "topology/bridged_link.h"

namespace tandem::topology {

/// The host-side memory of one item in one slot, seen from both ends. For shared memory both buffers are the same
/// bytes.
struct Leg {
  gpu::Buffer outbound;  // on the sender: source is copied here
  gpu::Buffer inbound;   // on the receiver: copied from here to target
};

class StagedLink : public BridgedLink {
 public:
  using BridgedLink::BridgedLink;

 protected:
  /// Makes the host memory of one item; called once per item and slot.
  virtual Leg makeLeg(uint64_t bytes, const std::string& name) = 0;
  /// Moves the leading bytes of each leg on the host where the memory is not shared. Runs on the bridge, after the
  /// sender's copy has finished.
  virtual void carry(std::span<const Leg>, std::span<const uint64_t> /*itemBytes*/) {}

  void makeSlot(uint32_t slot) override;
  gpu::SyncPoint depart(uint32_t slot, std::span<const uint64_t> itemBytes, gpu::SyncPoint ready) override;
  gpu::SyncPoint deliver(uint32_t slot, std::span<const uint64_t> itemBytes) override;
  LegTimes legTimes(uint32_t slot) override;
  double departMs(uint32_t slot) override;

 private:
  struct Stage {
    std::vector<Leg> legs;
    std::unique_ptr<gpu::Commands> sendCommands, receiveCommands;
    double hostMs = 0.0;  // of the last transfer
  };
  std::vector<Stage> stages_;
};

}  // namespace tandem::topology
