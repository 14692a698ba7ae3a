// A VkDevice with all that hangs on it: function table, allocator, queue, pipelines, and the graveyard of what is no
// longer used.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/adapter.h"
#include "gpu/hooks.h"
#include "gpu/instance.h"
#include "gpu/logical_device.h"
#include "gpu/queue.h"
#include "gpu/seam.h"
#include "gpu/vulkan.h"

struct VmaAllocator_T;

namespace tandem::gpu {

class Pipelines;
class RayPipelines;

struct DeviceOptions {
  std::string name;                          // for messages and reports: "node 0 (NVIDIA H200)"
  Seam seam;                                 // empty in normal runs
  std::shared_ptr<const ObjectHooks> hooks;  // empty: a lone device
  std::shared_ptr<LogicalDevice> logical;    // of a seat's neighbour in a linked group; empty: makes its own
  bool rayTracing = false;                   // with ray-tracing pipelines, which the adapter must have
};

/// Owner of one VkDevice, or a seat on one that a linked group shares. Made on one thread; submit, wait and retire are
/// thread-safe, the rest belongs to the render thread. Destroyed last of all that was made on it; waits for the device
/// to be idle first.
class Device {
 public:
  Device(Instance& instance, const Adapter& adapter, DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkDevice handle() const { return logical_->handle; }
  const VolkDeviceTable& api() const { return logical_->table; }
  const std::shared_ptr<LogicalDevice>& logical() const { return logical_; }
  VmaAllocator_T* allocator() const { return allocator_; }
  const Adapter& adapter() const { return adapter_; }
  const std::string& name() const { return options_.name; }
  const ObjectHooks& hooks() const { return *options_.hooks; }
  Queue& queue() { return *queue_; }
  /// A queue for copies that run beside the main queue's work: of a copy-only family, else a second queue of the main
  /// family, else the main queue itself.
  Queue& transferQueue() { return transferQueue_ ? *transferQueue_ : *queue_; }
  /// Families that share every buffer; one where all queues are of one family.
  const std::vector<uint32_t>& bufferFamilies() const { return bufferFamilies_; }
  Pipelines& pipelines() { return *pipelines_; }
  /// Whether it was made with ray-tracing pipelines; only then may they be asked for.
  bool rayTracing() const { return options_.rayTracing; }
  RayPipelines& rayPipelines() { return *rayPipelines_; }

  /// Asks the seam. Throws for the failing replies; true: proceed, false: skip.
  bool passSeam(SeamPoint point, std::string_view what);

  /// How long one wait may last before it is an error, in seconds: software devices render a 4K frame in minutes.
  double waitLimitSeconds() const;

  /// After a call answered that the device is gone, or a wait passed its limit: from here on every submit and every
  /// wait throws DeviceLost at once. Thread-safe.
  void markLost(std::string_view why);
  bool lost() const { return lost_; }
  /// `check` with this device as the culprit; marks it lost where it is.
  void require(VkResult result, std::string_view call, std::string_view object);

  /// Destroys something once all work submitted so far has finished. Thread-safe.
  void retire(std::function<void()> destroy);
  /// Frees what is due. Called by the executor once a frame.
  void collect();
  /// Waits for all submitted work and frees everything retired.
  void drain();

  /// Gives a Vulkan object a name for debuggers and validation messages.
  void nameObject(VkObjectType type, uint64_t handle, std::string_view name) const;
  bool hasDebugUtils() const { return debugUtils_; }

  /// Bytes of device-local memory that may be allocated now.
  uint64_t memoryBudget() const;

 private:
  void createDevice();
  void createAllocator(VkInstance instance);

  void createQueues();
  bool settle();

  struct Grave {
    uint64_t value;          // of the main queue
    uint64_t transferValue;  // of the transfer queue, where it is another
    std::function<void()> destroy;
  };

  Adapter adapter_;
  DeviceOptions options_;
  bool debugUtils_ = false;
  std::shared_ptr<LogicalDevice> logical_;
  VmaAllocator_T* allocator_ = nullptr;
  std::vector<uint32_t> bufferFamilies_;
  std::atomic<bool> lost_ = false;
  std::string lostBy_;  // guarded by graveMutex_; set once
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Queue> transferQueue_;  // empty: the main queue does its work
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<RayPipelines> rayPipelines_;
  std::mutex graveMutex_;
  std::deque<Grave> graves_;
};

}  // namespace tandem::gpu
