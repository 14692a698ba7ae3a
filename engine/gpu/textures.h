// The scene's textures as one table of combined image samplers (set 0, binding 0), indexed non-uniformly by shaders.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/vulkan.h"

struct VmaAllocation_T;

namespace tandem::gpu {

class Device;

enum class AddressMode { Repeat, MirroredRepeat, ClampToEdge };

/// One entry. Two entries may point at the same pixels (once as colour, once as data).
struct TextureSource {
  std::string name;
  uint32_t width = 0, height = 0;
  const uint8_t* rgba = nullptr;  // width * height * 4 bytes, row 0 at the top; only read by the constructor
  bool srgb = false;              // decode before filtering
  AddressMode u = AddressMode::Repeat, v = AddressMode::Repeat;
  bool linear = true;
};

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
