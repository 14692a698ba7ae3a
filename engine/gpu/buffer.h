// Memory that shaders and copies use. All of it has a device address: what is larger than maxStorageBufferRange (128
// MiB on lavapipe) is reached by address, never by descriptor, and so, for one way of doing things, is everything else.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpu/vulkan.h"

struct VmaAllocation_T;

namespace tandem::gpu {

class Device;

/// Intent of a buffer, instead of memory flags.
enum class Memory {
  Device,    // device-local; written and read by shaders and copies
  Upload,    // host writes in order, device reads; mapped, write-combined: never read it on the host
  Readback,  // device writes, host reads; mapped, host-cached
};

/// Move-only owner; destruction is deferred on the device's timeline.
class Buffer {
 public:
  Buffer() = default;
  /// Throws AdverseError naming the buffer and its size where memory is short.
  Buffer(Device& device, uint64_t bytes, Memory memory, std::string name);
  /// Takes over a buffer whose memory comes from elsewhere (topology/). `mapped`: by vkMapMemory, or null.
  /// `address`: 0 where no shader uses it.
  static Buffer adopt(Device& device, VkBuffer buffer, VkDeviceMemory memory, uint64_t bytes, void* mapped,
                      std::string name, VkDeviceAddress address = 0);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  explicit operator bool() const { return buffer_ != VK_NULL_HANDLE; }
  VkBuffer handle() const { return buffer_; }
  VkDeviceAddress address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  Device& device() const { return *device_; }
  /// The memory behind it where that is its own or imported; null where it is a part of the allocator's.
  VkDeviceMemory memory() const { return memory_; }

  /// How a buffer of this size is made, and the type of memory that it gets: for topology/, which binds second buffers
  /// to the same memory.
  static VkBufferCreateInfo createInfo(const Device& device, uint64_t bytes);
  static uint32_t memoryType(const Device& device, uint64_t bytes, Memory memory);

  /// Mapped bytes (Upload and Readback). A broken promise on Device memory.
  std::span<std::byte> mapped() const;
  /// Makes device writes visible to the host (no-op on coherent memory). After the wait, before reading.
  void invalidate() const;
  /// Makes host writes visible to the device (no-op on coherent memory). After writing, before the submit.
  void flush() const;

 private:
  void release();
  VkMappedMemoryRange wholeMemory() const;

  Device* device_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VmaAllocation_T* allocation_ = nullptr;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;  // of its own, or imported; null: part of the allocator's
  VkDeviceAddress address_ = 0;
  uint64_t bytes_ = 0;
  void* mapped_ = nullptr;
  std::string name_;
};

}  // namespace tandem::gpu
