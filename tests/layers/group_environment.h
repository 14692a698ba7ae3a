// The environment in which Vulkan has a linked group of two: Mesa's software driver twice (its file under two spellings
// of its path), the group layer, and the validation layer above it.
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

namespace tandem::test {

/// The file of this beginning in the system's folders of Vulkan drivers or layers. Throws where there is none: these
/// tests must run wherever the others do.
inline std::filesystem::path systemVulkanFile(const std::string& folder, const std::string& beginning,
                                              const std::string& advice) {
  for (const char* root : {"/usr/local/share/vulkan", "/usr/local/etc/vulkan", "/usr/share/vulkan", "/etc/vulkan"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(root) / folder, error)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(beginning) && name.ends_with(".json")) return entry.path();
    }
  }
  throw std::runtime_error("no " + beginning + "*.json in the system's folders " + folder + ": install " + advice);
}

/// Variables by name. `binaryFolder`: of the build. Throws where the layer was not built.
inline std::map<std::string, std::string> groupEnvironment(const std::filesystem::path& binaryFolder) {
  const std::filesystem::path layers = binaryFolder / "tests/layers";
  for (const char* file : {"libtandem_group_layer.so", "VkLayer_tandem_group.json"}) {
    if (!std::filesystem::exists(layers / file))
      throw std::runtime_error((layers / file).string() + " is missing: build the target tandem_group_layer");
  }
  const auto driver = systemVulkanFile("icd.d", "lvp_icd", "Mesa's software driver (mesa-vulkan-drivers)");
  const auto twin = driver.parent_path() / "." / driver.filename();
  const auto validation =
      systemVulkanFile("explicit_layer.d", "VkLayer_khronos_validation", "vulkan-validationlayers").parent_path();
  // Which of the two stands above the other: by the order of the names for new loaders, by the order in which the files
  // are found for old ones (1.3.239).
  return {{"VK_DRIVER_FILES", driver.string() + ":" + twin.string()},
          {"VK_ADD_LAYER_PATH", validation.string() + ":" + layers.string()},
          {"VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_TANDEM_group"}};
}

}  // namespace tandem::test
