// A directed link between two nodes. It owns bytes *and* order, because neither can cross two devices on its own: a
// semaphore of one device means nothing on another.
//
// A link has items (one per resource that crosses) and a ring of slots (one per frame under way). The sender's passes
// write source(item, slot), the receiver's read target(item, slot), each in its own device's memory. Where the bytes go
// in between is the link's secret. Life of a slot: acquire -> (sender writes) -> send -> (arrived: receiver reads) ->
// release.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/queue.h"

namespace tandem::topology {

struct LinkDesc {
  std::string name;  // "node 0 -> node 1"
  std::vector<uint64_t> itemBytes;
  uint32_t slots = 3;
  double gigabytesPerSecondLimit = 0.0;  // 1e9 bytes a second that the link pretends to have; 0: as fast as it goes
};

/// What a link has carried so far.
struct LinkReport {
  std::string kind;    // "peer", "cuda", "host-import", "host-copy"
  std::string path;    // in words: how bytes travel, and the throttle where there is one
  uint64_t bytes = 0;  // sum over all transfers
  uint64_t transfers = 0;
  double sendMs = 0.0;      // sum: copy out of the sender, measured by its device
  double hostMs = 0.0;      // sum: copying by the CPU (host-copy only)
  double receiveMs = 0.0;   // sum: copy into the receiver, measured by its device
  double directMs = 0.0;    // sum: copy from GPU to GPU (cuda, peer)
  double underwayMs = 0.0;  // time in which bytes were under way; transfers that overlap count once
  /// 1e9 bytes per second of the whole way, one leg after the other; 0 before the first transfer has been measured.
  double gigabytesPerSecond() const;
  /// 1e9 bytes per second while bytes were under way, with the legs of consecutive transfers overlapped.
  double streamedGigabytesPerSecond() const;
};

/// One transfer with bytes, on the host's steady clock: from the first byte leaving its source to the last one in its
/// target, as far as the host can tell (the receiver's leg is placed at the moment of its submission).
struct LinkEvent {
  uint64_t beginNs = 0, endNs = 0;
  uint64_t bytes = 0;
  uint64_t bridgeBeginNs = 0, bridgeEndNs = 0;  // from the bridge seeing the sender's part done to the hand-over
};

/// The end of one transfer, told on the bridge's thread: either a point that is valid on the receiving node (no queue:
/// reached already), or why there is none.
struct Arrival {
  gpu::SyncPoint point;
  std::exception_ptr failure;
};

class Link {
 public:
  virtual ~Link() = default;

  virtual const gpu::Buffer& source(uint32_t item, uint32_t slot) const = 0;
  virtual const gpu::Buffer& target(uint32_t item, uint32_t slot) const = 0;

  /// Blocks until the slot's last use has finished on both sides. Called before the sender's batch is recorded.
  virtual void acquire(uint32_t slot) = 0;

  /// Sends a slot once `ready` (a point of the sending node; no queue: reached already) is reached. `itemBytes`: how
  /// many leading bytes of each item cross this time, at most LinkDesc::itemBytes; the rest of a target keeps what it
  /// held. With 0 bytes in all the hand-over happens all the same. Returns at once; `arrived` is called on the bridge's
  /// thread with the point of the receiving node behind which the targets hold the bytes. Errors of the machine reach
  /// `arrived`, never this caller.
  virtual void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
                    std::function<void(Arrival)> arrived) = 0;

  /// The receiving node is done with the slot's targets when `done` (its own point) is reached.
  virtual void release(uint32_t slot, gpu::SyncPoint done) = 0;

  /// Finishes what is under way and takes no more: once it has returned, `arrived` is called on no other thread.
  /// Several links whose arrivals start work on each other's buffers must all be closed before the first of them is
  /// destroyed.
  virtual void close() = 0;

  /// Complete once nothing is under way. Called on the thread that acquires.
  virtual LinkReport report() = 0;

  /// The finished transfers since the last call, oldest first; the oldest are dropped where nobody asks. Called on the
  /// thread that acquires. Empty where a kind of link keeps none.
  virtual std::vector<LinkEvent> takeEvents() { return {}; }
};

}  // namespace tandem::topology
