// A Vulkan layer for tests alone: linked device groups are rare hardware, so this one makes a group of the first two
// physical devices (two driver files for one software driver give two, with equal UUIDs). A logical device over the
// group is made on the first of them, whose driver never hears of groups; the masks that callers give are checked,
// counted and taken out (group_commands.cpp). The validation layer belongs above this one: it sees a real group.
#include "layers/group_layer.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "layers/chain.h"
#include "layers/layer_state.h"

namespace tandem::layer {

State& state() {
  static State* state = new State;  // never destroyed: threads of the driver may outlive static destructors
  return *state;
}

namespace {

template <class Info>
Info* linkInfo(const void* chain, VkStructureType type) {
  for (auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    auto* info = reinterpret_cast<Info*>(const_cast<VkBaseInStructure*>(at));
    if (at->sType == type && info->function == VK_LAYER_LINK_INFO) return info;
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL createInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                                              VkInstance* instance) {
  auto* link = linkInfo<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next(VK_NULL_HANDLE, "vkCreateInstance"));
  const VkResult result = create(info, allocator, instance);
  if (result != VK_SUCCESS) return result;
  InstanceLink made{*instance, next};
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(next(*instance, name));
  };
  get(made.destroy, "vkDestroyInstance");
  get(made.enumerate, "vkEnumeratePhysicalDevices");
  get(made.features2, "vkGetPhysicalDeviceFeatures2");
  get(made.memory, "vkGetPhysicalDeviceMemoryProperties");
  get(made.memory2, "vkGetPhysicalDeviceMemoryProperties2");
  const std::lock_guard lock(state().mutex);
  state().instances[dispatchKey(*instance)] = made;
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroyInstance(VkInstance instance, const VkAllocationCallbacks* allocator) {
  if (instance == VK_NULL_HANDLE) return;
  void* key = dispatchKey(instance);
  instanceLink(instance).destroy(instance, allocator);
  const std::lock_guard lock(state().mutex);
  state().instances.erase(key);
}

/// The first two physical devices are one group; each other one is a group of its own.
VKAPI_ATTR VkResult VKAPI_CALL enumerateGroups(VkInstance instance, uint32_t* count,
                                               VkPhysicalDeviceGroupProperties* groups) {
  const auto enumerate = instanceLink(instance).enumerate;
  uint32_t deviceCount = 0;
  VkResult result = enumerate(instance, &deviceCount, nullptr);
  std::vector<VkPhysicalDevice> devices(deviceCount);
  if (result == VK_SUCCESS) result = enumerate(instance, &deviceCount, devices.data());
  if (result != VK_SUCCESS) return result;
  const uint32_t first = std::min(deviceCount, kMembers);
  const uint32_t total = deviceCount - first + (first > 0 ? 1 : 0);
  if (groups == nullptr) {
    *count = total;
    return VK_SUCCESS;
  }
  *count = std::min(*count, total);
  for (uint32_t group = 0; group < *count; ++group) {
    groups[group].physicalDeviceCount = group == 0 ? first : 1;
    groups[group].subsetAllocation = VK_TRUE;
    for (uint32_t member = 0; member < groups[group].physicalDeviceCount; ++member)
      groups[group].physicalDevices[member] = devices[group == 0 ? member : first + group - 1];
  }
  return *count < total ? VK_INCOMPLETE : VK_SUCCESS;
}

/// Where a features chain says whether addresses may be used in a group; null: it does not ask.
VkBool32* addressesInGroups(const void* chain) {
  if (const auto* found = find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES))
    return &reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(const_cast<VkBaseInStructure*>(found))
                ->bufferDeviceAddressMultiDevice;
  if (const auto* found = find(chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES))
    return &reinterpret_cast<VkPhysicalDeviceBufferDeviceAddressFeatures*>(const_cast<VkBaseInStructure*>(found))
                ->bufferDeviceAddressMultiDevice;
  return nullptr;
}

VKAPI_ATTR void VKAPI_CALL getFeatures2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2* features) {
  instanceLink(physical).features2(physical, features);
  if (VkBool32* answer = addressesInGroups(features->pNext)) *answer = VK_TRUE;
}

