// Compute pipelines of one device, made when first used and kept, with a cache on disk per GPU UUID and driver version.
//
// All pipelines share one layout: 128 bytes of push constants, and set 0 with the scene's texture table (binding 0, an
// array of combined image samplers, partially bound). A pass that uses no textures binds no set. Everything else is
// reached by buffer device address.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/vulkan.h"

namespace tandem::gpu {

class Device;

inline constexpr uint32_t kPushConstantBytes = 128;
inline constexpr uint32_t kMaxTextures = 4096;

/// Specialization constants by constant_id 0, 1, 2, ... (each 32 bits).
using Specialization = std::vector<uint32_t>;

/// The module of a shader that was compiled into the program; the caller destroys it.
VkShaderModule makeShaderModule(const Device& device, std::string_view shader);

/// Specialization constants in Vulkan's words. The constants must outlive it.
class SpecializationWords {
 public:
  explicit SpecializationWords(const Specialization& words);
  SpecializationWords(const SpecializationWords&) = delete;
  SpecializationWords& operator=(const SpecializationWords&) = delete;
  const VkSpecializationInfo* info() const { return entries_.empty() ? nullptr : &info_; }

 private:
  std::vector<VkSpecializationMapEntry> entries_;
  VkSpecializationInfo info_{};
};

class Pipelines {
 public:
  explicit Pipelines(Device& device);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkPipeline get(std::string_view shader, const Specialization& specialization = {});
  VkPipelineLayout layout() const { return layout_; }
  VkShaderStageFlags stages() const { return stages_; }  // those that the layout serves
  VkPipelineCache cache() const { return cache_; }
  VkDescriptorSetLayout textureSetLayout() const { return setLayout_; }

 private:
  void load();
  void save() const;

  Device& device_;
  VkShaderStageFlags stages_ = VK_SHADER_STAGE_COMPUTE_BIT;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  size_t loadedBytes_ = 0;
  std::map<std::pair<std::string, Specialization>, VkPipeline> pipelines_;
};

}  // namespace tandem::gpu
