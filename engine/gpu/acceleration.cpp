#include "gpu/acceleration.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/device.h"

namespace tandem::gpu {
namespace {

/// Scratch memory of builds that run side by side.
constexpr uint64_t kScratchBudget = uint64_t{256} << 20;

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

uint64_t scratchAlignment(const Device& device) { return std::max(device.adapter().rayTracing->scratchAlignment, 1u); }

VkBuildAccelerationStructureFlagsKHR flagsFor(bool changing) {
  return VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR |
         (changing ? VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR
                   : VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_COMPACTION_BIT_KHR);
}

VkAccelerationStructureGeometryKHR geometryOf(const TriangleInput& input) {
  VkAccelerationStructureGeometryKHR geometry{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR};
  geometry.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  auto& triangles = geometry.geometry.triangles;
  triangles = {VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR};
  triangles.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  triangles.vertexData.deviceAddress = input.positions;
  triangles.vertexStride = input.stride;
  triangles.maxVertex = static_cast<uint32_t>(std::max<uint64_t>(input.vertices, 1) - 1);
  triangles.indexType = input.indices != 0 ? VK_INDEX_TYPE_UINT32 : VK_INDEX_TYPE_NONE_KHR;
  triangles.indexData.deviceAddress = input.indices;
  return geometry;
}

/// One build in Vulkan's words. It points into itself: it stays where it was made.
struct Build {
  Build(const TriangleInput& input, bool changing) : geometry(geometryOf(input)) {
    info.type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
    info.flags = flagsFor(changing);
    info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR;
    info.geometryCount = 1;
    info.pGeometries = &geometry;
    range.primitiveCount = input.triangles;
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  VkAccelerationStructureBuildSizesInfoKHR sizes(const Device& device) const {
    VkAccelerationStructureBuildSizesInfoKHR found{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR};
    device.api().vkGetAccelerationStructureBuildSizesKHR(
        device.handle(), VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &info, &range.primitiveCount, &found);
    return found;
  }
  void record(const Commands& commands) const {
    const VkAccelerationStructureBuildRangeInfoKHR* ranges = &range;
    commands.device().api().vkCmdBuildAccelerationStructuresKHR(commands.handle(), 1, &info, &ranges);
  }

  VkAccelerationStructureGeometryKHR geometry;
  VkAccelerationStructureBuildGeometryInfoKHR info{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR};
  VkAccelerationStructureBuildRangeInfoKHR range{};
};

/// How large each structure is when it is packed.
class SizeQueries {
 public:
  SizeQueries(Device& device, uint32_t count) : device_(device), count_(count) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
    info.queryCount = count;
    check(device.api().vkCreateQueryPool(device.handle(), &info, nullptr, &pool_), "vkCreateQueryPool",
          "compacted sizes");
    device.api().vkResetQueryPool(device.handle(), pool_, 0, count);
  }
  ~SizeQueries() { device_.api().vkDestroyQueryPool(device_.handle(), pool_, nullptr); }
  SizeQueries(const SizeQueries&) = delete;
  SizeQueries& operator=(const SizeQueries&) = delete;

