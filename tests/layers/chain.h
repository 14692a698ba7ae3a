// Vulkan pNext chains without one of their structures: what a layer hands down when the device below knows nothing of
// groups. Chains belong to the caller and may be shared between threads, so nothing is edited in place: the structures
// in front of the removed one are copied, the ones behind it are shared.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

namespace tandem::layer {

/// Bytes of the structures that the engine and the layers above put in front of a group structure.
inline size_t sizeOf(VkStructureType type) {
  switch (type) {
    case VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO:
      return sizeof(VkMemoryDedicatedAllocateInfo);
    case VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO:
      return sizeof(VkMemoryAllocateFlagsInfo);
    case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
      return sizeof(VkTimelineSemaphoreSubmitInfo);
    default:
      std::fprintf(stderr, "group layer: a structure of type %d stands before a group structure: add its size\n", type);
      std::abort();
  }
}

inline const VkBaseInStructure* find(const void* chain, VkStructureType type) {
  for (auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    if (at->sType == type) return at;
  }
  return nullptr;
}

/// A chain and the copies that it consists of.
class Chain {
 public:
  explicit Chain(const void* original) : head_(original) {}

  void remove(VkStructureType type) {
    const VkBaseInStructure* removed = find(head_, type);
    if (removed != nullptr) head_ = copyUpTo(removed, removed->pNext);
  }

  /// The structure of this type as a copy that may be changed; null: the chain has none.
  template <class T>
  T* writable(VkStructureType type) {
    const VkBaseInStructure* found = find(head_, type);
    if (found == nullptr) return nullptr;
    VkBaseOutStructure* copy = copyOf(found);
    head_ = copyUpTo(found, reinterpret_cast<VkBaseInStructure*>(copy));
    return reinterpret_cast<T*>(copy);
  }

  const void* head() const { return head_; }

 private:
  VkBaseOutStructure* copyOf(const VkBaseInStructure* at) {
    auto& bytes = copies_.emplace_back();
    std::memcpy(bytes.data.data(), at, sizeOf(at->sType));
    return reinterpret_cast<VkBaseOutStructure*>(bytes.data.data());
  }
  const void* copyUpTo(const VkBaseInStructure* end, const VkBaseInStructure* tail) {
    const void* head = tail;
    VkBaseOutStructure* last = nullptr;
    for (auto* at = static_cast<const VkBaseInStructure*>(head_); at != end; at = at->pNext) {
      VkBaseOutStructure* copy = copyOf(at);
      copy->pNext = const_cast<VkBaseOutStructure*>(reinterpret_cast<const VkBaseOutStructure*>(tail));
      if (last != nullptr) last->pNext = copy;
      if (last == nullptr) head = copy;
      last = copy;
    }
    return head;
  }

  struct Bytes {
    alignas(std::max_align_t) std::array<std::byte, 64> data;
  };
  const void* head_;
  std::deque<Bytes> copies_;
};

}  // namespace tandem::layer
