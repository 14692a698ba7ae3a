// A seat: where a node's work sits. A Device and the device mask under which the node's commands run. A node of its own
// has a whole VkDevice; in a linked group the Devices of several seats share one, and each has hooks that put its mask
// into all it creates (device_group.h, decisions/0002-seats.md).
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/device.h"

namespace tandem::topology {

class Seat {
 public:
  Seat(std::shared_ptr<gpu::Device> device, uint32_t deviceMask)
      : device_(std::move(device)), deviceMask_(deviceMask) {}
  gpu::Device& device() const { return *device_; }
  uint32_t deviceMask() const { return deviceMask_; }

 private:
  std::shared_ptr<gpu::Device> device_;
  uint32_t deviceMask_;
};

}  // namespace tandem::topology
