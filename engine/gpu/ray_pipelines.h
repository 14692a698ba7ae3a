// Ray-tracing pipelines of one device (VK_KHR_ray_tracing_pipeline), made when first used and kept, each with its
// shader binding table. They share the layout of the compute pipelines: push constants and the texture table.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>

#include "gpu/buffer.h"
#include "gpu/pipelines.h"

namespace tandem::gpu {

/// The shaders of one pipeline: one that makes rays, one for rays that miss, and one hit group for triangles.
struct RayShaders {
  std::string raygen, miss, closestHit, anyHit;
  auto operator<=>(const RayShaders&) const = default;
};

/// Owner: the device. Render thread.
class RayPipelines {
 public:
  struct Entry {
    VkPipeline pipeline = VK_NULL_HANDLE;
    Buffer table;
    VkStridedDeviceAddressRegionKHR raygen{}, miss{}, hit{};
  };

  explicit RayPipelines(Device& device) : device_(device) {}
  ~RayPipelines();
  RayPipelines(const RayPipelines&) = delete;
  RayPipelines& operator=(const RayPipelines&) = delete;

  const Entry& get(const RayShaders& shaders, const Specialization& specialization);

 private:
  VkPipeline make(const RayShaders& shaders, const Specialization& specialization);
  void fillTable(Entry& entry, const std::string& name);

  Device& device_;
  std::map<std::pair<RayShaders, Specialization>, Entry> entries_;
};

}  // namespace tandem::gpu
