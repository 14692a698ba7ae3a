#include "topology/link_import.h"

#include <bit>

#include "gpu/device.h"

namespace tandem::topology {
namespace {

/// Like every other buffer (gpu/buffer.cpp), and told where its memory comes from.
VkBuffer makeBuffer(gpu::Device& device, const ImportedMemory& memory, VkBufferUsageFlags usage,
                    const std::string& name) {
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = memory.handleType;
  VkBufferCreateInfo info = gpu::Buffer::createInfo(device, memory.bytes);
  info.pNext = &external;
  info.usage = usage;
  VkBuffer buffer = VK_NULL_HANDLE;
  gpu::check(device.api().vkCreateBuffer(device.handle(), &info, nullptr, &buffer), "vkCreateBuffer", name, &device);
  return buffer;
}

/// Some drivers import a kind of memory only as the whole of one buffer.
bool needsDedicated(gpu::Device& device, const ImportedMemory& memory, VkBufferUsageFlags usage) {
  VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  info.usage = usage;
  info.handleType = memory.handleType;
  VkExternalBufferProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  vkGetPhysicalDeviceExternalBufferProperties(device.adapter().physical, &info, &properties);
  return (properties.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) !=
         0;
}

VkResult allocate(gpu::Device& device, const ImportedMemory& memory, VkBufferUsageFlags usage, VkBuffer buffer,
                  VkDeviceMemory& made) {
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  const uint32_t types = memory.typeBits & requirements.memoryTypeBits;
  if (types == 0 || requirements.size > memory.bytes) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, memory.importInfo};
  dedicated.buffer = buffer;
  VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, memory.importInfo};
  if (needsDedicated(device, memory, usage)) flags.pNext = &dedicated;
  flags.flags = memory.addressed ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0;
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags};
  info.allocationSize = memory.bytes;
  info.memoryTypeIndex = static_cast<uint32_t>(std::countr_zero(types));
  return device.api().vkAllocateMemory(device.handle(), &info, nullptr, &made);
}

}  // namespace

gpu::Buffer importBuffer(gpu::Device& device, const ImportedMemory& memory, uint64_t bytes, const std::string& name) {
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (memory.addressed) usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  const VkBuffer buffer = makeBuffer(device, memory, usage, name);
  VkDeviceMemory made = VK_NULL_HANDLE;
  const VkResult allocated = allocate(device, memory, usage, buffer, made);
  if (allocated != VK_SUCCESS) device.api().vkDestroyBuffer(device.handle(), buffer, nullptr);
  gpu::check(allocated, "vkAllocateMemory (import)", name, &device);
  if (memory.taken != nullptr) *memory.taken = true;
  const VkResult bound = device.api().vkBindBufferMemory(device.handle(), buffer, made, 0);
  VkDeviceAddress address = 0;
  if (bound == VK_SUCCESS && memory.addressed) {
    VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    info.buffer = buffer;
    address = device.api().vkGetBufferDeviceAddress(device.handle(), &info);
  }
  gpu::Buffer result = gpu::Buffer::adopt(device, buffer, made, bytes, nullptr, name, address);
  gpu::check(bound, "vkBindBufferMemory", name, &device);
  return result;
}

}  // namespace tandem::topology
