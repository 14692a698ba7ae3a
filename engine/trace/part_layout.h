// Where many arrays lie in few buffers: one after the other, aligned, in a new buffer where the device's limit on one
// buffer's size would be passed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::trace {

inline constexpr uint64_t kPartAlignment = 64;

inline uint64_t alignedPart(uint64_t bytes) { return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment; }

struct PartLayout {
  struct Part {
    uint32_t buffer = 0;
    uint64_t offset = 0;  // means nothing where the part is empty
  };
  std::vector<Part> parts;            // one for each size
  std::vector<uint64_t> bufferBytes;  // none is 0
};

/// Sizes in bytes; `limit`: of one buffer, a multiple of kPartAlignment. Throws AdverseError naming `name` and the
/// bytes where one part alone passes it.
PartLayout layoutParts(std::span<const uint64_t> sizes, uint64_t limit, const char* name);

}  // namespace tandem::trace
