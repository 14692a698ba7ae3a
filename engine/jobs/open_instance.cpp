#include "jobs/open_instance.h"

#include <cstdlib>
#include <string>

namespace tandem::jobs {
namespace {

/// The Vulkan loader looks only at these driver files where one of the variables is set.
std::string hiddenDrivers() {
  std::string text;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    if (const char* value = std::getenv(name))
      text += fmt::format("; {} is set to '{}': unset it or check that file", name, value);
  }
  return text;
}

}  // namespace

Expected<std::unique_ptr<gpu::Instance>> openInstance(bool validation) {
  auto instance = gpu::Instance::open({.validation = validation});
  if (!instance) {
    const Refusal& why = instance.refusal();
    return Refusal{why.exit, why.exit == ExitCode::NoUsableGpu ? why.message + hiddenDrivers() : why.message};
  }
  if ((*instance)->adapters().empty()) {
    return refuse(
        ExitCode::NoUsableGpu,
        "no Vulkan device answers; install a driver (without a GPU, Mesa's software device: mesa-vulkan-drivers, which "
        "tools/run.sh installs){}",
        hiddenDrivers());
  }
  return instance;
}

}  // namespace tandem::jobs
