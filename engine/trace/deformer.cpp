#include "trace/deformer.h"

#include <algorithm>

#include "gpu/device.h"
#include "trace/part_layout.h"
#include "trace/part_upload.h"

namespace tandem::trace {

namespace {

constexpr uint32_t kThreads = 128;       // of deform and refit_triangles
constexpr uint32_t kNodeThreads = 256;   // of refit_nodes
constexpr uint32_t kMostGroups = 65535;  // Vulkan's least limit

gpu::Groups groupsOver(uint64_t items, uint32_t threads) {
  return {static_cast<uint32_t>(std::clamp<uint64_t>((items + threads - 1) / threads, 1, kMostGroups)), 1, 1};
}

/// Places in a skin, four to two words.
std::vector<uvec2> packJoints(const scene::SkinBinding& binding) {
  std::vector<uvec2> packed(binding.joints.size() / 4);
  for (size_t i = 0; i < packed.size(); i++) {
    const uint16_t* j = &binding.joints[4 * i];
    packed[i] = {j[0] | uint32_t{j[1]} << 16, j[2] | uint32_t{j[3]} << 16};
  }
  return packed;
}

/// What meshes have at rest beside their vertices: uploaded once, however many nodes show them.
struct RestAddresses {
  std::vector<uint64_t> joints, jointWeights, morphStarts, morphDeltas;
};

std::vector<bool> deformingMeshes(const HostScene& host) {
  std::vector<bool> deforms(host.meshes().size(), false);
  for (const DeformingMesh& mesh : host.deforming()) deforms[mesh.mesh] = true;
  return deforms;
}

RestAddresses uploadRest(gpu::Device& device, const HostScene& host, std::vector<gpu::Buffer>& buffers) {
  const std::vector<bool> deforms = deformingMeshes(host);
  std::vector<std::vector<uvec2>> packed;
  std::vector<std::span<const std::byte>> joints, weights, starts, deltas;
  for (size_t i = 0; i < deforms.size(); i++) {
    const scene::Mesh& mesh = host.scene().meshes[i];
    packed.push_back(deforms[i] ? packJoints(mesh.binding) : std::vector<uvec2>());
    joints.push_back(bytesOf(packed.back()));
    const auto part = [&](const auto& range) { return deforms[i] ? bytesOf(range) : std::span<const std::byte>(); };
    weights.push_back(part(mesh.binding.weights));
    starts.push_back(part(mesh.morphs.starts));
    deltas.push_back(part(mesh.morphs.deltas));
  }
  return {uploadParts(device, joints, "joints of vertices", buffers),
          uploadParts(device, weights, "weights of vertices", buffers),
          uploadParts(device, starts, "starts of morph targets", buffers),
          uploadParts(device, deltas, "morph targets", buffers)};
}

uint64_t jointBytes(const HostScene& host) {
  uint64_t joints = 0;
  for (const DeformingMesh& mesh : host.deforming())
    joints = std::max<uint64_t>(joints, mesh.firstJoint + 3 * uint64_t{mesh.jointCount});
  return std::max<uint64_t>(joints, 1) * sizeof(shared::JointMatrix);
}

uint64_t weightBytes(const HostScene& host) {
  uint64_t weights = 0;
  for (const DeformingMesh& mesh : host.deforming()) weights += 3 * mesh.targetBoxes.size();
  return std::max<uint64_t>(weights, 1) * sizeof(float);
}

/// The most heights of any tree that several work groups share.
uint32_t sharedLevels(const HostScene& host) {
  uint32_t levels = 0;
  for (const DeformingMesh& mesh : host.deforming()) levels = std::max(levels, mesh.order.tail);
  return levels;
}

}  // namespace

Deformer::Deformer(gpu::Device& device, const HostScene& host, std::span<const shared::MeshData> rest,
                   std::span<const TreeAddresses> trees)
    : device_(device), host_(host) {
  const std::vector<DeformingMesh>& deforming = host.deforming();
  joints_ = gpu::Buffer(device, jointBytes(host), gpu::Memory::Device, "joint matrices");
  weights_ = gpu::Buffer(device, weightBytes(host), gpu::Memory::Device, "morph weights");
  const RestAddresses addresses = uploadRest(device, host, buffers_);
  std::vector<uint64_t> vertexBytes, tangentBytes, pointBytes;
  std::vector<std::span<const std::byte>> orders, levels;
  for (const DeformingMesh& mesh : deforming) {
    const HostMesh& own = host.meshes()[mesh.mesh];
    vertexBytes.push_back(own.vertices.size() * sizeof(shared::MeshVertex));
    tangentBytes.push_back(own.tangents.size() * sizeof(uint32_t));
    pointBytes.push_back(own.vertices.size() * sizeof(vec3));
    orders.push_back(bytesOf(mesh.order.nodes));
    levels.push_back(bytesOf(mesh.order.levels));
  }
  const auto vertices = allocateParts(device, vertexBytes, "deformed vertices", buffers_);
  const auto tangents = allocateParts(device, tangentBytes, "deformed tangents", buffers_);
  const auto open = allocateParts(device, pointBytes, "positions at the shutter's opening", buffers_);
  const auto close = allocateParts(device, pointBytes, "positions at the shutter's closing", buffers_);
  const auto order = uploadParts(device, orders, "orders of refitting", buffers_);
  const auto level = uploadParts(device, levels, "levels of refitting", buffers_);
  std::vector<shared::DeformJob> jobs;
  std::vector<shared::RefitJob> refits;
  for (size_t i = 0; i < deforming.size(); i++) {
    const DeformingMesh& mesh = deforming[i];
    shared::MeshData data = rest[mesh.mesh];
    jobs.push_back({data.vertices, data.tangents, addresses.joints[mesh.mesh], addresses.jointWeights[mesh.mesh],
                    addresses.morphStarts[mesh.mesh], addresses.morphDeltas[mesh.mesh],
                    joints_.address() + mesh.firstJoint * sizeof(shared::JointMatrix),
                    weights_.address() + mesh.firstWeight * sizeof(float), vertices[i], tangents[i], open[i], close[i],
                    static_cast<uint32_t>(host.meshes()[mesh.mesh].vertices.size()),
                    mesh.skinned ? host.scene().meshes[mesh.mesh].binding.influences : 0, mesh.jointCount,
                    static_cast<uint32_t>(mesh.targetBoxes.size())});
    if (!trees.empty())
      refits.push_back({vertices[i], data.indices, trees[i].nodes, trees[i].triangles, order[i], level[i],
                        static_cast<uint32_t>(mesh.tree.triangles.size()),
                        host.scene().meshes[mesh.mesh].flat ? 1u : 0u,
                        static_cast<uint32_t>(mesh.order.levels.size() - 1), mesh.order.tail});
    data.vertices = vertices[i];
    data.tangents = tangents[i];
    data.open = open[i];
    data.close = close[i];
    meshes_.push_back(data);
  }
  deformJobs_ = uploadParts(device, {bytesOf(jobs)}, "deforming", buffers_)[0];
  if (!refits.empty()) refitJobs_ = uploadParts(device, {bytesOf(refits)}, "refitting", buffers_)[0];
}

void Deformer::upload(gpu::Commands& commands, const FrameDeformation& frame) {
  commands.update(joints_, 0, bytesOf(frame.joints));
  commands.update(weights_, 0, bytesOf(frame.weights));
}

void Deformer::record(gpu::Commands& commands, const FrameDeformation& frame) const {
  deform(commands, frame);
  commands.barrier();
  if (refitJobs_ == 0) return;
  refit(commands);
  commands.barrier();
}

void Deformer::deform(gpu::Commands& commands, const FrameDeformation& frame) const {
  for (uint32_t i = 0; i < host_.deforming().size(); i++) {
    const size_t vertices = host_.meshes()[host_.deforming()[i].mesh].vertices.size();
    commands.dispatch("trace/deform", shared::DeformPush{deformJobs_, i, frame.moving[i]},
                      groupsOver(vertices, kThreads));
  }
}

void Deformer::refit(gpu::Commands& commands) const {
  const std::vector<DeformingMesh>& meshes = host_.deforming();
  for (uint32_t i = 0; i < meshes.size(); i++) {
    if (meshes[i].tree.triangles.empty()) continue;
    commands.dispatch("trace/refit_triangles", shared::RefitPush{refitJobs_, i, 0},
                      groupsOver(meshes[i].tree.triangles.size(), kThreads));
  }
  commands.barrier();
  const uint32_t levels = sharedLevels(host_);
  for (uint32_t level = 0; level < levels; level++) {
    for (uint32_t i = 0; i < meshes.size(); i++) {
      if (level >= meshes[i].order.tail) continue;
      const uint32_t nodes = meshes[i].order.levels[level + 1] - meshes[i].order.levels[level];
      commands.dispatch("trace/refit_nodes", shared::RefitPush{refitJobs_, i, level}, groupsOver(nodes, kNodeThreads));
    }
    commands.barrier();
  }
  for (uint32_t first = 0; first < meshes.size(); first += kMostGroups) {
    const auto rows = std::min<uint32_t>(static_cast<uint32_t>(meshes.size()) - first, kMostGroups);
    commands.dispatch("trace/refit_nodes", shared::RefitPush{refitJobs_, first, shared::kRefitTail}, {1, rows, 1});
  }
}

uint64_t Deformer::bytes() const {
  uint64_t total = joints_.bytes() + weights_.bytes();
  for (const gpu::Buffer& buffer : buffers_) total += buffer.bytes();
  return total;
}

uint64_t estimateDeformerBytes(const HostScene& host) {
  if (host.deforming().empty()) return 0;
  uint64_t total = jointBytes(host) + weightBytes(host);
  const auto add = [&](uint64_t bytes) { total += alignedPart(bytes); };
  const std::vector<bool> deforms = deformingMeshes(host);
  for (size_t i = 0; i < deforms.size(); i++) {
    if (!deforms[i]) continue;
    const scene::Mesh& mesh = host.scene().meshes[i];
    add(mesh.binding.joints.size() * sizeof(uint16_t));
    add(bytesOf(mesh.binding.weights).size());
    add(bytesOf(mesh.morphs.starts).size());
    add(bytesOf(mesh.morphs.deltas).size());
  }
  for (const DeformingMesh& mesh : host.deforming()) {
    const HostMesh& own = host.meshes()[mesh.mesh];
    add(own.vertices.size() * sizeof(shared::MeshVertex));
    add(own.tangents.size() * sizeof(uint32_t));
    add(own.vertices.size() * sizeof(vec3));
    add(own.vertices.size() * sizeof(vec3));
    add(bytesOf(mesh.order.nodes).size());
    add(bytesOf(mesh.order.levels).size());
    total += sizeof(shared::DeformJob) + sizeof(shared::RefitJob) + sizeof(shared::MeshData);
  }
  return total;
}

}  // namespace tandem::trace
