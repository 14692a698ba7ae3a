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

class Device;

/// What one device could not do. `device()`: which one, so that a run may go on without it; null where the failing call
/// belongs to none.
class DeviceError : public AdverseError {
 public:
  explicit DeviceError(const std::string& message, const Device* device = nullptr)
      : AdverseError(message), device_(device) {}
  const Device* device() const { return device_; }

 private:
  const Device* device_;
};

/// A device that is gone: lost, hanging past the limit of a wait, or its timeline reads UINT64_MAX.
class DeviceLost : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// "VK_ERROR_OUT_OF_DEVICE_MEMORY" and so on.
std::string_view resultName(VkResult result);

/// Throws DeviceError (or DeviceLost) with the call's and the object's name unless `result` is VK_SUCCESS.
void check(VkResult result, std::string_view call, std::string_view object, const Device* device = nullptr);

}  // namespace tandem::gpu
