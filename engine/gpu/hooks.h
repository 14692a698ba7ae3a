// What a seat in a linked group of GPUs adds to the objects that gpu/ creates: pNext chains, and where its work runs. A
// lone device adds nothing. Implemented in topology/ (the only place that knows of groups); see
// engine/decisions/0002-seats.md.
#pragma once

#include <cstdint>

namespace tandem::gpu {

/// Immutable: asked from any thread that records, submits or allocates. Chains live as long as the hooks.
class ObjectHooks {
 public:
  virtual ~ObjectHooks() = default;

  virtual const void* deviceCreateNext() const { return nullptr; }
  virtual const void* commandBeginNext() const { return nullptr; }
  /// For VkMemoryAllocateInfo, device addresses included. Where there is one, each buffer and image gets memory of its
  /// own; null: the allocator's pools serve.
  virtual const void* memoryNext() const { return nullptr; }

  /// How many seats share the logical device, which of them this is, and the mask of the GPUs that run its command
  /// buffers (0: all there are).
  virtual uint32_t seats() const { return 1; }
  virtual uint32_t seatIndex() const { return 0; }
  virtual uint32_t deviceMask() const { return 0; }
};

}  // namespace tandem::gpu
