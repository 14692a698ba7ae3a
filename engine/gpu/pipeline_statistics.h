// What the driver says of a compiled shader: registers, spills, instructions, occupancy, under the driver's own names.
// VK_KHR_pipeline_executable_properties, where it is offered (Device enables it); shown with `-v`.
#pragma once

#include <string>

#include "gpu/vulkan.h"

namespace tandem::gpu {

class Device;

/// Whether pipelines of this device are to be made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR: the extension is
/// there, and someone will see the figures.
bool wantsStatistics(const Device& device);

/// "Register Count 96, Local Memory Size 0, ..."; empty where the driver says nothing. The pipeline was made with
/// statistics.
std::string statisticsOf(const Device& device, VkPipeline pipeline);

/// One figure: "name value".
std::string statisticText(const VkPipelineExecutableStatisticKHR& statistic);

}  // namespace tandem::gpu
