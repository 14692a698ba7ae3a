#include "gpu/own_memory.h"

#include <vk_mem_alloc.h>

#include "gpu/device.h"

namespace tandem::gpu {
namespace {

VkResult allocate(Device& device, const VkMemoryRequirements& requirements, uint32_t type, VkDeviceMemory& memory) {
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, device.hooks().memoryNext()};
  info.allocationSize = requirements.size;
  info.memoryTypeIndex = type;
  return device.api().vkAllocateMemory(device.handle(), &info, nullptr, &memory);
}

}  // namespace

VkResult createWithOwnMemory(Device& device, const VkBufferCreateInfo& info, const VmaAllocationCreateInfo& intent,
                             VkBuffer& buffer, VkDeviceMemory& memory, void** mapped) {
  const auto& api = device.api();
  uint32_t type = 0;
  VkResult result = vmaFindMemoryTypeIndexForBufferInfo(device.allocator(), &info, &intent, &type);
  if (result == VK_SUCCESS) result = api.vkCreateBuffer(device.handle(), &info, nullptr, &buffer);
  if (result != VK_SUCCESS) return result;
  VkMemoryRequirements requirements{};
  api.vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  result = allocate(device, requirements, type, memory);
  if (result == VK_SUCCESS) result = api.vkBindBufferMemory(device.handle(), buffer, memory, 0);
  if (result == VK_SUCCESS && (intent.flags & VMA_ALLOCATION_CREATE_MAPPED_BIT) != 0)
    result = api.vkMapMemory(device.handle(), memory, 0, VK_WHOLE_SIZE, 0, mapped);
  if (result == VK_SUCCESS) return result;
  api.vkDestroyBuffer(device.handle(), std::exchange(buffer, VK_NULL_HANDLE), nullptr);
  api.vkFreeMemory(device.handle(), std::exchange(memory, VK_NULL_HANDLE), nullptr);
  return result;
}

VkResult createWithOwnMemory(Device& device, const VkImageCreateInfo& info, const VmaAllocationCreateInfo& intent,
                             VkImage& image, VkDeviceMemory& memory) {
  const auto& api = device.api();
  uint32_t type = 0;
  VkResult result = vmaFindMemoryTypeIndexForImageInfo(device.allocator(), &info, &intent, &type);
  if (result == VK_SUCCESS) result = api.vkCreateImage(device.handle(), &info, nullptr, &image);
  if (result != VK_SUCCESS) return result;
  VkMemoryRequirements requirements{};
  api.vkGetImageMemoryRequirements(device.handle(), image, &requirements);
  result = allocate(device, requirements, type, memory);
  if (result == VK_SUCCESS) result = api.vkBindImageMemory(device.handle(), image, memory, 0);
  if (result == VK_SUCCESS) return result;
  api.vkDestroyImage(device.handle(), std::exchange(image, VK_NULL_HANDLE), nullptr);
  api.vkFreeMemory(device.handle(), std::exchange(memory, VK_NULL_HANDLE), nullptr);
  return result;
}

}  // namespace tandem::gpu
