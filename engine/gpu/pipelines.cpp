#include "gpu/pipelines.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "gpu/cache_folder.h"
#include "gpu/device.h"
#include "gpu/pipeline_statistics.h"
#include "gpu/shaders.h"

namespace tandem::gpu {
namespace {

std::filesystem::path cacheFile(const Adapter& adapter) {
  const auto folder = cacheFolder();
  if (folder.empty()) return {};
  const char* width = adapter.software() ? std::getenv("LP_NATIVE_VECTOR_WIDTH") : nullptr;
  return folder / fmt::format("pipelines-{}-{:08x}{}{}.bin", adapter.uuidText(), adapter.driverVersion,
                              width != nullptr ? "-" : "", width != nullptr ? width : "");
}

}  // namespace

VkShaderModule makeShaderModule(const Device& device, std::string_view shader) {
  const Shader& code = findShader(shader);
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = code.bytes;
  info.pCode = code.words;
  VkShaderModule module = VK_NULL_HANDLE;
  check(device.api().vkCreateShaderModule(device.handle(), &info, nullptr, &module), "vkCreateShaderModule", shader);
  return module;
}

SpecializationWords::SpecializationWords(const Specialization& words) {
  for (uint32_t i = 0; i < words.size(); ++i) entries_.push_back({i, i * 4, 4});
  info_ = {static_cast<uint32_t>(entries_.size()), entries_.data(), words.size() * 4, words.data()};
}

Pipelines::Pipelines(Device& device) : device_(device) {
  if (device.rayTracing()) stages_ |= VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR;
  const auto& limits = device.adapter().limits;
  const uint32_t textures =
      std::min({kMaxTextures, limits.maxPerStageDescriptorSampledImages, limits.maxPerStageDescriptorSamplers});
  VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, textures, stages_, nullptr};
  const VkDescriptorBindingFlags flags =
      VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT | VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO};
  flagsInfo.bindingCount = 1;
  flagsInfo.pBindingFlags = &flags;
  VkDescriptorSetLayoutCreateInfo setInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &flagsInfo};
  setInfo.bindingCount = 1;
  setInfo.pBindings = &binding;
  check(device.api().vkCreateDescriptorSetLayout(device.handle(), &setInfo, nullptr, &setLayout_),
        "vkCreateDescriptorSetLayout", "textures");
  const VkPushConstantRange range{stages_, 0, kPushConstantBytes};
  VkPipelineLayoutCreateInfo layoutInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout_;
  layoutInfo.pushConstantRangeCount = 1;
  layoutInfo.pPushConstantRanges = &range;
  check(device.api().vkCreatePipelineLayout(device.handle(), &layoutInfo, nullptr, &layout_), "vkCreatePipelineLayout",
        "all passes");
  load();
}

Pipelines::~Pipelines() {
  save();
  const auto& api = device_.api();
  for (const auto& [key, pipeline] : pipelines_) api.vkDestroyPipeline(device_.handle(), pipeline, nullptr);
  api.vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
  api.vkDestroyPipelineLayout(device_.handle(), layout_, nullptr);
  api.vkDestroyDescriptorSetLayout(device_.handle(), setLayout_, nullptr);
}

VkPipeline Pipelines::get(std::string_view shader, const Specialization& specialization) {
  const auto key = std::pair(std::string(shader), specialization);
  if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second;

  VkShaderModule module = makeShaderModule(device_, shader);
  const SpecializationWords constants(specialization);
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = constants.info();
  info.layout = layout_;
  const bool statistics = wantsStatistics(device_);
  if (statistics) info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result =
      device_.api().vkCreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr, &pipeline);
  device_.api().vkDestroyShaderModule(device_.handle(), module, nullptr);
  check(result, "vkCreateComputePipelines", shader);
  device_.nameObject(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<uint64_t>(pipeline), shader);
  if (statistics) log::debug("{} on {}: {}", shader, device_.name(), statisticsOf(device_, pipeline));
  pipelines_.emplace(key, pipeline);
  return pipeline;
}

void Pipelines::load() {
  std::vector<char> data;
  const auto file = cacheFile(device_.adapter());
  if (std::ifstream in(file, std::ios::binary); in) data.assign(std::istreambuf_iterator<char>(in), {});
  loadedBytes_ = data.size();
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = data.size();
  info.pInitialData = data.data();  // the driver checks the header and ignores what is not its own
  check(device_.api().vkCreatePipelineCache(device_.handle(), &info, nullptr, &cache_), "vkCreatePipelineCache",
        device_.name());
}

/// A cache is a convenience: failing to write it is worth a line in the debug log and no more.
void Pipelines::save() const {
  const auto file = cacheFile(device_.adapter());
  size_t size = 0;
  if (file.empty() || device_.api().vkGetPipelineCacheData(device_.handle(), cache_, &size, nullptr) != VK_SUCCESS)
    return;
  if (size == loadedBytes_) return;
  std::vector<char> data(size);
  if (device_.api().vkGetPipelineCacheData(device_.handle(), cache_, &size, data.data()) != VK_SUCCESS) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path part =
      file.string() + fmt::format(".{}.part", static_cast<const void*>(this)) + std::to_string(::getpid());
  std::ofstream out(part, std::ios::binary);
  out.write(data.data(), static_cast<std::streamsize>(size));
  out.close();
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    std::filesystem::remove(part, error);
    log::debug("the pipeline cache was not written to {}", file.string());
  }
}

}  // namespace tandem::gpu
