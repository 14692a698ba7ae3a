// Arrays of the scene on a device: many in few buffers (trace/part_layout).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/buffer.h"

namespace tandem::trace {

template <class Range>
std::span<const std::byte> bytesOf(const Range& range) {
  return std::as_bytes(std::span(range));
}

/// Room for arrays of these sizes, in buffers that are added to `buffers`: their addresses; 0 for empty ones. Throws
/// AdverseError where memory is short or one array passes the device's limit.
std::vector<uint64_t> allocateParts(gpu::Device& device, std::span<const uint64_t> sizes, const char* name,
                                    std::vector<gpu::Buffer>& buffers);

/// The same, filled. Waits until the device has them.
std::vector<uint64_t> uploadParts(gpu::Device& device, const std::vector<std::span<const std::byte>>& parts,
                                  const char* name, std::vector<gpu::Buffer>& buffers);

}  // namespace tandem::trace
