// Buffers over memory that was made elsewhere: pages of the host, allocations of CUDA.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/buffer.h"

namespace tandem::topology {

struct ImportedMemory {
  VkExternalMemoryHandleTypeFlagBits handleType;
  const void* importInfo;  // the VkImportMemory... structure
  uint64_t bytes;          // of the whole allocation
  uint32_t typeBits;       // memory types that may be chosen; the first of these that fits a buffer is
  bool addressed;          // shaders use it: the buffer gets a device address
  bool* taken = nullptr;   // set once the driver owns the handle, whatever fails then
};

/// A buffer over the start of it, of `bytes` for its users. Throws DeviceError where the driver refuses.
gpu::Buffer importBuffer(gpu::Device& device, const ImportedMemory& memory, uint64_t bytes, const std::string& name);

}  // namespace tandem::topology