/// Device-local memory has an instance on each member of a group.
void markMultiInstance(VkPhysicalDeviceMemoryProperties& properties) {
  for (uint32_t heap = 0; heap < properties.memoryHeapCount; ++heap) {
    if ((properties.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      properties.memoryHeaps[heap].flags |= VK_MEMORY_HEAP_MULTI_INSTANCE_BIT;
  }
}

VKAPI_ATTR void VKAPI_CALL getMemory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties* properties) {
  instanceLink(physical).memory(physical, properties);
  markMultiInstance(*properties);
}

VKAPI_ATTR void VKAPI_CALL getMemory2(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2* properties) {
  instanceLink(physical).memory2(physical, properties);
  markMultiInstance(properties->memoryProperties);
}

/// Devices are made on one thread, from chains on the caller's stack: edited in place for the call, then restored.
VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkDevice* device) {
  auto* link = linkInfo<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr nextInstanceProc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const PFN_vkGetDeviceProcAddr nextDeviceProc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create =
      reinterpret_cast<PFN_vkCreateDevice>(nextInstanceProc(instanceLink(physical).instance, "vkCreateDevice"));

  bool group = false;
  auto* before = reinterpret_cast<VkBaseOutStructure*>(const_cast<VkDeviceCreateInfo*>(info));
  while (before->pNext != nullptr && before->pNext->sType != VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO)
    before = before->pNext;
  VkBaseOutStructure* removed = before->pNext;
  if (removed != nullptr) {
    const auto& members = *reinterpret_cast<const VkDeviceGroupDeviceCreateInfo*>(removed);
    group = members.physicalDeviceCount == kMembers;
    if (members.physicalDeviceCount > 0) physical = members.pPhysicalDevices[0];
    before->pNext = removed->pNext;
  }
  VkBool32* addresses = addressesInGroups(info->pNext);
  const VkBool32 addressesBefore = addresses != nullptr ? *addresses : VK_FALSE;
  if (addresses != nullptr) *addresses = VK_FALSE;
  const VkResult result = create(physical, info, allocator, device);
  if (addresses != nullptr) *addresses = addressesBefore;
  before->pNext = removed;
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(state().mutex);
  state().devices[dispatchKey(*device)] = {*device, nextDeviceProc, group};
  if (group) ++state().counts.devices;
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroyDevice(VkDevice device, const VkAllocationCallbacks* allocator) {
  if (device == VK_NULL_HANDLE) return;
  void* key = dispatchKey(device);
  nextDevice<PFN_vkDestroyDevice>(device, "vkDestroyDevice")(device, allocator);
  const std::lock_guard lock(state().mutex);
  state().devices.erase(key);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getDeviceProc(VkDevice device, const char* name) {
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(getDeviceProc);
  if (std::strcmp(name, "vkDestroyDevice") == 0) return reinterpret_cast<PFN_vkVoidFunction>(destroyDevice);
  const DeviceLink link = deviceLink(device);
  const PFN_vkVoidFunction own = link.group ? commandFunction(name) : nullptr;
  return own != nullptr ? own : link.next(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL getInstanceProc(VkInstance instance, const char* name) {
  static const std::pair<const char*, PFN_vkVoidFunction> kOwn[] = {
      {"vkGetInstanceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(getInstanceProc)},
      {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(getDeviceProc)},
      {"vkCreateInstance", reinterpret_cast<PFN_vkVoidFunction>(createInstance)},
      {"vkDestroyInstance", reinterpret_cast<PFN_vkVoidFunction>(destroyInstance)},
      {"vkEnumeratePhysicalDeviceGroups", reinterpret_cast<PFN_vkVoidFunction>(enumerateGroups)},
      {"vkEnumeratePhysicalDeviceGroupsKHR", reinterpret_cast<PFN_vkVoidFunction>(enumerateGroups)},
      {"vkGetPhysicalDeviceFeatures2", reinterpret_cast<PFN_vkVoidFunction>(getFeatures2)},
      {"vkGetPhysicalDeviceFeatures2KHR", reinterpret_cast<PFN_vkVoidFunction>(getFeatures2)},
      {"vkGetPhysicalDeviceMemoryProperties", reinterpret_cast<PFN_vkVoidFunction>(getMemory)},
      {"vkGetPhysicalDeviceMemoryProperties2", reinterpret_cast<PFN_vkVoidFunction>(getMemory2)},
      {"vkGetPhysicalDeviceMemoryProperties2KHR", reinterpret_cast<PFN_vkVoidFunction>(getMemory2)},
      {"vkCreateDevice", reinterpret_cast<PFN_vkVoidFunction>(createDevice)},
      {"vkDestroyDevice", reinterpret_cast<PFN_vkVoidFunction>(destroyDevice)},
  };
  for (const auto& [ownName, function] : kOwn) {
    if (std::strcmp(name, ownName) == 0) return function;
  }
  return instance != VK_NULL_HANDLE ? instanceLink(instance).next(instance, name) : nullptr;
}

}  // namespace
}  // namespace tandem::layer

#define TANDEM_LAYER_EXPORT __attribute__((visibility("default")))

extern "C" TANDEM_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  if (interface->loaderLayerInterfaceVersion < 2) return VK_ERROR_INITIALIZATION_FAILED;
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = tandem::layer::getInstanceProc;
  interface->pfnGetDeviceProcAddr = tandem::layer::getDeviceProc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}

extern "C" TANDEM_LAYER_EXPORT void tandemGroupLayerCounts(GroupLayerCounts* counts) {
  const std::lock_guard lock(tandem::layer::state().mutex);
  *counts = tandem::layer::state().counts;
}
