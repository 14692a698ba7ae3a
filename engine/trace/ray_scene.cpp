#include "trace/ray_scene.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "base/stopwatch.h"
#include "gpu/device.h"
#include "gpu/uploader.h"
#include "trace/part_upload.h"

namespace tandem::trace {

namespace {

/// Corners of so many triangles are on their way to the device at once, or of one tree that has more.
constexpr uint64_t kTrianglesAtOnce = uint64_t{8} << 20;

/// The corners of a tree's triangles, each triangle at its place in the mesh's list, so that the driver counts them as
/// the mesh does; what the tree leaves out is switched off.
void addCorners(const MeshTree& tree, uint64_t primitives, RawVector<vec3>& corners) {
  const size_t first = corners.size();
  corners.resize(first + 3 * primitives);
  std::fill(corners.begin() + static_cast<std::ptrdiff_t>(first), corners.end(),
            vec3(std::numeric_limits<float>::quiet_NaN()));
  for (const shared::BvhTriangle& triangle : tree.triangles) {
    vec3* at = &corners[first + 3 * size_t{triangle.primitive}];
    at[0] = triangle.a;
    at[1] = triangle.b;
    at[2] = triangle.c;
  }
}

/// Rows of an object-to-world matrix, as Vulkan wants them.
VkTransformMatrixKHR transformOf(const shared::InstanceData& instance) {
  VkTransformMatrixKHR transform;
  const vec4* rows[] = {&instance.objectToWorld0, &instance.objectToWorld1, &instance.objectToWorld2};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) transform.matrix[row][column] = (*rows[row])[column];
  }
  return transform;
}

constexpr VkTransformMatrixKHR kIdentity{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

}  // namespace

RayScene::RayScene(gpu::Device& device, const HostScene& host, std::span<const shared::MeshData> rest,
                   std::span<const shared::MeshData> deformed)
    : host_(host) {
  Stopwatch watch;
  buildStatic(device);
  buildDeforming(device, rest, deformed);
  const size_t most = host.merged().size() + host.instances().size();
  top_ = gpu::TopLevel(device, static_cast<uint32_t>(std::min<size_t>(most, UINT32_MAX)), "top level");
  log::debug("acceleration structures on {}: {} MiB built in {:.0f} ms", device.name(), bytes() >> 20, watch.lap());
}

