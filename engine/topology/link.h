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
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/queue.h"

namespace tandem::topology {

struct LinkDesc {
  std::string name;  // "node 0 -> node 1"
  std::vector<uint64_t> itemBytes;
  uint32_t slots = 3;
};

/// What a link has carried so far.
struct LinkReport {
  std::string kind;    // "host-import", "host-copy"
  std::string path;    // in words: how bytes travel
  uint64_t bytes = 0;  // sum over all transfers
  uint64_t transfers = 0;
  double sendMs = 0.0;     // sum: copy out of the sender, measured by its device
  double hostMs = 0.0;     // sum: copying by the CPU (host-copy only)
  double receiveMs = 0.0;  // sum: copy into the receiver, measured by its device
  /// Bytes per second of the whole way, one leg after the other; 0 before the first transfer has been measured.
  double gigabytesPerSecond() const;
};

/// The end of one transfer, told on the bridge's thread: either a point that is valid on the receiving node, or why
/// there is none.
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

  /// Sends all items of a slot once `ready` (a point of the sending node) is reached. Returns at once; `arrived` is
  /// called on the bridge's thread with the point of the receiving node behind which the targets hold the bytes. Errors
  /// reach `arrived`, never this caller.
  virtual void send(uint32_t slot, gpu::SyncPoint ready, std::function<void(Arrival)> arrived) = 0;

  /// The receiving node is done with the slot's targets when `done` (its own point) is reached.
  virtual void release(uint32_t slot, gpu::SyncPoint done) = 0;

  /// Finishes what is under way and takes no more: once it has returned, `arrived` is called on no other thread.
  /// Several links whose arrivals start work on each other's buffers must all be closed before the first of them is
  /// destroyed.
  virtual void close() = 0;

  /// Complete once nothing is under way.
  virtual LinkReport report() = 0;
};

}  // namespace tandem::topology
