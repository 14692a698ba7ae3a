// What both halves of the group layer share: the next link of the loader's chain per instance and device, and the
// watch over which physical device touches whose memory.
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <map>
#include <mutex>

#include "layers/group_layer.h"

namespace tandem::layer {

inline constexpr uint32_t kMembers = 2;
inline constexpr uint32_t kAllMembers = 3;  // as a device mask

/// The loader puts a pointer at the start of every dispatchable object; objects of one instance or device share it.
template <class Handle>
void* dispatchKey(Handle handle) {
  return *reinterpret_cast<void**>(handle);
}

struct DeviceLink {
  VkDevice device = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr next = nullptr;
  bool group = false;  // made over both members
};

/// The functions are asked for while the instance is made: later the loader answers with the top of the chain.
struct InstanceLink {
  VkInstance instance = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr next = nullptr;
  PFN_vkDestroyInstance destroy = nullptr;
  PFN_vkEnumeratePhysicalDevices enumerate = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 features2 = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties memory = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 memory2 = nullptr;
};

struct State {
  std::mutex mutex;
  std::map<void*, InstanceLink> instances;
  std::map<void*, DeviceLink> devices;
  GroupLayerCounts counts;
};
State& state();

template <class Handle>
DeviceLink deviceLink(Handle handle) {
  const std::lock_guard lock(state().mutex);
  return state().devices.at(dispatchKey(handle));
}

template <class Function, class Handle>
Function nextDevice(Handle handle, const char* name) {
  const DeviceLink link = deviceLink(handle);
  return reinterpret_cast<Function>(link.next(link.device, name));
}

template <class Handle>
InstanceLink instanceLink(Handle handle) {
  const std::lock_guard lock(state().mutex);
  return state().instances.at(dispatchKey(handle));
}

/// The layer's own function of this name for commands of a device (memory, recording, submission); null: none.
PFN_vkVoidFunction commandFunction(const char* name);

}  // namespace tandem::layer
