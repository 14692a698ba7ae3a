// Figures that a driver gives of a shader, in each of its formats.
#include "gpu/pipeline_statistics.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tandem::gpu {
namespace {

VkPipelineExecutableStatisticKHR statistic(const char* name, VkPipelineExecutableStatisticFormatKHR format) {
  VkPipelineExecutableStatisticKHR made{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
  std::strncpy(made.name, name, sizeof(made.name) - 1);
  made.format = format;
  return made;
}

TEST(PipelineStatistics, ReadsEveryFormat) {
  auto registers = statistic("Register Count", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR);
  registers.value.u64 = uint64_t{1} << 40;
  EXPECT_EQ(statisticText(registers), "Register Count 1099511627776");
  auto difference = statistic("Difference", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR);
  difference.value.i64 = -7;
  EXPECT_EQ(statisticText(difference), "Difference -7");
  auto spills = statistic("Spills", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR);
  spills.value.b32 = VK_TRUE;
  EXPECT_EQ(statisticText(spills), "Spills yes");
  auto occupancy = statistic("Occupancy", VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR);
  occupancy.value.f64 = 0.625;
  EXPECT_EQ(statisticText(occupancy), "Occupancy 0.625");
  EXPECT_EQ(statisticText(statistic("New", VkPipelineExecutableStatisticFormatKHR(99))), "New (unknown format)");
}

}  // namespace
}  // namespace tandem::gpu
