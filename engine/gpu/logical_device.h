// A VkDevice, its function table, and one lock per VkQueue. Owned jointly by the Devices that stand on it: one, or the
// seats of a linked group.
#pragma once

#include <map>
#include <mutex>

#include "gpu/vulkan.h"

namespace tandem::gpu {

struct LogicalDevice {
  VkDevice handle = VK_NULL_HANDLE;
  VolkDeviceTable table{};
  std::map<VkQueue, std::mutex> queueLocks;  // grows on the thread that makes Devices; a lock stays where it is

  LogicalDevice() = default;
  ~LogicalDevice() {
    if (handle != VK_NULL_HANDLE) table.vkDestroyDevice(handle, nullptr);
  }
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;
};

}  // namespace tandem::gpu
