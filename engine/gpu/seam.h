// The one seam through which every submit, every wait and every barrier passes. Nothing happens here in a normal run;
// tests make it skip a wait (sabotage) or fail a submit (faults), and see that the program notices.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tandem::gpu {

class Device;

enum class SeamPoint {
  Submit,      // a batch goes to a queue
  HostWait,    // the host waits for a timeline value
  BridgeWait,  // a bridge waits for the sender before it carries bytes
  SlotWait,    // the executor waits until a link's slot is free again
  Barrier,     // a barrier is recorded
};

enum class SeamReply {
  Proceed,
  Skip,         // as if it had succeeded, without doing it
  FailLost,     // as if the call had answered VK_ERROR_DEVICE_LOST
  FailMemory,   // as if the call had answered VK_ERROR_OUT_OF_DEVICE_MEMORY
  FailTimeout,  // as if the limit had passed
};

struct SeamEvent {
  SeamPoint point = SeamPoint::Submit;
  const Device* device = nullptr;
  std::string_view name;  // of the batch, or of what is waited for
};

/// Called from any thread that submits, waits or records. Empty: Proceed.
using Seam = std::function<SeamReply(const SeamEvent&)>;

}  // namespace tandem::gpu
