// The group layer's device half: memory, recording and submission. All masks and indices are checked against each
// other, counted and taken out before a call goes down. Underneath there is one device with plain memory, where a copy
// into the wrong GPU's memory would go well: so the layer remembers which physical device has which memory, and counts
// every copy and fill that a real group could not have done.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "layers/chain.h"
#include "layers/layer_state.h"

namespace tandem::layer {
namespace {

/// A buffer or an image: its memory, and which physical device's instance of it each member reaches.
struct Binding {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint32_t instance[kMembers] = {0, 1};
};

/// Guarded by State::mutex.
std::map<VkDeviceMemory, uint32_t> memoryMasks;
std::map<uint64_t, Binding> bindings;  // by handle; a handle that is used again is bound again
std::map<VkCommandBuffer, uint32_t> beginMasks;

template <class Handle>
uint64_t id(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}

/// A command buffer reaches for a buffer or an image. `copyTarget`: as the target of a copy, the only thing that this
/// group's members may do to each other's memory.
template <class Handle>
void reach(VkCommandBuffer commands, Handle handle, bool copyTarget) {
  const std::lock_guard lock(state().mutex);
  const Binding& binding = bindings.at(id(handle));
  const uint32_t exists = memoryMasks.at(binding.memory);
  for (uint32_t member = 0; member < kMembers; ++member) {
    if ((beginMasks[commands] >> member & 1u) == 0) continue;
    const uint32_t instance = binding.instance[member];
    if ((exists >> instance & 1u) == 0 || (instance != member && !copyTarget)) {
      ++state().counts.strayAccesses;
    } else if (instance != member) {
      ++state().counts.peerCopies;
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL allocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  Chain chain(info->pNext);
  uint32_t mask = kAllMembers;
  auto* flags = chain.writable<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  if (flags != nullptr && (flags->flags & VK_MEMORY_ALLOCATE_DEVICE_MASK_BIT) != 0) {
    mask = flags->deviceMask;
    flags->flags &= ~static_cast<VkMemoryAllocateFlags>(VK_MEMORY_ALLOCATE_DEVICE_MASK_BIT);
    flags->deviceMask = 0;
  }
  VkMemoryAllocateInfo below = *info;
  below.pNext = chain.head();
  const VkResult result =
      nextDevice<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(device, &below, allocator, memory);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(state().mutex);
  memoryMasks[*memory] = mask;
  if (std::has_single_bit(mask)) {
    state().counts.allocatedBytes[std::countr_zero(mask) % kMembers] += info->allocationSize;
  } else {
    ++state().counts.sharedAllocations;
  }
  return result;
}

template <class Handle>
void remember(Handle handle, VkDeviceMemory memory, const uint32_t* indices, uint32_t count) {
  const std::lock_guard lock(state().mutex);
  Binding& binding = bindings[id(handle)] = Binding{memory};
  if (count == kMembers) std::copy_n(indices, kMembers, binding.instance);
}

VKAPI_ATTR VkResult VKAPI_CALL bindBuffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                          VkDeviceSize offset) {
  remember(buffer, memory, nullptr, 0);
  return nextDevice<PFN_vkBindBufferMemory>(device, "vkBindBufferMemory")(device, buffer, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL bindImage(VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset) {
  remember(image, memory, nullptr, 0);
  return nextDevice<PFN_vkBindImageMemory>(device, "vkBindImageMemory")(device, image, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL bindBuffers(VkDevice device, uint32_t count, const VkBindBufferMemoryInfo* infos) {
  for (uint32_t i = 0; i < count; ++i) {
    Chain chain(infos[i].pNext);
    const auto* group = reinterpret_cast<const VkBindBufferMemoryDeviceGroupInfo*>(
        find(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_DEVICE_GROUP_INFO));
    remember(infos[i].buffer, infos[i].memory, group != nullptr ? group->pDeviceIndices : nullptr,
             group != nullptr ? group->deviceIndexCount : 0);
    chain.remove(VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_DEVICE_GROUP_INFO);
    VkBindBufferMemoryInfo below = infos[i];
    below.pNext = chain.head();
    const VkResult result = nextDevice<PFN_vkBindBufferMemory2>(device, "vkBindBufferMemory2")(device, 1, &below);
    if (result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL bindImages(VkDevice device, uint32_t count, const VkBindImageMemoryInfo* infos) {
  for (uint32_t i = 0; i < count; ++i) {
    Chain chain(infos[i].pNext);
    const auto* group = reinterpret_cast<const VkBindImageMemoryDeviceGroupInfo*>(
        find(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_DEVICE_GROUP_INFO));
    remember(infos[i].image, infos[i].memory, group != nullptr ? group->pDeviceIndices : nullptr,
             group != nullptr ? group->deviceIndexCount : 0);
    chain.remove(VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_DEVICE_GROUP_INFO);
    VkBindImageMemoryInfo below = infos[i];
    below.pNext = chain.head();
    const VkResult result = nextDevice<PFN_vkBindImageMemory2>(device, "vkBindImageMemory2")(device, 1, &below);
    if (result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL beginCommands(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  Chain chain(info->pNext);
  const auto* group = reinterpret_cast<const VkDeviceGroupCommandBufferBeginInfo*>(
      find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_COMMAND_BUFFER_BEGIN_INFO));
  const uint32_t mask = group != nullptr ? group->deviceMask : kAllMembers;
  chain.remove(VK_STRUCTURE_TYPE_DEVICE_GROUP_COMMAND_BUFFER_BEGIN_INFO);
  {
    const std::lock_guard lock(state().mutex);
    beginMasks[commands] = mask;
    if (std::has_single_bit(mask)) ++state().counts.begins[std::countr_zero(mask) % kMembers];
  }
  VkCommandBufferBeginInfo below = *info;
  below.pNext = chain.head();
  return nextDevice<PFN_vkBeginCommandBuffer>(commands, "vkBeginCommandBuffer")(commands, &below);
}

VKAPI_ATTR void VKAPI_CALL setDeviceMask(VkCommandBuffer, uint32_t) {}

VKAPI_ATTR void VKAPI_CALL copyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                                      const VkBufferCopy* regions) {
  reach(commands, from, false);
  reach(commands, to, true);
  nextDevice<PFN_vkCmdCopyBuffer>(commands, "vkCmdCopyBuffer")(commands, from, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL copyToImage(VkCommandBuffer commands, VkBuffer from, VkImage to, VkImageLayout layout,
                                       uint32_t count, const VkBufferImageCopy* regions) {
  reach(commands, from, false);
  reach(commands, to, true);
  nextDevice<PFN_vkCmdCopyBufferToImage>(commands, "vkCmdCopyBufferToImage")(commands, from, to, layout, count,
                                                                             regions);
}

VKAPI_ATTR void VKAPI_CALL fillBuffer(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                      uint32_t value) {
  reach(commands, buffer, false);
  nextDevice<PFN_vkCmdFillBuffer>(commands, "vkCmdFillBuffer")(commands, buffer, offset, size, value);
}

/// Each command buffer must go to the one physical device that it was begun for, and so must its semaphores.
void watchSubmit(const VkSubmitInfo2& submit) {
  const std::lock_guard lock(state().mutex);
  for (uint32_t i = 0; i < submit.commandBufferInfoCount; ++i) {
    const VkCommandBufferSubmitInfo& buffer = submit.pCommandBufferInfos[i];
    const uint32_t mask = buffer.deviceMask != 0 ? buffer.deviceMask : kAllMembers;
    const uint32_t member = static_cast<uint32_t>(std::countr_zero(mask)) % kMembers;
    bool right = std::has_single_bit(mask) && mask == beginMasks[buffer.commandBuffer];
    for (uint32_t s = 0; s < submit.waitSemaphoreInfoCount; ++s)
      right = right && submit.pWaitSemaphoreInfos[s].deviceIndex == member;
    for (uint32_t s = 0; s < submit.signalSemaphoreInfoCount; ++s)
      right = right && submit.pSignalSemaphoreInfos[s].deviceIndex == member;
    ++(right ? state().counts.submits[member] : state().counts.wrongSubmits);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits, VkFence fence) {
  std::vector<VkSubmitInfo2> below(submits, submits + count);
  std::deque<std::vector<VkSemaphoreSubmitInfo>> semaphores;
  std::deque<std::vector<VkCommandBufferSubmitInfo>> buffers;
  const auto plain = [&](const VkSemaphoreSubmitInfo* infos, uint32_t infoCount) {
    auto& copy = semaphores.emplace_back(infos, infos + infoCount);
    for (auto& info : copy) info.deviceIndex = 0;
    return copy.data();
  };
  for (VkSubmitInfo2& submit : below) {
    watchSubmit(submit);
    submit.pWaitSemaphoreInfos = plain(submit.pWaitSemaphoreInfos, submit.waitSemaphoreInfoCount);
    submit.pSignalSemaphoreInfos = plain(submit.pSignalSemaphoreInfos, submit.signalSemaphoreInfoCount);
    auto& copy =
        buffers.emplace_back(submit.pCommandBufferInfos, submit.pCommandBufferInfos + submit.commandBufferInfoCount);
    for (auto& info : copy) info.deviceMask = 0;
    submit.pCommandBufferInfos = copy.data();
  }
  return nextDevice<PFN_vkQueueSubmit2>(queue, "vkQueueSubmit2")(queue, count, below.data(), fence);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits, VkFence fence) {
  std::vector<VkSubmitInfo> below(submits, submits + count);
  std::deque<Chain> chains;
  for (VkSubmitInfo& info : below) {
    Chain& chain = chains.emplace_back(info.pNext);
    chain.remove(VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO);
    info.pNext = chain.head();
  }
  return nextDevice<PFN_vkQueueSubmit>(queue, "vkQueueSubmit")(queue, count, below.data(), fence);
}

/// What the specification guarantees, and no more: copies into the other's memory.
VKAPI_ATTR void VKAPI_CALL peerFeatures(VkDevice, uint32_t, uint32_t, uint32_t, VkPeerMemoryFeatureFlags* features) {
  *features = VK_PEER_MEMORY_FEATURE_COPY_DST_BIT;
}

}  // namespace

PFN_vkVoidFunction commandFunction(const char* name) {
  static const std::pair<const char*, PFN_vkVoidFunction> kOwn[] = {
      {"vkAllocateMemory", reinterpret_cast<PFN_vkVoidFunction>(allocateMemory)},
      {"vkBindBufferMemory", reinterpret_cast<PFN_vkVoidFunction>(bindBuffer)},
      {"vkBindImageMemory", reinterpret_cast<PFN_vkVoidFunction>(bindImage)},
      {"vkBindBufferMemory2", reinterpret_cast<PFN_vkVoidFunction>(bindBuffers)},
      {"vkBindBufferMemory2KHR", reinterpret_cast<PFN_vkVoidFunction>(bindBuffers)},
      {"vkBindImageMemory2", reinterpret_cast<PFN_vkVoidFunction>(bindImages)},
      {"vkBindImageMemory2KHR", reinterpret_cast<PFN_vkVoidFunction>(bindImages)},
      {"vkBeginCommandBuffer", reinterpret_cast<PFN_vkVoidFunction>(beginCommands)},
      {"vkCmdSetDeviceMask", reinterpret_cast<PFN_vkVoidFunction>(setDeviceMask)},
      {"vkCmdSetDeviceMaskKHR", reinterpret_cast<PFN_vkVoidFunction>(setDeviceMask)},
      {"vkCmdCopyBuffer", reinterpret_cast<PFN_vkVoidFunction>(copyBuffer)},
      {"vkCmdCopyBufferToImage", reinterpret_cast<PFN_vkVoidFunction>(copyToImage)},
      {"vkCmdFillBuffer", reinterpret_cast<PFN_vkVoidFunction>(fillBuffer)},
      {"vkQueueSubmit", reinterpret_cast<PFN_vkVoidFunction>(submit)},
      {"vkQueueSubmit2", reinterpret_cast<PFN_vkVoidFunction>(submit2)},
      {"vkQueueSubmit2KHR", reinterpret_cast<PFN_vkVoidFunction>(submit2)},
      {"vkGetDeviceGroupPeerMemoryFeatures", reinterpret_cast<PFN_vkVoidFunction>(peerFeatures)},
      {"vkGetDeviceGroupPeerMemoryFeaturesKHR", reinterpret_cast<PFN_vkVoidFunction>(peerFeatures)},
  };
  for (const auto& [ownName, function] : kOwn) {
    if (std::strcmp(name, ownName) == 0) return function;
  }
  return nullptr;
}

}  // namespace tandem::layer
