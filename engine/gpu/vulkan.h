// Vulkan through volk: instance functions are global, device functions come from each Device's own table (two devices
// live side by side, so the global device functions are never used). Include this, never <vulkan/vulkan.h>.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string>
#include <string_view>

#include "base/check.h"

namespace tandem::gpu {

/// A device that is gone: lost, or its timeline reads UINT64_MAX. Separate from other adverse errors, so that a run may
/// go on without it.
class DeviceLost : public AdverseError {
 public:
  using AdverseError::AdverseError;
};

/// "VK_ERROR_OUT_OF_DEVICE_MEMORY" and so on.
std::string_view resultName(VkResult result);

/// Throws AdverseError (or DeviceLost) with the call's and the object's name unless `result` is VK_SUCCESS.
void check(VkResult result, std::string_view call, std::string_view object);

}  // namespace tandem::gpu
