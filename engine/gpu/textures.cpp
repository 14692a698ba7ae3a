#include "gpu/textures.h"

#include <vk_mem_alloc.h>

#include <cstring>

#include "gpu/commands.h"
#include "gpu/device.h"
#include "gpu/mip_chain.h"
#include "gpu/own_memory.h"

namespace tandem::gpu {
namespace {

VkSamplerAddressMode toVulkan(AddressMode mode) {
  switch (mode) {
    case AddressMode::Repeat:
      return VK_SAMPLER_ADDRESS_MODE_REPEAT;
    case AddressMode::MirroredRepeat:
      return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    case AddressMode::ClampToEdge:
      return VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  }
  return VK_SAMPLER_ADDRESS_MODE_REPEAT;
}

constexpr VkImageSubresourceRange kWholeImage{VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1};

void transition(const Commands& commands, VkImage image, VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  if (commands.device().rayTracing()) barrier.dstStageMask |= VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR;
  barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_SHADER_READ_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = kWholeImage;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  commands.device().api().vkCmdPipelineBarrier2(commands.handle(), &dependency);
}

}  // namespace

TextureTable::TextureTable(Device& device, std::span<const TextureSource> sources)
    : device_(device), samplers_(18, VK_NULL_HANDLE) {
  if (sources.size() > kMaxTextures) {
    throw adverse("the scene uses {} textures; at most {} are supported: merge some of them", sources.size(),
                  kMaxTextures);
  }
  for (const TextureSource& source : sources) entries_.push_back(createImage(source));
  uploadAll(sources);
  createSet(sources);
}

TextureTable::~TextureTable() {
  device_.retire([device = &device_, entries = entries_, samplers = samplers_, pool = pool_] {
    const auto& api = device->api();
    for (const Entry& entry : entries) {
      api.vkDestroyImageView(device->handle(), entry.view, nullptr);
      if (entry.memory == VK_NULL_HANDLE) {
        vmaDestroyImage(device->allocator(), entry.image, entry.allocation);
      } else {
        api.vkDestroyImage(device->handle(), entry.image, nullptr);
        api.vkFreeMemory(device->handle(), entry.memory, nullptr);
      }
    }
    for (VkSampler sampler : samplers) api.vkDestroySampler(device->handle(), sampler, nullptr);
    api.vkDestroyDescriptorPool(device->handle(), pool, nullptr);
  });
}

TextureTable::Entry TextureTable::createImage(const TextureSource& source) {
  const uint32_t limit = device_.adapter().limits.maxImageDimension2D;
  if (source.width > limit || source.height > limit) {
    throw adverse("texture '{}' is {} x {}; {} allows {}: scale it down", source.name, source.width, source.height,
                  device_.name(), limit);
  }
  Entry entry;
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = source.srgb ? VK_FORMAT_R8G8B8A8_SRGB : VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {source.width, source.height, 1};
  info.mipLevels = mipLevels(source.width, source.height);
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VmaAllocationCreateInfo allocation{};
  allocation.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
  const VkResult result =
      device_.hooks().memoryNext() != nullptr
          ? createWithOwnMemory(device_, info, allocation, entry.image, entry.memory)
          : vmaCreateImage(device_.allocator(), &info, &allocation, &entry.image, &entry.allocation, nullptr);
  check(result, "vmaCreateImage", source.name, &device_);
  device_.nameObject(VK_OBJECT_TYPE_IMAGE, reinterpret_cast<uint64_t>(entry.image), source.name);
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = entry.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = kWholeImage;
  check(device_.api().vkCreateImageView(device_.handle(), &view, nullptr, &entry.view), "vkCreateImageView",
        source.name);
  bytes_ += mipBytes(source.width, source.height);
  return entry;
}

void TextureTable::uploadAll(std::span<const TextureSource> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {  // one at a time: the staging memory never exceeds the largest texture
    upload(sources[i], entries_[i]);
    device_.collect();
  }
}

void TextureTable::upload(const TextureSource& source, const Entry& entry) {
  const uint64_t first = uint64_t{source.width} * source.height * 4;
  const std::vector<uint8_t> smaller = makeMipChain(source);
  const Buffer staging(device_, first + smaller.size(), Memory::Upload, source.name + " staging");
  std::memcpy(staging.mapped().data(), source.rgba, first);
  if (source.filter == MipFilter::Normals) {
    for (uint64_t i = 3; i < first; i += 4) staging.mapped()[i] = std::byte{255};
  }
  if (!smaller.empty()) std::memcpy(staging.mapped().data() + first, smaller.data(), smaller.size());
  staging.flush();
  std::vector<VkBufferImageCopy> regions;
  uint64_t offset = 0;
  for (uint32_t level = 0; level < mipLevels(source.width, source.height); ++level) {
    VkBufferImageCopy& region = regions.emplace_back();
    region.bufferOffset = offset;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1};
    region.imageExtent = {mipSize(source.width, level), mipSize(source.height, level), 1};
    offset += uint64_t{4} * region.imageExtent.width * region.imageExtent.height;
  }
  runOnce(device_, "upload " + source.name, [&](Commands& commands) {
    transition(commands, entry.image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    device_.api().vkCmdCopyBufferToImage(commands.handle(), staging.handle(), entry.image,
                                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, static_cast<uint32_t>(regions.size()),
                                         regions.data());
    transition(commands, entry.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
  });
}

VkSampler TextureTable::sampler(const TextureSource& source) {
  VkSampler& slot =
      samplers_[(static_cast<size_t>(source.u) * 3 + static_cast<size_t>(source.v)) * 2 + (source.linear ? 1 : 0)];
  if (slot != VK_NULL_HANDLE) return slot;
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.magFilter = info.minFilter = source.linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  info.mipmapMode = source.linear ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
  info.maxLod = VK_LOD_CLAMP_NONE;
  info.addressModeU = toVulkan(source.u);
  info.addressModeV = toVulkan(source.v);
  info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  check(device_.api().vkCreateSampler(device_.handle(), &info, nullptr, &slot), "vkCreateSampler", source.name);
  return slot;
}

void TextureTable::createSet(std::span<const TextureSource> sources) {
  const uint32_t count = std::max<uint32_t>(1, size());
  const VkDescriptorPoolSize poolSize{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count};
  VkDescriptorPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = 1;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &poolSize;
  check(device_.api().vkCreateDescriptorPool(device_.handle(), &poolInfo, nullptr, &pool_), "vkCreateDescriptorPool",
        "textures");
  VkDescriptorSetVariableDescriptorCountAllocateInfo variable{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO};
  variable.descriptorSetCount = 1;
  variable.pDescriptorCounts = &count;
  VkDescriptorSetAllocateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, &variable};
  setInfo.descriptorPool = pool_;
  setInfo.descriptorSetCount = 1;
  const VkDescriptorSetLayout layout = device_.pipelines().textureSetLayout();
  setInfo.pSetLayouts = &layout;
  check(device_.api().vkAllocateDescriptorSets(device_.handle(), &setInfo, &set_), "vkAllocateDescriptorSets",
        "textures");
  for (uint32_t i = 0; i < size(); ++i) {
    const VkDescriptorImageInfo image{sampler(sources[i]), entries_[i].view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set_;
    write.dstArrayElement = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    write.pImageInfo = &image;
    device_.api().vkUpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
  }
}

}  // namespace tandem::gpu
