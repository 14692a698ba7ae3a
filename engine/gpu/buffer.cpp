#include "gpu/buffer.h"

#include <vk_mem_alloc.h>

#include <utility>

#include "gpu/device.h"
#include "gpu/own_memory.h"

namespace tandem::gpu {
namespace {

VmaAllocationCreateInfo allocationFor(Memory memory) {
  VmaAllocationCreateInfo info{};
  info.usage = VMA_MEMORY_USAGE_AUTO;
  switch (memory) {
    case Memory::Device:
      info.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
      break;
    case Memory::Upload:
      info.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
      break;
    case Memory::Readback:
      info.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
      info.requiredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;  // reading uncached memory is tens of times slower
      break;
  }
  return info;
}

}  // namespace

VkBufferCreateInfo Buffer::createInfo(const Device& device, uint64_t bytes) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (device.rayTracing()) {
    info.usage |= VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR |
                  VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR | VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR;
  }
  // Shared by the families of all queues: ownership would have to be handed over around every copy otherwise.
  const std::vector<uint32_t>& families = device.bufferFamilies();
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  return info;
}

uint32_t Buffer::memoryType(const Device& device, uint64_t bytes, Memory memory) {
  const VkBufferCreateInfo info = createInfo(device, bytes);
  const VmaAllocationCreateInfo allocation = allocationFor(memory);
  uint32_t type = 0;
  check(vmaFindMemoryTypeIndexForBufferInfo(device.allocator(), &info, &allocation, &type),
        "vmaFindMemoryTypeIndexForBufferInfo", device.name(), &device);
  return type;
}

Buffer::Buffer(Device& device, uint64_t bytes, Memory memory, std::string name)
    : device_(&device), bytes_(bytes), name_(std::move(name)) {
  TANDEM_CHECK(bytes > 0, "buffer '{}' of 0 bytes", name_);
  const VkBufferCreateInfo info = createInfo(device, bytes);
  const VmaAllocationCreateInfo allocation = allocationFor(memory);
  VmaAllocationInfo made{};
  if (bytes > device.adapter().maxBufferSize) {
    throw adverse("'{}' needs {} MiB in one buffer; {} allows {} MiB: lower --size", name_, bytes >> 20, device.name(),
                  device.adapter().maxBufferSize >> 20);
  }
  const VkResult result = device.hooks().memoryNext() != nullptr
                              ? createWithOwnMemory(device, info, allocation, buffer_, memory_, &made.pMappedData)
                              : vmaCreateBuffer(device.allocator(), &info, &allocation, &buffer_, &allocation_, &made);
  check(result, "vmaCreateBuffer", fmt::format("{} ({} MiB)", name_, bytes >> 20));
  mapped_ = made.pMappedData;
  device.nameObject(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(buffer_), name_);
  VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = buffer_;
  address_ = device.api().vkGetBufferDeviceAddress(device.handle(), &address);
}

Buffer Buffer::adopt(Device& device, VkBuffer buffer, VkDeviceMemory memory, uint64_t bytes, void* mapped,
                     std::string name, VkDeviceAddress address) {
  Buffer result;
  result.device_ = &device;
  result.buffer_ = buffer;
  result.memory_ = memory;
  result.bytes_ = bytes;
  result.mapped_ = mapped;
  result.address_ = address;
  result.name_ = std::move(name);
  device.nameObject(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(buffer), result.name_);
  return result;
}

Buffer::~Buffer() { release(); }

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  buffer_ = std::exchange(other.buffer_, VK_NULL_HANDLE);
  allocation_ = std::exchange(other.allocation_, nullptr);
  memory_ = std::exchange(other.memory_, VK_NULL_HANDLE);
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  mapped_ = std::exchange(other.mapped_, nullptr);
  name_ = std::move(other.name_);
  return *this;
}

void Buffer::release() {
  if (buffer_ == VK_NULL_HANDLE) return;
  device_->retire([device = device_, buffer = buffer_, allocation = allocation_, memory = memory_] {
    if (allocation != nullptr) return vmaDestroyBuffer(device->allocator(), buffer, allocation);
    device->api().vkDestroyBuffer(device->handle(), buffer, nullptr);
    device->api().vkFreeMemory(device->handle(), memory, nullptr);
  });
  buffer_ = VK_NULL_HANDLE;
}

std::span<std::byte> Buffer::mapped() const {
  TANDEM_CHECK(mapped_ != nullptr, "'{}' is not host-visible memory", name_);
  return {static_cast<std::byte*>(mapped_), bytes_};
}

VkMappedMemoryRange Buffer::wholeMemory() const {
  VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
  range.memory = memory_;
  range.size = VK_WHOLE_SIZE;
  return range;
}

void Buffer::invalidate() const {
  const VkMappedMemoryRange own = wholeMemory();
  if (allocation_ != nullptr) {
    check(vmaInvalidateAllocation(device_->allocator(), allocation_, 0, VK_WHOLE_SIZE), "vmaInvalidateAllocation",
          name_);
  } else if (mapped_ != nullptr) {
    check(device_->api().vkInvalidateMappedMemoryRanges(device_->handle(), 1, &own), "vkInvalidateMappedMemoryRanges",
          name_);
  }
}

void Buffer::flush() const {
  const VkMappedMemoryRange own = wholeMemory();
  if (allocation_ != nullptr) {
    check(vmaFlushAllocation(device_->allocator(), allocation_, 0, VK_WHOLE_SIZE), "vmaFlushAllocation", name_);
  } else if (mapped_ != nullptr) {
    check(device_->api().vkFlushMappedMemoryRanges(device_->handle(), 1, &own), "vkFlushMappedMemoryRanges", name_);
  }
}

}  // namespace tandem::gpu
