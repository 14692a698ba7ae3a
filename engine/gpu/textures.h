// The scene's textures as one table of combined image samplers (set 0, binding 0), indexed non-uniformly by shaders;
// all with a full chain of smaller levels (gpu/mip_chain.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/texture_source.h"
#include "gpu/vulkan.h"

struct VmaAllocation_T;

namespace tandem::gpu {

class Device;

/// Owner of images, views, samplers and the descriptor set. Immutable after construction.
class TextureTable {
 public:
  /// Uploads everything and waits. Throws AdverseError where a size passes the device's limits or memory is short.
  TextureTable(Device& device, std::span<const TextureSource> sources);
  ~TextureTable();
  TextureTable(const TextureTable&) = delete;
  TextureTable& operator=(const TextureTable&) = delete;

  VkDescriptorSet set() const { return set_; }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    VkImage image = VK_NULL_HANDLE;
    VmaAllocation_T* allocation = nullptr;
    VkDeviceMemory memory = VK_NULL_HANDLE;  // of its own; null: part of the allocator's
    VkImageView view = VK_NULL_HANDLE;
  };
  Entry createImage(const TextureSource& source);
  void uploadAll(std::span<const TextureSource> sources);
  void upload(const TextureSource& source, const Entry& entry);
  void createSet(std::span<const TextureSource> sources);
  VkSampler sampler(const TextureSource& source);

  Device& device_;
  std::vector<Entry> entries_;
  std::vector<VkSampler> samplers_;  // by AddressMode u, v and filter
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  uint64_t bytes_ = 0;
};

}  // namespace tandem::gpu