  void record(const Commands& commands, std::span<const VkAccelerationStructureKHR> structures) const {
    device_.api().vkCmdWriteAccelerationStructuresPropertiesKHR(commands.handle(), count_, structures.data(),
                                                                VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR,
                                                                pool_, 0);
  }
  std::vector<uint64_t> read() const {
    std::vector<uint64_t> sizes(count_);
    device_.require(
        device_.api().vkGetQueryPoolResults(device_.handle(), pool_, 0, count_, count_ * sizeof(uint64_t), sizes.data(),
                                            sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults", "compacted sizes");
    return sizes;
  }

 private:
  Device& device_;
  uint32_t count_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

/// Copies structures into just as much memory as they need.
void compact(Device& device, std::vector<Acceleration>& built, const std::string& name) {
  std::vector<VkAccelerationStructureKHR> handles;
  for (const Acceleration& structure : built) handles.push_back(structure.handle());
  const SizeQueries queries(device, static_cast<uint32_t>(handles.size()));
  runOnce(device, name, [&](const Commands& commands) { queries.record(commands, handles); });
  const std::vector<uint64_t> sizes = queries.read();
  std::vector<Acceleration> packed;
  runOnce(device, name, [&](const Commands& commands) {
    for (size_t i = 0; i < built.size(); ++i) {
      packed.emplace_back(device, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, sizes[i], name);
      VkCopyAccelerationStructureInfoKHR copy{VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_INFO_KHR};
      copy.src = built[i].handle();
      copy.dst = packed[i].handle();
      copy.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_COMPACT_KHR;
      device.api().vkCmdCopyAccelerationStructureKHR(commands.handle(), &copy);
    }
  });
  built = std::move(packed);
}

/// Builds side by side what fits the scratch memory together. `inputs` have triangles.
std::vector<Acceleration> buildTogether(Device& device, std::span<const TriangleInput> inputs, bool changing,
                                        const std::string& name) {
  const uint64_t alignment = scratchAlignment(device);
  std::vector<Acceleration> built;
  std::vector<std::unique_ptr<Build>> builds;
  std::vector<uint64_t> offsets;
  uint64_t scratchBytes = 0;
  for (const TriangleInput& input : inputs) {
    const Build& build = *builds.emplace_back(std::make_unique<Build>(input, changing));
    const auto sizes = build.sizes(device);
    built.emplace_back(device, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, sizes.accelerationStructureSize, name);
    offsets.push_back(scratchBytes);
    scratchBytes += alignUp(sizes.buildScratchSize, alignment);
  }
  const Buffer scratch(device, scratchBytes + alignment, Memory::Device, name + " scratch");
  runOnce(device, name, [&](Commands& commands) {
    commands.barrier();  // the uploads
    for (size_t i = 0; i < builds.size(); ++i) {
      builds[i]->info.dstAccelerationStructure = built[i].handle();
      builds[i]->info.scratchData.deviceAddress = alignUp(scratch.address(), alignment) + offsets[i];
      builds[i]->record(commands);
    }
    commands.barrier();
  });
  if (!changing) compact(device, built, name);
  return built;
}

}  // namespace

Acceleration::Acceleration(Device& device, VkAccelerationStructureTypeKHR type, uint64_t bytes, const std::string& name)
    : memory_(device, std::max<uint64_t>(bytes, 256), Memory::Device, name) {
  VkAccelerationStructureCreateInfoKHR info{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR};
  info.buffer = memory_.handle();
  info.size = memory_.bytes();
  info.type = type;
  check(device.api().vkCreateAccelerationStructureKHR(device.handle(), &info, nullptr, &handle_),
        "vkCreateAccelerationStructureKHR", name);
  device.nameObject(VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR, reinterpret_cast<uint64_t>(handle_), name);
  VkAccelerationStructureDeviceAddressInfoKHR address{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR};
  address.accelerationStructure = handle_;
  address_ = device.api().vkGetAccelerationStructureDeviceAddressKHR(device.handle(), &address);
}

Acceleration::~Acceleration() { release(); }

Acceleration::Acceleration(Acceleration&& other) noexcept { *this = std::move(other); }

Acceleration& Acceleration::operator=(Acceleration&& other) noexcept {
  if (this == &other) return *this;
  release();
  memory_ = std::move(other.memory_);
  handle_ = std::exchange(other.handle_, VK_NULL_HANDLE);
  address_ = std::exchange(other.address_, 0);
  return *this;
}

void Acceleration::release() {
  if (handle_ == VK_NULL_HANDLE) return;
  Device& device = memory_.device();
  device.retire([&device, handle = handle_] {
    device.api().vkDestroyAccelerationStructureKHR(device.handle(), handle, nullptr);
  });
  handle_ = VK_NULL_HANDLE;
}

std::vector<Acceleration> buildBottomLevels(Device& device, std::span<const TriangleInput> inputs, bool changing,
                                            const std::string& name) {
  std::vector<Acceleration> all(inputs.size());
  std::vector<TriangleInput> together;
  std::vector<size_t> places;
  uint64_t scratch = 0;
  const auto flush = [&] {
    if (together.empty()) return;
    std::vector<Acceleration> built = buildTogether(device, together, changing, name);
    for (size_t i = 0; i < built.size(); ++i) all[places[i]] = std::move(built[i]);
    together.clear();
    places.clear();
    scratch = 0;
    device.collect();  // what was larger or is no longer needed
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].triangles == 0) continue;
    if (inputs[i].triangles > device.adapter().rayTracing->mostTriangles) {
      throw adverse("a mesh has {} triangles and ray-tracing pipelines of {} take {}: choose --tracer compute",
                    inputs[i].triangles, device.name(), device.adapter().rayTracing->mostTriangles);
    }
    const uint64_t needed = Build(inputs[i], changing).sizes(device).buildScratchSize;
    if (scratch + needed > kScratchBudget) flush();
    together.push_back(inputs[i]);
    places.push_back(i);
    scratch += needed;
  }
  flush();
  return all;
}

Refitter::Refitter(Device& device, std::vector<TriangleInput> inputs) : inputs_(std::move(inputs)) {
  const uint64_t alignment = scratchAlignment(device);
  uint64_t bytes = 0;
  for (const TriangleInput& input : inputs_) {
    scratchAt_.push_back(bytes);
    bytes += alignUp(std::max<uint64_t>(Build(input, true).sizes(device).updateScratchSize, 1), alignment);
  }
  if (bytes == 0) return;
  scratch_ = Buffer(device, bytes + alignment, Memory::Device, "refit scratch");
  for (uint64_t& at : scratchAt_) at += alignUp(scratch_.address(), alignment);
}

void Refitter::record(Commands& commands, std::span<const Acceleration> structures) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!structures[i]) continue;
    Build build(inputs_[i], true);
    build.info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR;
    build.info.srcAccelerationStructure = build.info.dstAccelerationStructure = structures[i].handle();
    build.info.scratchData.deviceAddress = scratchAt_[i];
    build.record(commands);
  }
}