void RayScene::buildStatic(gpu::Device& device) {
  struct Source {
    const MeshTree* tree;
    uint64_t primitives;
  };
  std::vector<Source> sources;
  for (const MergedGroup& group : host_.merged()) sources.push_back({&group.tree, group.sources.size()});
  for (const HostMesh& mesh : host_.meshes()) sources.push_back({&mesh.tree, mesh.indices.size() / 3});
  static_.resize(sources.size());
  for (size_t next = 0; next < sources.size();) {
    const size_t first = next;
    RawVector<vec3> corners;
    std::vector<gpu::TriangleInput> inputs;
    do {
      const Source& source = sources[next];
      const uint64_t primitives = source.tree->triangles.empty() ? 0 : source.primitives;
      inputs.push_back(
          {corners.size() * sizeof(vec3), sizeof(vec3), 3 * primitives, 0, static_cast<uint32_t>(primitives)});
      addCorners(*source.tree, primitives, corners);
      ++next;
    } while (next < sources.size() && corners.size() / 3 + sources[next].primitives <= kTrianglesAtOnce);
    if (corners.empty()) continue;
    const gpu::Buffer buffer(device, corners.size() * sizeof(vec3), gpu::Memory::Device, "corners of triangles");
    gpu::Uploader uploader(device, "corners of triangles");
    uploader.add(buffer, 0, bytesOf(corners));
    uploader.finish();
    for (gpu::TriangleInput& input : inputs) input.positions += buffer.address();
    std::vector<gpu::Acceleration> built = gpu::buildBottomLevels(device, inputs, false, "bottom level");
    std::ranges::move(built, static_.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// First over the shape at rest, from the same memory layout; record() leads them to the vertices of the frame.
void RayScene::buildDeforming(gpu::Device& device, std::span<const shared::MeshData> rest,
                              std::span<const shared::MeshData> deformed) {
  std::vector<std::vector<uint32_t>> lists;
  std::vector<gpu::TriangleInput> atRest, following;
  for (size_t i = 0; i < host_.deforming().size(); ++i) {
    const DeformingMesh& mesh = host_.deforming()[i];
    const HostMesh& own = host_.meshes()[mesh.mesh];
    // What the tree leaves out becomes a point, which no ray hits.
    std::vector<uint32_t>& list = lists.emplace_back(own.indices.size(), 0u);
    for (const shared::BvhTriangle& triangle : mesh.tree.triangles) {
      for (size_t k = 0; k < 3; ++k) list[3 * size_t{triangle.primitive} + k] = own.indices[3 * triangle.primitive + k];
    }
    gpu::TriangleInput input{rest[mesh.mesh].vertices, sizeof(shared::MeshVertex), own.vertices.size(), 0,
                             mesh.tree.triangles.empty() ? 0 : static_cast<uint32_t>(list.size() / 3)};
    atRest.push_back(input);
    input.positions = deformed[i].vertices;
    following.push_back(input);
  }
  std::vector<std::span<const std::byte>> parts;
  for (const auto& list : lists) parts.push_back(bytesOf(list));
  const std::vector<uint64_t> addresses = uploadParts(device, parts, "triangles of deforming meshes", indices_);
  for (size_t i = 0; i < addresses.size(); ++i) atRest[i].indices = following[i].indices = addresses[i];
  deforming_ = gpu::buildBottomLevels(device, atRest, true, "deforming bottom level");
  refitter_ = gpu::Refitter(device, std::move(following));
}

const gpu::Acceleration& RayScene::structureOf(const FrameScene& frame, uint32_t placement) const {
  const size_t groups = host_.merged().size();
  if (placement < groups) return static_[placement];
  const HostInstance& instance = host_.instances()[frame.placedInstances[placement]];
  return instance.deforming == scene::kNone ? static_[groups + instance.mesh] : deforming_[instance.deforming];
}

void RayScene::record(gpu::Commands& commands, const FrameScene& frame) {
  refitter_.record(commands, deforming_);
  commands.barrier();
  // The top tree's leaves are the placements that can be hit; the others have no finite place.
  std::vector<uint32_t> placements = frame.top.leaves;
  std::ranges::sort(placements);
  std::vector<VkAccelerationStructureInstanceKHR> instances;
  for (const uint32_t placement : placements) {
    const gpu::Acceleration& structure = structureOf(frame, placement);
    if (!structure) continue;
    VkAccelerationStructureInstanceKHR& instance = instances.emplace_back();
    const bool merged = placement < host_.merged().size();
    instance.transform = merged ? kIdentity : transformOf(frame.instances[frame.placedInstances[placement]]);
    instance.instanceCustomIndex = placement & 0xffffffu;
    instance.mask = 0xff;
    const bool alpha = (frame.placements[placement].flags & shared::kInstanceAlphaTested) != 0;
    instance.flags = static_cast<VkGeometryInstanceFlagsKHR>(VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR |
                                                             (alpha ? VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR
                                                                    : VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR)) &
                     0xffu;
    instance.accelerationStructureReference = structure.address();
  }
  top_.record(commands, instances);
  commands.barrier();
}

uint64_t RayScene::bytes() const {
  uint64_t total = top_.bytes() + refitter_.bytes();
  for (const auto* list : {&static_, &deforming_}) {
    for (const gpu::Acceleration& structure : *list) total += structure ? structure.bytes() : 0;
  }
  for (const gpu::Buffer& buffer : indices_) total += buffer.bytes();
  return total;
}

}  // namespace tandem::trace
