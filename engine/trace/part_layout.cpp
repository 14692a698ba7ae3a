#include "trace/part_layout.h"

#include "base/check.h"

namespace tandem::trace {

PartLayout layoutParts(std::span<const uint64_t> sizes, uint64_t limit, const char* name) {
  PartLayout layout;
  for (const uint64_t size : sizes) {
    PartLayout::Part& part = layout.parts.emplace_back();
    if (size == 0) continue;
    // Compared before it is rounded up: near 2^64 that would come out small.
    if (size > limit || alignedPart(size) > limit) {
      throw adverse("the {} of one mesh take {} bytes; the device allows {} in one buffer: split the mesh", name, size,
                    limit);
    }
    if (layout.bufferBytes.empty() || layout.bufferBytes.back() > limit - alignedPart(size))
      layout.bufferBytes.push_back(0);
    part = {static_cast<uint32_t>(layout.bufferBytes.size() - 1), layout.bufferBytes.back()};
    layout.bufferBytes.back() += alignedPart(size);
  }
  return layout;
}

}  // namespace tandem::trace
