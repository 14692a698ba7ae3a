// A queue and its timeline. The timeline counts the queue's own submissions and is signalled by them alone, so a
// SyncPoint says "everything up to this submission of this queue has finished".
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "gpu/seam.h"
#include "gpu/vulkan.h"

namespace tandem::gpu {

class Device;
class Queue;

/// A value of one queue's timeline. Value 0, or no queue: reached already. Valid on the device that owns the queue and
/// on its neighbours in a linked group, and on no other.
struct SyncPoint {
  Queue* queue = nullptr;
  uint64_t value = 0;
};

class Queue {
 public:
  Queue(Device& device, VkQueue queue, uint32_t family, std::string name);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Submits one command buffer behind `waits` (points of this device's queues). Thread-safe. Throws AdverseError or
  /// DeviceLost.
  SyncPoint submit(VkCommandBuffer commands, std::span<const SyncPoint> waits, std::string_view what);

  /// Blocks until `value` is reached. Every wait has a limit (Device::waitLimitSeconds); past it throws AdverseError
  /// naming `what`. `spin`: polls the counter instead of sleeping; for bridges on machines with cores to spare.
  void wait(uint64_t value, std::string_view what, SeamPoint point = SeamPoint::HostWait, bool spin = false);

  /// Waits, without a limit, until the driver has let go of everything submitted. Only after settle(). False: an error.
  bool waitIdle();

  /// Waits for everything submitted, past seam and loss, for the end of a device. False: `seconds` passed and it did
  /// not finish.
  bool settle(double seconds);

  /// The counter as it is now. Throws DeviceLost where it reads UINT64_MAX.
  uint64_t completed() const;
  uint64_t lastSubmitted() const { return submitted_.load(); }
  uint32_t family() const { return family_; }
  Device& device() const { return device_; }
  const std::string& name() const { return name_; }

 private:
  void spinUntil(uint64_t value, std::string_view what);
  [[noreturn]] void timedOut(std::string_view what);

  Device& device_;
  VkQueue queue_;
  uint32_t family_;
  std::string name_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::mutex& mutex_;  // of the VkQueue, which seats of a linked group may share
  std::atomic<uint64_t> submitted_{0};
};

}  // namespace tandem::gpu