namespace {

/// As Build, of instances.
struct TopBuild {
  TopBuild(uint64_t instances, uint32_t count) {
    geometry.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
    geometry.geometry.instances = {VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR};
    geometry.geometry.instances.data.deviceAddress = instances;
    info.type = VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
    info.flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
    info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR;
    info.geometryCount = 1;
    info.pGeometries = &geometry;
    range.primitiveCount = count;
  }
  TopBuild(const TopBuild&) = delete;
  TopBuild& operator=(const TopBuild&) = delete;

  VkAccelerationStructureGeometryKHR geometry{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR};
  VkAccelerationStructureBuildGeometryInfoKHR info{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR};
  VkAccelerationStructureBuildRangeInfoKHR range{};
};

}  // namespace

TopLevel::TopLevel(Device& device, uint32_t mostInstances, const std::string& name) {
  if (mostInstances > device.adapter().rayTracing->mostInstances) {
    throw adverse("the scene has {} instances and ray-tracing pipelines of {} take {}: choose --tracer compute",
                  mostInstances, device.name(), device.adapter().rayTracing->mostInstances);
  }
  instances_ = Buffer(device, std::max<uint64_t>(mostInstances, 1) * sizeof(VkAccelerationStructureInstanceKHR),
                      Memory::Device, name + " instances");
  const TopBuild build(instances_.address(), mostInstances);
  VkAccelerationStructureBuildSizesInfoKHR sizes{VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR};
  device.api().vkGetAccelerationStructureBuildSizesKHR(device.handle(), VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR,
                                                       &build.info, &mostInstances, &sizes);
  structure_ =
      Acceleration(device, VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, sizes.accelerationStructureSize, name);
  const uint64_t alignment = scratchAlignment(device);
  scratch_ = Buffer(device, sizes.buildScratchSize + alignment, Memory::Device, name + " scratch");
  scratchAt_ = alignUp(scratch_.address(), alignment);
}

void TopLevel::record(Commands& commands, std::span<const VkAccelerationStructureInstanceKHR> instances) {
  commands.update(instances_, 0, std::as_bytes(instances));
  commands.barrier();
  TopBuild build(instances_.address(), static_cast<uint32_t>(instances.size()));
  build.info.dstAccelerationStructure = structure_.handle();
  build.info.scratchData.deviceAddress = scratchAt_;
  const VkAccelerationStructureBuildRangeInfoKHR* ranges = &build.range;
  commands.device().api().vkCmdBuildAccelerationStructuresKHR(commands.handle(), 1, &build.info, &ranges);
}

}  // namespace tandem::gpu
