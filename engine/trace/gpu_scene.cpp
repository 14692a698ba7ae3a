#include "trace/gpu_scene.h"

#include <algorithm>
#include <numeric>

#include "base/log.h"
#include "base/stopwatch.h"
#include "gpu/device.h"
#include "gpu/mip_chain.h"
#include "trace/ggx_albedo.h"
#include "trace/part_layout.h"
#include "trace/part_upload.h"

namespace tandem::trace {

namespace {

/// Binary trees have one node less than leaves; a lone leaf has a node of its own.
uint64_t topNodeBytes(size_t instances) { return sizeof(shared::BvhNode) * std::max<size_t>(instances, 1); }

uint64_t movingBytes(const HostScene& host) {
  const size_t count = host.instances().size();
  return count * (sizeof(shared::InstanceData) + sizeof(shared::InstanceMotion) + sizeof(shared::BvhInstance) +
                  sizeof(shared::PlacementData) + sizeof(uint32_t)) +
         topNodeBytes(count) + host.emissiveTriangles() * sizeof(shared::EmissiveTriangle) +
         host.lightNodes().size() * sizeof(shared::PunctualLight);
}

}  // namespace

GpuScene::GpuScene(gpu::Device& device, const HostScene& host, Tracer tracer)
    : device_(device), host_(host), tracer_(tracer) {
  Stopwatch watch;
  if (tracer == Tracer::Compute) uploadTrees();
  uploadSources();
  uploadMeshes();
  addresses_.materials = uploadArray(bytesOf(host.materials().materials), "materials");
  if (!host.environment().black) {
    addresses_.environment = uploadArray(bytesOf(host.scene().environment.radiance), "environment");
    addresses_.environmentRows = uploadArray(bytesOf(host.environment().rows), "environment rows");
    addresses_.environmentColumns = uploadArray(bytesOf(host.environment().columns), "environment columns");
    addresses_.environmentRowGuide = uploadArray(bytesOf(host.environment().rowGuide), "environment row guide");
    addresses_.environmentColumnGuide =
        uploadArray(bytesOf(host.environment().columnGuide), "environment column guide");
  }
  addresses_.albedo = uploadArray(bytesOf(ggxAlbedo().entries), "ggx albedo");
  addresses_.albedoMeans = uploadArray(bytesOf(ggxAlbedo().means), "ggx albedo means");
  textures_ = std::make_unique<gpu::TextureTable>(device, host.materials().textures);

  const size_t count = host.instances().size();
  instances_ = movingBuffer(count * sizeof(shared::InstanceData), "instances");
  motions_ = movingBuffer(count * sizeof(shared::InstanceMotion), "instance motions");
  placements_ = movingBuffer(count * sizeof(shared::BvhInstance), "instance placements");
  placementData_ = movingBuffer(count * sizeof(shared::PlacementData), "placement data");
  topNodes_ = movingBuffer(topNodeBytes(count), "top tree nodes");
  topLeaves_ = movingBuffer(count * sizeof(uint32_t), "top tree leaves");
  emissive_ = movingBuffer(host.emissiveTriangles() * sizeof(shared::EmissiveTriangle), "emissive triangles");
  punctual_ = movingBuffer(host.lightNodes().size() * sizeof(shared::PunctualLight), "punctual lights");
  rayCounters_ = gpu::Buffer(device, shared::kRayCounters * sizeof(uint32_t), gpu::Memory::Readback, "ray counters");
  takeRays();
  log::debug("scene on {}: {} MiB uploaded in {:.0f} ms", device.name(), bytes() >> 20, watch.lap());
}

const gpu::Buffer& GpuScene::scratch(uint64_t bytes) {
  if (scratch_.bytes() < bytes) scratch_ = gpu::Buffer(device_, bytes, gpu::Memory::Device, "path states");
  return scratch_;
}

uint64_t GpuScene::takeRays() {
  rayCounters_.invalidate();
  const std::span<std::byte> bytes = rayCounters_.mapped();
  const std::span counters(reinterpret_cast<const uint32_t*>(bytes.data()), shared::kRayCounters);
  const uint64_t rays = std::accumulate(counters.begin(), counters.end(), uint64_t{0});
  std::ranges::fill(bytes, std::byte{0});
  rayCounters_.flush();
  return rays;
}

uint64_t GpuScene::uploadArray(std::span<const std::byte> bytes, const char* name) {
  return uploadParts(device_, {bytes}, name, buffers_)[0];
}

void GpuScene::uploadTrees() {
  std::vector<std::span<const std::byte>> nodes, triangles;
  for (const MergedGroup& group : host_.merged()) {
    nodes.push_back(bytesOf(group.tree.nodes));
    triangles.push_back(bytesOf(group.tree.triangles));
  }
  for (const HostMesh& mesh : host_.meshes()) {
    nodes.push_back(bytesOf(mesh.tree.nodes));
    triangles.push_back(bytesOf(mesh.tree.triangles));
  }
  for (const DeformingMesh& mesh : host_.deforming()) {
    nodes.push_back(bytesOf(mesh.tree.nodes));
    triangles.push_back(bytesOf(mesh.tree.triangles));
  }
  nodeAddresses_ = uploadParts(device_, nodes, "tree nodes", buffers_);
  triangleAddresses_ = uploadParts(device_, triangles, "tree triangles", buffers_);
}

void GpuScene::uploadSources() {
  std::vector<std::span<const std::byte>> sources;
  for (const MergedGroup& group : host_.merged()) sources.push_back(bytesOf(group.sources));
  sourceAddresses_ = uploadParts(device_, sources, "merged triangles", buffers_);
}

void GpuScene::uploadMeshes() {
  const auto all = [&](auto member, const char* name) {
    std::vector<std::span<const std::byte>> parts;
    for (const HostMesh& mesh : host_.meshes()) parts.push_back(bytesOf(member(mesh)));
    return uploadParts(device_, parts, name, buffers_);
  };
  const auto vertices = all([](const HostMesh& m) { return std::span(m.vertices); }, "vertices");
  const auto indices = all([](const HostMesh& m) { return m.indices; }, "indices");
  const auto uv0 = all([](const HostMesh& m) { return m.uv0; }, "texture coordinates 0");
  const auto uv1 = all([](const HostMesh& m) { return m.uv1; }, "texture coordinates 1");
  const auto tangents = all([](const HostMesh& m) { return std::span(m.tangents); }, "tangents");
  const auto colors = all([](const HostMesh& m) { return std::span(m.colors); }, "vertex colours");
  std::vector<shared::MeshData> meshes;
  for (size_t i = 0; i < vertices.size(); i++) {
    meshes.push_back({vertices[i], indices[i], uv0[i], uv1[i], tangents[i], colors[i], 0, 0});
  }
  const std::vector<shared::MeshData> rest = meshes;
  if (!host_.deforming().empty()) {
    const size_t first = host_.merged().size() + meshes.size();
    std::vector<TreeAddresses> trees;
    for (size_t i = first; i < nodeAddresses_.size(); i++)  // none with Tracer::Rt
      trees.push_back({nodeAddresses_[i], triangleAddresses_[i]});
    deformer_ = std::make_unique<Deformer>(device_, host_, meshes, trees);
    meshes.insert(meshes.end(), deformer_->meshes().begin(), deformer_->meshes().end());
  }
  if (tracer_ == Tracer::Rt)
    rays_ = std::make_unique<RayScene>(device_, host_, rest, std::span(meshes).subspan(rest.size()));
  addresses_.meshes = uploadArray(bytesOf(meshes), "meshes");
}

gpu::Buffer GpuScene::movingBuffer(uint64_t bytes, const char* name) {
  return gpu::Buffer(device_, std::max<uint64_t>(bytes, kPartAlignment), gpu::Memory::Device, name);
}

uint64_t GpuScene::bytes() const {
  uint64_t total = textures_->bytes() + (deformer_ ? deformer_->bytes() : 0) + (rays_ ? rays_->bytes() : 0);
  for (const gpu::Buffer& buffer : buffers_) total += buffer.bytes();
  for (const gpu::Buffer* b :
       {&instances_, &motions_, &placements_, &placementData_, &topNodes_, &topLeaves_, &emissive_, &punctual_}) {
    total += b->bytes();
  }
  return total;
}

/// Which of nodeAddresses_ a placement leads to.
size_t GpuScene::treeOf(const FrameScene& frame, size_t placement) const {
  const size_t groups = host_.merged().size();
  if (placement < groups) return placement;
  const HostInstance& instance = host_.instances()[frame.placedInstances[placement]];
  if (instance.deforming == scene::kNone) return groups + instance.mesh;
  return groups + host_.meshes().size() + instance.deforming;
}

shared::SceneAddresses GpuScene::update(gpu::Commands& commands, const FrameScene& frame) {
  std::vector<shared::BvhInstance> placements = frame.placements;
  std::vector<shared::PlacementData> data(placements.size());
  const size_t groups = host_.merged().size();
  for (size_t i = 0; i < placements.size(); i++) {
    if (tracer_ == Tracer::Compute) {
      const size_t tree = treeOf(frame, i);
      placements[i].nodes = nodeAddresses_[tree];
      placements[i].triangles = triangleAddresses_[tree];
    }
    data[i] = {i < groups ? sourceAddresses_[i] : 0, frame.placedInstances[i], 0};
  }
  commands.barrier();  // the frame before may still be reading
  commands.update(instances_, 0, bytesOf(frame.instances));
  commands.update(motions_, 0, bytesOf(frame.motions));
  commands.update(placementData_, 0, bytesOf(data));
  if (tracer_ == Tracer::Compute) {
    commands.update(placements_, 0, bytesOf(placements));
    commands.update(topNodes_, 0, bytesOf(frame.top.nodes));
    commands.update(topLeaves_, 0, bytesOf(frame.top.leaves));
  }
  commands.update(emissive_, 0, bytesOf(frame.emissive));
  commands.update(punctual_, 0, bytesOf(frame.punctual));
  if (deformer_) deformer_->upload(commands, frame.deformation);
  commands.barrier();
  if (deformer_) deformer_->record(commands, frame.deformation);
  if (rays_) rays_->record(commands, frame);
  shared::SceneAddresses addresses = addresses_;
  addresses.bvh.nodes = topNodes_.address();
  addresses.bvh.leaves = topLeaves_.address();
  addresses.bvh.instances = placements_.address();
  addresses.bvh.accelerated = rays_ ? rays_->address() : 0;
  addresses.bvh.instanceCount = frame.top.nodes.empty() ? 0 : static_cast<uint32_t>(frame.top.leaves.size());
  addresses.placements = placementData_.address();
  addresses.instances = instances_.address();
  addresses.motions = motions_.address();
  addresses.emissive = emissive_.address();
  addresses.punctual = punctual_.address();
  return addresses;
}

uint64_t estimateGpuBytes(const HostScene& host) {
  uint64_t total = movingBytes(host) + estimateDeformerBytes(host);
  const auto add = [&](const auto& range) { total += alignedPart(bytesOf(range).size()); };
  for (const MergedGroup& group : host.merged()) {
    add(group.tree.nodes);
    add(group.tree.triangles);
    add(group.sources);
  }
  for (const DeformingMesh& mesh : host.deforming()) {
    add(mesh.tree.nodes);
    add(mesh.tree.triangles);
  }
  for (const HostMesh& mesh : host.meshes()) {
    add(mesh.tree.nodes);
    add(mesh.tree.triangles);
    add(mesh.vertices);
    add(mesh.indices);
    add(mesh.uv0);
    add(mesh.uv1);
    add(mesh.tangents);
    add(mesh.colors);
    total += sizeof(shared::MeshData);
  }
  add(host.materials().materials);
  if (!host.environment().black) {
    add(host.scene().environment.radiance);
    add(host.environment().rows);
    add(host.environment().columns);
    add(host.environment().rowGuide);
    add(host.environment().columnGuide);
  }
  for (const gpu::TextureSource& texture : host.materials().textures)
    total += gpu::mipBytes(texture.width, texture.height);
  return total;
}

}  // namespace tandem::trace
