// A VkDevice with all that hangs on it: function table, allocator, queue, pipelines, and the graveyard of what is no
// longer used.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/adapter.h"
#include "gpu/hooks.h"
#include "gpu/instance.h"
#include "gpu/queue.h"
#include "gpu/seam.h"
#include "gpu/vulkan.h"

struct VmaAllocator_T;

namespace tandem::gpu {

class Pipelines;

struct DeviceOptions {
  std::string name;                          // for messages and reports: "node 0 (NVIDIA H200)"
  Seam seam;                                 // empty in normal runs
  std::shared_ptr<const ObjectHooks> hooks;  // empty: a lone device
};

/// Owner of one VkDevice. Made on one thread; submit, wait and retire are thread-safe, the rest belongs to the render
/// thread. Destroyed last of all that was made on it; waits for the device to be idle first.
class Device {
 public:
  Device(Instance& instance, const Adapter& adapter, DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkDevice handle() const { return device_; }
  const VolkDeviceTable& api() const { return table_; }
  VmaAllocator_T* allocator() const { return allocator_; }
  const Adapter& adapter() const { return adapter_; }
  const std::string& name() const { return options_.name; }
  const ObjectHooks& hooks() const { return *options_.hooks; }
  Queue& queue() { return *queue_; }
  Pipelines& pipelines() { return *pipelines_; }

  /// Asks the seam. Throws for the failing replies; true: proceed, false: skip.
  bool passSeam(SeamPoint point, std::string_view what) const;

  /// How long one wait may last before it is an error, in seconds: software devices render a 4K frame in minutes.
  double waitLimitSeconds() const;

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

  struct Grave {
    uint64_t value;
    std::function<void()> destroy;
  };

  Adapter adapter_;
  DeviceOptions options_;
  bool debugUtils_ = false;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable table_{};
  VmaAllocator_T* allocator_ = nullptr;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Pipelines> pipelines_;
  std::mutex graveMutex_;
  std::deque<Grave> graves_;
};

}  // namespace tandem::gpu
