#include "trace/host_scene.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <glm/gtc/packing.hpp>

#include "base/log.h"
#include "base/parallel.h"
#include "base/stopwatch.h"
#include "scene/animation.h"
#include "scene/deform.h"
#include "shaders/shared/path_trace.h"

namespace tandem::trace {

uint32_t packDirection(vec3 direction) {
  const float size = std::abs(direction.x) + std::abs(direction.y) + std::abs(direction.z);
  if (!(size > 0.0f) || !std::isfinite(size)) return glm::packSnorm2x16(vec2(0.0f));
  const vec3 n = direction / size;
  const vec2 folded((1.0f - std::abs(n.y)) * (n.x < 0.0f ? -1.0f : 1.0f),
                    (1.0f - std::abs(n.x)) * (n.y < 0.0f ? -1.0f : 1.0f));
  return glm::packSnorm2x16(n.z < 0.0f ? folded : vec2(n));
}

namespace {

/// The most memory that this process has had so far.
uint64_t peakHostBytes() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) << 10 : 0;
}

constexpr size_t kPiece = 65'536;  // vertices that one thread packs at a time

HostMesh packMesh(const scene::Mesh& mesh, uint32_t defaultMaterial) {
  HostMesh packed;
  packed.material = mesh.material == scene::kNone ? defaultMaterial : mesh.material;
  packed.indices = mesh.indices;
  for (const vec3& p : mesh.positions) {
    if (std::isfinite(p.x + p.y + p.z)) packed.bounds.add(p);
  }
  packed.uv0 = mesh.uv0;
  packed.uv1 = mesh.uv1;
  packed.vertices.resize(mesh.positions.size());
  parallelFor(mesh.positions.size(), kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) packed.vertices[i] = {mesh.positions[i], packDirection(mesh.normals[i])};
  });
  packed.tangents.reserve(mesh.tangents.size());
  for (const vec4& t : mesh.tangents)
    packed.tangents.push_back((packDirection(vec3(t)) & ~1u) | (t.w < 0.0f ? 1u : 0u));
  packed.colors.reserve(mesh.colors.size());
  for (const vec4& c : mesh.colors) {
    packed.colors.push_back({glm::packHalf2x16(vec2(c.x, c.y)), glm::packHalf2x16(vec2(c.z, c.w))});
  }
  return packed;
}

}  // namespace

HostScene::HostScene(const scene::Scene& scene, const TreeCache* cache)
    : scene_(scene),
      materials_(makeMaterialTable(scene)),
      environment_(makeEnvironmentTable(scene.environment)),
      animated_(scene::isAnimated(scene)) {
  Stopwatch watch;
  for (const scene::Mesh& mesh : scene.meshes) meshes_.push_back(packMesh(mesh, materials_.defaultMaterial));
  for (uint32_t n = 0; n < scene.nodes.size(); n++) {
    addInstances(n);
    if (scene.nodes[n].light != scene::kNone) lightNodes_.push_back(n);
  }
  placeInFrame(scene_, deforming_);
  const double packed = watch.lap();
  buildTrees(cache);
  features_ = findFeatures();
  log::debug(
      "scene on the host: vertices packed in {:.0f} ms, trees in {:.0f} ms; {} MiB of host memory at most so far",
      packed, watch.lap(), peakHostBytes() >> 20);
}

void HostScene::addInstances(uint32_t node) {
  for (uint32_t mesh : scene_.nodes[node].meshes) {
    HostInstance& instance = instances_.emplace_back(HostInstance{mesh, node});
    if (scene::deforms(scene_, node, mesh)) {
      instance.deforming = static_cast<uint32_t>(deforming_.size());
      deforming_.push_back(makeDeformingMesh(scene_, node, mesh));
    }
    const bool emits = materials_.materials[meshes_[mesh].material].flags & shared::kMaterialEmissive;
    if (emits) emissiveTriangles_ += meshes_[mesh].indices.size() / 3;
  }
}

