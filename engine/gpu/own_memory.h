// Buffers and images with memory of their own, for devices whose hooks add to every allocation
// (ObjectHooks::memoryNext): the allocator's pools put a chain of their own there. The same contract as vmaCreateBuffer
// and vmaCreateImage: on failure nothing remains.
#pragma once

#include "gpu/vulkan.h"

struct VmaAllocationCreateInfo;

namespace tandem::gpu {

class Device;

/// `intent` chooses the type of memory as the allocator would. `mapped`: set where the intent asks for mapped memory.
VkResult createWithOwnMemory(Device& device, const VkBufferCreateInfo& info, const VmaAllocationCreateInfo& intent,
                             VkBuffer& buffer, VkDeviceMemory& memory, void** mapped);
VkResult createWithOwnMemory(Device& device, const VkImageCreateInfo& info, const VmaAllocationCreateInfo& intent,
                             VkImage& image, VkDeviceMemory& memory);

}  // namespace tandem::gpu
