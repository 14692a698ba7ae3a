#include "gpu/ray_pipelines.h"

#include <array>
#include <span>
#include <vector>

#include "gpu/commands.h"
#include "gpu/device.h"

namespace tandem::gpu {
namespace {

constexpr uint32_t kGroups = 3;  // raygen, miss, hit: in this order in the pipeline and in the table

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

}  // namespace

RayPipelines::~RayPipelines() {
  for (const auto& [key, entry] : entries_) device_.api().vkDestroyPipeline(device_.handle(), entry.pipeline, nullptr);
}

const RayPipelines::Entry& RayPipelines::get(const RayShaders& shaders, const Specialization& specialization) {
  const auto key = std::pair(shaders, specialization);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  Entry entry;
  entry.pipeline = make(shaders, specialization);
  device_.nameObject(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<uint64_t>(entry.pipeline), shaders.raygen);
  fillTable(entry, shaders.raygen);
  return entries_.emplace(key, std::move(entry)).first->second;
}

VkPipeline RayPipelines::make(const RayShaders& shaders, const Specialization& specialization) {
  const SpecializationWords constants(specialization);
  const std::array<std::pair<VkShaderStageFlagBits, const std::string*>, 4> parts = {{
      {VK_SHADER_STAGE_RAYGEN_BIT_KHR, &shaders.raygen},
      {VK_SHADER_STAGE_MISS_BIT_KHR, &shaders.miss},
      {VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, &shaders.closestHit},
      {VK_SHADER_STAGE_ANY_HIT_BIT_KHR, &shaders.anyHit},
  }};
  std::vector<VkPipelineShaderStageCreateInfo> stages;
  for (const auto& [stage, shader] : parts) {
    VkPipelineShaderStageCreateInfo& info = stages.emplace_back();
    info = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage = stage;
    info.module = makeShaderModule(device_, *shader);
    info.pName = "main";
    info.pSpecializationInfo = constants.info();
  }
  std::array<VkRayTracingShaderGroupCreateInfoKHR, kGroups> groups;
  for (auto& group : groups) {
    group = {VK_STRUCTURE_TYPE_RAY_TRACING_SHADER_GROUP_CREATE_INFO_KHR};
    group.type = VK_RAY_TRACING_SHADER_GROUP_TYPE_GENERAL_KHR;
    group.generalShader = group.closestHitShader = group.anyHitShader = group.intersectionShader = VK_SHADER_UNUSED_KHR;
  }
  groups[0].generalShader = 0;
  groups[1].generalShader = 1;
  groups[2].type = VK_RAY_TRACING_SHADER_GROUP_TYPE_TRIANGLES_HIT_GROUP_KHR;
  groups[2].closestHitShader = 2;
  groups[2].anyHitShader = 3;
  VkRayTracingPipelineCreateInfoKHR info{VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR};
  info.stageCount = static_cast<uint32_t>(stages.size());
  info.pStages = stages.data();
  info.groupCount = kGroups;
  info.pGroups = groups.data();
  info.maxPipelineRayRecursionDepth = 1;
  info.layout = device_.pipelines().layout();
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = device_.api().vkCreateRayTracingPipelinesKHR(
      device_.handle(), VK_NULL_HANDLE, device_.pipelines().cache(), 1, &info, nullptr, &pipeline);
  for (const auto& stage : stages) device_.api().vkDestroyShaderModule(device_.handle(), stage.module, nullptr);
  check(result, "vkCreateRayTracingPipelinesKHR", shaders.raygen);
  return pipeline;
}

/// In the device's own memory: every ray reads it. Handles lie `stride` apart; the table begins at a multiple of the
/// base alignment inside a buffer with room for that.
void RayPipelines::fillTable(Entry& entry, const std::string& name) {
  const RayTracingLimits& limits = *device_.adapter().rayTracing;
  const uint32_t size = limits.groupHandleBytes;
  std::vector<std::byte> handles(size_t{size} * kGroups);
  check(device_.api().vkGetRayTracingShaderGroupHandlesKHR(device_.handle(), entry.pipeline, 0, kGroups, handles.size(),
                                                           handles.data()),
        "vkGetRayTracingShaderGroupHandlesKHR", name);
  const uint64_t stride = alignUp(alignUp(size, limits.groupHandleAlignment), limits.groupBaseAlignment);
  entry.table =
      Buffer(device_, stride * kGroups + limits.groupBaseAlignment, Memory::Device, name + " shader binding table");
  const uint64_t base = alignUp(entry.table.address(), limits.groupBaseAlignment);
  runOnce(device_, "shader binding table", [&](Commands& commands) {
    for (uint32_t group = 0; group < kGroups; ++group) {
      commands.update(entry.table, base - entry.table.address() + group * stride,
                      std::span(handles).subspan(size_t{group} * size, size));
    }
    commands.barrier();
  });
  entry.raygen = {base, stride, stride};  // Vulkan: of the ray-generation region, stride = size
  entry.miss = {base + stride, stride, stride};
  entry.hit = {base + 2 * stride, stride, stride};
}

}  // namespace tandem::gpu
