// One command buffer with what belongs to it: parameter blocks that live as long as it does, timestamps per pass,
// labels. Used by one thread at a time; reused after its submission has finished (begin() waits for nothing: the owner
// knows).
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/pipelines.h"
#include "gpu/ray_pipelines.h"
#include "gpu/vulkan.h"

namespace tandem::gpu {

class Device;
class Queue;
class TextureTable;

/// Work groups of a dispatch.
struct Groups {
  uint32_t x = 1, y = 1, z = 1;
};

inline uint32_t groupsFor(uint32_t items, uint32_t perGroup) { return (items + perGroup - 1) / perGroup; }

/// One label, as the device measured it. Ticks are those of the device's own clock (gpu/clock.h).
struct PassTime {
  std::string name;
  double milliseconds = 0.0;
  uint64_t beginTicks = 0, endTicks = 0;
};

class Commands {
 public:
  Commands(Device& device, std::string name);
  /// For submission to `queue`, one of the device's. On a copy-only family: copies and barriers, no dispatch.
  Commands(Device& device, std::string name, const Queue& queue);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  Device& device() const { return device_; }
  VkCommandBuffer handle() const { return commands_; }

  void begin();
  void end();

  /// Binds a compute shader and dispatches it. `push` is copied to the push constants. `textures`: set 0, where the
  /// shader uses it.
  template <class Push>
  void dispatch(std::string_view shader, const Push& push, Groups groups, const TextureTable* textures = nullptr,
                const Specialization& specialization = {}) {
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) <= kPushConstantBytes);
    dispatchBytes(shader, &push, sizeof(Push), groups, textures, specialization);
  }

  /// Traces rays from a ray-generation shader, one call of it per place of `width` x `height`. Only where the device
  /// has ray-tracing pipelines.
  template <class Push>
  void traceRays(const RayShaders& shaders, const Push& push, uint32_t width, uint32_t height,
                 const TextureTable* textures = nullptr, const Specialization& specialization = {}) {
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) <= kPushConstantBytes);
    traceBytes(shaders, &push, sizeof(Push), width, height, textures, specialization);
  }

  /// Copies a parameter block where shaders can read it until this submission has finished; returns its device address.
  template <class T>
  VkDeviceAddress upload(const T& block) {
    static_assert(std::is_trivially_copyable_v<T>);
    return uploadBytes(std::as_bytes(std::span(&block, 1)));
  }
  VkDeviceAddress uploadBytes(std::span<const std::byte> bytes);

  /// Copies host bytes into a device buffer, through memory that lives as long as this submission. A barrier must
  /// follow before use.
  void update(const Buffer& target, uint64_t offset, std::span<const std::byte> bytes);
  void copy(const Buffer& from, const Buffer& to, uint64_t bytes) { copy(from, 0, to, 0, bytes); }
  void copy(const Buffer& from, uint64_t fromOffset, const Buffer& to, uint64_t toOffset, uint64_t bytes);
  void fill(const Buffer& target, uint32_t value);

  /// All writes before (shader, copy, build) are visible to all accesses after (shader, copy, build). Earlier
  /// submissions of the queue count as before.
  void barrier();
  /// All writes before are visible to the host, once the submission has finished.
  void barrierToHost();

  /// Opens a named section: debug label and timestamps. Sections do not nest.
  void beginSection(std::string_view name);
  void endSection();
  /// Times of all sections; call after the submission has finished. Empty where the family has no timestamps.
  std::vector<PassTime> times() const;

 private:
  struct Block {
    const Buffer* buffer = nullptr;
    uint64_t offset = 0;
  };
  void dispatchBytes(std::string_view shader, const void* push, size_t bytes, Groups groups,
                     const TextureTable* textures, const Specialization& specialization);
  void traceBytes(const RayShaders& shaders, const void* push, size_t bytes, uint32_t width, uint32_t height,
                  const TextureTable* textures, const Specialization& specialization);
  Block stage(std::span<const std::byte> bytes);

  Device& device_;
  std::string name_;
  bool copiesOnly_;  // the family has copy engines alone
  bool timed_;       // the family has timestamps
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  std::vector<std::string> sections_;
  std::vector<Buffer> arena_;
  size_t arenaChunk_ = 0;
  uint64_t arenaUsed_ = 0;
};

/// Records with `record`, submits, waits. For loading, never inside a frame.
template <class Record>
void runOnce(Device& device, std::string_view what, Record&& record);

}  // namespace tandem::gpu

#include "gpu/device.h"

namespace tandem::gpu {

template <class Record>
void runOnce(Device& device, std::string_view what, Record&& record) {
  Commands commands(device, std::string(what));
  commands.begin();
  record(commands);
  commands.end();
  const SyncPoint done = device.queue().submit(commands.handle(), {}, what);
  device.queue().wait(done.value, what);
}

}  // namespace tandem::gpu
