// Acceleration structures (VK_KHR_acceleration_structure): trees that the driver builds, for its ray-tracing pipelines.
// Only on devices with ray tracing. Render thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"

namespace tandem::gpu {

/// Move-only owner of one structure and its memory; destruction is deferred on the device's timeline.
class Acceleration {
 public:
  Acceleration() = default;
  Acceleration(Device& device, VkAccelerationStructureTypeKHR type, uint64_t bytes, const std::string& name);
  ~Acceleration();
  Acceleration(Acceleration&& other) noexcept;
  Acceleration& operator=(Acceleration&& other) noexcept;

  explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }
  VkAccelerationStructureKHR handle() const { return handle_; }
  /// By which instances and shaders name it.
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return memory_.bytes(); }

 private:
  void release();
  Buffer memory_;
  VkAccelerationStructureKHR handle_ = VK_NULL_HANDLE;
  uint64_t address_ = 0;
};

/// The triangles of one bottom-level structure, in memory of the device. A first corner whose x is NaN switches a
/// triangle off.
struct TriangleInput {
  uint64_t positions = 0;  // address of the first vertex; three floats
  uint64_t stride = 12;    // bytes between vertices
  uint64_t vertices = 0;
  uint64_t indices = 0;  // address of three uint32 a triangle; 0: three vertices follow each other
  uint32_t triangles = 0;
};

/// One structure per input, built for fast tracing; empty where an input has no triangles. `changing`: they can be
/// refitted, and are as large as when built; the others are compacted. Waits. Throws AdverseError where memory is short
/// or an input has more triangles than the device takes.
std::vector<Acceleration> buildBottomLevels(Device& device, std::span<const TriangleInput> inputs, bool changing,
                                            const std::string& name);

/// Refits structures to vertices that have moved, every frame.
class Refitter {
 public:
  Refitter() = default;
  Refitter(Device& device, std::vector<TriangleInput> inputs);
  /// `structures`: one per input, as buildBottomLevels made them. Barriers before and after are the caller's.
  void record(Commands& commands, std::span<const Acceleration> structures) const;
  uint64_t bytes() const { return scratch_.bytes(); }

 private:
  std::vector<TriangleInput> inputs_;
  std::vector<uint64_t> scratchAt_;  // address per input
  Buffer scratch_;
};

/// The top-level structure of a scene, built anew every frame.
class TopLevel {
 public:
  TopLevel() = default;
  TopLevel(Device& device, uint32_t mostInstances, const std::string& name);
  /// Uploads the instances and builds; barriers before and after are the caller's.
  void record(Commands& commands, std::span<const VkAccelerationStructureInstanceKHR> instances);
  uint64_t address() const { return structure_.address(); }
  uint64_t bytes() const { return structure_.bytes() + scratch_.bytes() + instances_.bytes(); }

 private:
  Acceleration structure_;
  Buffer instances_, scratch_;
  uint64_t scratchAt_ = 0;
};

}  // namespace tandem::gpu
