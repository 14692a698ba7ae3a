// What the machine's Vulkan devices are, as plain data: for listing, choosing and refusing with a reason. No handle is
// owned here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/vulkan.h"

namespace tandem::gpu {

enum class AdapterType { Discrete, Integrated, Virtual, Software, Other };

std::string_view adapterTypeName(AdapterType type);  // "discrete", "integrated", "virtual", "cpu", "other"

struct PciAddress {
  uint32_t domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const PciAddress&) const = default;
  std::string text() const;  // "0000:18:00.0"
};

struct HeapInfo {
  uint64_t bytes = 0;
  uint64_t budget = 0;  // free for us now by VK_EXT_memory_budget; = bytes where that is absent
  bool deviceLocal = false;
};

/// What a device says of its ray-tracing pipelines (VK_KHR_acceleration_structure, VK_KHR_ray_tracing_pipeline).
struct RayTracingLimits {
  uint32_t groupHandleBytes = 0;  // of a shader group, in the binding table
  uint32_t groupHandleAlignment = 0;
  uint32_t groupBaseAlignment = 0;
  uint32_t scratchAlignment = 0;
  uint64_t mostInstances = 0;
  uint64_t mostTriangles = 0;  // of one structure
  uint32_t mostRays = 0;       // of one dispatch
};

struct Adapter {
  uint32_t index = 0;  // order of vkEnumeratePhysicalDevices; for people, never stored
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  std::string name;
  AdapterType type = AdapterType::Other;
  std::array<uint8_t, VK_UUID_SIZE> uuid{};
  std::array<uint8_t, VK_UUID_SIZE> driverUuid{};
  std::optional<PciAddress> pci;
  uint32_t vendorId = 0, deviceId = 0;
  uint32_t driverVersion = 0;
  std::string driver;  // "NVIDIA 580.159.04", "llvmpipe Mesa 25.0.7 ..."
  uint32_t apiVersion = 0;
  std::vector<HeapInfo> heaps;
  std::vector<std::string> extensions;
  VkPhysicalDeviceLimits limits{};
  uint64_t maxBufferSize = 0;                    // maintenance4
  uint64_t maxAllocationSize = 0;                // maintenance3
  uint64_t minImportedHostPointerAlignment = 0;  // 0: VK_EXT_external_memory_host is absent
  uint32_t subgroupSize = 0;
  bool subgroupBallot = false;                 // in compute shaders
  uint32_t queueFamily = UINT32_MAX;           // the compute and transfer family that Tandem uses
  uint32_t queuesInFamily = 0;                 // how many queues it has
  uint32_t transferFamily = UINT32_MAX;        // a family of copy engines alone; UINT32_MAX: none
  uint32_t queuesInTransferFamily = 0;         // how many queues it has
  bool transferTimestamps = false;             // whether that family has timestamps
  std::optional<RayTracingLimits> rayTracing;  // empty: it has no ray-tracing pipelines
  std::vector<std::string> refusals;           // why it cannot be used; empty: usable

  bool usable() const { return refusals.empty(); }
  bool software() const { return type == AdapterType::Software; }
  bool has(std::string_view extension) const;
  std::string uuidText() const;  // 32 hex digits with dashes
  uint64_t deviceLocalBytes() const;
  uint64_t deviceLocalBudget() const;
};

/// What a device must offer, and have enabled, for ray-tracing pipelines.
inline constexpr std::array kRayTracingExtensions = {VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME,
                                                     VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME,
                                                     VK_KHR_RAY_TRACING_PIPELINE_EXTENSION_NAME};

/// All physical devices of an instance, in the loader's order.
std::vector<Adapter> listAdapters(VkInstance instance);

/// Heaps and budgets as they are now.
std::vector<HeapInfo> queryHeaps(VkPhysicalDevice physical, bool hasBudgetExtension);

/// Device groups as lists of indices into `adapters`.
std::vector<std::vector<uint32_t>> listDeviceGroups(VkInstance instance, const std::vector<Adapter>& adapters);

}  // namespace tandem::gpu
