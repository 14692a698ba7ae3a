#include "gpu/buffer.h"

#include <vk_mem_alloc.h>

#include <utility>

#include "gpu/device.h"

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

Buffer::Buffer(Device& device, uint64_t bytes, Memory memory, std::string name)
    : device_(&device), bytes_(bytes), name_(std::move(name)) {
  TANDEM_CHECK(bytes > 0, "buffer '{}' of 0 bytes", name_);
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const VmaAllocationCreateInfo allocation = allocationFor(memory);
  VmaAllocationInfo made{};
  if (bytes > device.adapter().maxBufferSize) {
    throw adverse("'{}' needs {} MiB in one buffer; {} allows {} MiB: lower --size", name_, bytes >> 20, device.name(),
                  device.adapter().maxBufferSize >> 20);
  }
  const VkResult result = vmaCreateBuffer(device.allocator(), &info, &allocation, &buffer_, &allocation_, &made);
  check(result, "vmaCreateBuffer", fmt::format("{} ({} MiB)", name_, bytes >> 20));
  mapped_ = made.pMappedData;
  device.nameObject(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(buffer_), name_);
  VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = buffer_;
  address_ = device.api().vkGetBufferDeviceAddress(device.handle(), &address);
}

Buffer Buffer::adopt(Device& device, VkBuffer buffer, VkDeviceMemory memory, uint64_t bytes, void* mapped,
                     std::string name) {
  Buffer result;
  result.device_ = &device;
  result.buffer_ = buffer;
  result.imported_ = memory;
  result.bytes_ = bytes;
  result.mapped_ = mapped;
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
  imported_ = std::exchange(other.imported_, VK_NULL_HANDLE);
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  mapped_ = std::exchange(other.mapped_, nullptr);
  name_ = std::move(other.name_);
  return *this;
}

void Buffer::release() {
  if (buffer_ == VK_NULL_HANDLE) return;
  device_->retire([device = device_, buffer = buffer_, allocation = allocation_, imported = imported_] {
    if (allocation != nullptr) return vmaDestroyBuffer(device->allocator(), buffer, allocation);
    device->api().vkDestroyBuffer(device->handle(), buffer, nullptr);
    device->api().vkFreeMemory(device->handle(), imported, nullptr);
  });
  buffer_ = VK_NULL_HANDLE;
}

std::span<std::byte> Buffer::mapped() const {
  TANDEM_CHECK(mapped_ != nullptr, "'{}' is not host-visible memory", name_);
  return {static_cast<std::byte*>(mapped_), bytes_};
}

void Buffer::invalidate() const {
  if (allocation_ != nullptr)
    check(vmaInvalidateAllocation(device_->allocator(), allocation_, 0, VK_WHOLE_SIZE), "vmaInvalidateAllocation",
          name_);
}

void Buffer::flush() const {
  if (allocation_ != nullptr)
    check(vmaFlushAllocation(device_->allocator(), allocation_, 0, VK_WHOLE_SIZE), "vmaFlushAllocation", name_);
}

}  // namespace tandem::gpu