void HostScene::buildTrees(const TreeCache* cache) {
  const auto alphaTested = [&](uint32_t mesh) {
    return (materials_.materials[meshes_[mesh].material].flags & (shared::kMaterialMask | shared::kMaterialBlend)) != 0;
  };
  merged_ = mergeStatic(scene_, alphaTested, instances_);
  std::vector<MeshView> views;
  std::vector<MeshTree*> targets;
  for (MergedGroup& group : merged_) {
    views.push_back({group.positions, group.indices});
    targets.push_back(&group.tree);
  }
  std::vector<bool> needed(meshes_.size(), false);
  for (const HostInstance& instance : instances_) {
    if (!instance.merged && instance.deforming == scene::kNone) needed[instance.mesh] = true;
  }
  for (size_t i = 0; i < meshes_.size(); i++) {
    if (!needed[i]) continue;
    views.push_back({scene_.meshes[i].positions, scene_.meshes[i].indices});
    targets.push_back(&meshes_[i].tree);
  }
  std::vector<std::vector<vec3>> shapes;
  const scene::Pose atZero = scene::poseAt(scene_, 0.0);
  for (DeformingMesh& deforming : deforming_) {
    shapes.push_back(topologyPositions(scene_, deforming, atZero));
    views.push_back({shapes.back(), scene_.meshes[deforming.mesh].indices});
    targets.push_back(&deforming.tree);
  }
  std::vector<MeshTree> trees = buildMeshTrees(views, cache);
  for (size_t i = 0; i < trees.size(); i++) *targets[i] = std::move(trees[i]);
  for (DeformingMesh& deforming : deforming_) deforming.order = refitOrder(deforming.tree.nodes);
  countLeftOut();
  for (MergedGroup& group : merged_) {
    group.positions = {};
    group.indices = {};
  }
}

void HostScene::countLeftOut() {
  const scene::Pose pose = scene::poseAt(scene_, 0.0);
  for (const MergedGroup& group : merged_) leftOut_.triangles += group.sources.size() - group.tree.triangles.size();
  std::vector<bool> counted(meshes_.size(), false);
  for (const HostInstance& instance : instances_) {
    const HostMesh& mesh = meshes_[instance.mesh];
    if (instance.deforming != scene::kNone)
      leftOut_.triangles += mesh.indices.size() / 3 - deforming_[instance.deforming].tree.triangles.size();
    if (instance.merged || instance.deforming != scene::kNone) continue;
    if (!counted[instance.mesh]) leftOut_.triangles += mesh.indices.size() / 3 - mesh.tree.triangles.size();
    counted[instance.mesh] = true;
    const bool nowhere = placedBounds(mesh.tree.bounds, pose.world[instance.node]).empty();
    if (nowhere && !mesh.tree.triangles.empty()) leftOut_.instances++;
  }
  if (leftOut_.triangles > 0) {
    log::warn("{}: {} triangles have a corner that is not finite or farther than {:.0e} m from their origin: left out",
              scene_.name, leftOut_.triangles, double(kLargestCoordinate));
  }
  if (leftOut_.instances > 0) {
    log::warn("{}: {} instances are scaled to nothing, or their place is not finite: left out while that is so",
              scene_.name, leftOut_.instances);
  }
}

uint32_t HostScene::findFeatures() const {
  uint32_t features = 0;
  if (materials_.textured) features |= shared::kFeatureTextures;
  if (materials_.normalMapped) features |= shared::kFeatureNormalMaps;
  if (materials_.specularTextured) features |= shared::kFeatureSpecularTextures;
  if (!lightNodes_.empty()) features |= shared::kFeaturePunctual;
  if (emissiveTriangles_ > 0) features |= shared::kFeatureEmissive;
  if (!environment_.black) features |= shared::kFeatureEnvironment;
  for (const HostMesh& mesh : meshes_) {
    if (!mesh.colors.empty()) features |= shared::kFeatureColors;
    const uint32_t flags = materials_.materials[mesh.material].flags;
    if (flags & (shared::kMaterialMask | shared::kMaterialBlend)) features |= shared::kFeatureAlpha;
  }
  if (!deforming_.empty()) features |= shared::kFeatureDeforming;
  const auto placed = std::ranges::count_if(instances_, [](const HostInstance& i) { return !i.merged; });
  if (merged_.size() + static_cast<size_t>(placed) == 1) features |= shared::kFeatureSingleTree;
  return features;
}

}  // namespace tandem::trace
