#include "gpu/pipeline_statistics.h"

#include <fmt/core.h>

#include <vector>

#include "base/log.h"
#include "gpu/device.h"

namespace tandem::gpu {

bool wantsStatistics(const Device& device) {
  return log::shows(log::Level::Debug) && device.adapter().has(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
}

std::string statisticText(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return fmt::format("{} {}", statistic.name, statistic.value.b32 != VK_FALSE ? "yes" : "no");
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return fmt::format("{} {}", statistic.name, statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return fmt::format("{} {}", statistic.name, statistic.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return fmt::format("{} {:.3g}", statistic.name, statistic.value.f64);
    default:
      return fmt::format("{} (unknown format)", statistic.name);
  }
}

std::string statisticsOf(const Device& device, VkPipeline pipeline) {
  // A compute pipeline may be several executables (per subgroup size, on some drivers): all of them are shown.
  VkPipelineInfoKHR which{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR};
  which.pipeline = pipeline;
  uint32_t executables = 0;
  const auto& api = device.api();
  if (api.vkGetPipelineExecutablePropertiesKHR(device.handle(), &which, &executables, nullptr) != VK_SUCCESS) return {};
  std::string text;
  for (uint32_t index = 0; index < executables; ++index) {
    VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR};
    info.pipeline = pipeline;
    info.executableIndex = index;
    uint32_t count = 0;
    if (api.vkGetPipelineExecutableStatisticsKHR(device.handle(), &info, &count, nullptr) != VK_SUCCESS) continue;
    std::vector<VkPipelineExecutableStatisticKHR> statistics(
        count, VkPipelineExecutableStatisticKHR{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    if (api.vkGetPipelineExecutableStatisticsKHR(device.handle(), &info, &count, statistics.data()) != VK_SUCCESS)
      continue;
    for (const auto& statistic : statistics) text += (text.empty() ? "" : ", ") + statisticText(statistic);
  }
  return text;
}

}  // namespace tandem::gpu
