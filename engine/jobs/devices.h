// What Vulkan devices there are, and why each can or cannot be used: `tandem devices`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "gpu/adapter.h"

namespace tandem::jobs {

/// Plain data; the handles in it are dead.
struct DeviceList {
  std::vector<gpu::Adapter> adapters;
  std::vector<std::vector<uint32_t>> groups;  // device groups as indices of adapters
  bool anyUsable() const;
};

/// Refuses (NoUsableGpu) where there is no device at all.
Expected<DeviceList> listDevices();

std::string devicesText(const DeviceList& list);
/// One JSON object (schema 1), indented, ending in a line end.
std::string devicesJson(const DeviceList& list);

}  // namespace tandem::jobs
