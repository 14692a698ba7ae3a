#include "trace/frame_scene.h"

#include <algorithm>
#include <cmath>

#include "scene/animation.h"
#include "scene/deform.h"

namespace tandem::trace {

namespace {

vec4 row(const mat4& m, int i) { return vec4(m[0][i], m[1][i], m[2][i], m[3][i]); }

shared::CameraData packCamera(const scene::Camera& camera) {
  shared::CameraData data{};
  data.eye = camera.eye;
  data.right = camera.right;
  data.up = camera.up;
  data.forward = camera.forward;
  data.orthographic = camera.orthographic ? 1 : 0;
  data.halfHeight = camera.orthographic ? camera.halfHeight : camera.tanHalfYfov;
  return data;
}

/// The largest coordinate with which rays to an instance are computed, over 8: see offset_from_surface in
/// shaders/lib/geometry.glsl.
float offsetFloor(const Bounds& bounds, const mat4& world) {
  if (bounds.empty()) return 0.0f;
  const vec3 largest = glm::max(glm::max(glm::abs(bounds.min), glm::abs(bounds.max)), glm::abs(vec3(world[3])));
  return std::max({largest.x, largest.y, largest.z}) / 8.0f;
}

/// Emissive triangles of one instance, and their weights: area times weight of the material. Those of a deforming mesh
/// are deformed here, on the CPU, as on the device but for rounding.
void addEmissive(const HostScene& host, uint32_t instance, const scene::Pose& pose, const mat4& world,
                 FrameScene& frame, std::vector<double>& weights) {
  const HostInstance& placed = host.instances()[instance];
  const HostMesh& mesh = host.meshes()[placed.mesh];
  const shared::MaterialData& material = host.materials().materials[mesh.material];
  if (!(material.flags & shared::kMaterialEmissive)) return;
  std::vector<vec3> deformed;
  if (placed.deforming != scene::kNone)
    deformed = scene::deformedPositions(host.scene(), placed.node, placed.mesh, pose);
  const auto corner = [&](size_t index) {
    const uint32_t vertex = mesh.indices[index];
    return vec3(world * vec4(deformed.empty() ? mesh.vertices[vertex].position : deformed[vertex], 1.0f));
  };
  for (uint32_t primitive = 0; primitive < mesh.indices.size() / 3; primitive++) {
    shared::EmissiveTriangle t{};
    t.corner = corner(size_t{primitive} * 3);
    t.edge1 = corner(size_t{primitive} * 3 + 1) - t.corner;
    t.edge2 = corner(size_t{primitive} * 3 + 2) - t.corner;
    t.instance = instance;
    t.primitive = primitive;
    const double area = 0.5 * glm::length(glm::cross(glm::dvec3(t.edge1), glm::dvec3(t.edge2)));
    if (!(area > 0.0) || !std::isfinite(area)) continue;
    frame.emissive.push_back(t);
    weights.push_back(area * static_cast<double>(material.emissiveWeight));
  }
}

uint32_t alphaFlag(const HostScene& host, const HostMesh& mesh) {
  const uint32_t flags = host.materials().materials[mesh.material].flags;
  return flags & (shared::kMaterialMask | shared::kMaterialBlend) ? shared::kInstanceAlphaTested : 0u;
}

/// One instance at the three times of a frame.
struct PlacedInstance {
  mat4 centre, open, close;
  Bounds bounds;        // of all vertices, in the world
  Bounds traced;        // of what its tree holds
  uint32_t mesh = 0;    // in the device's table
  uint32_t flags = 0;   // of InstanceData
  float inside = 1.0f;  // -1: its skin turns it inside out
};

struct Poses {
  const scene::Pose &centre, &open, &close;
};

PlacedInstance place(const HostScene& host, const HostInstance& instance, const Poses& poses,
                     const FrameDeformation& deformation) {
  PlacedInstance p{poses.centre.world[instance.node], poses.open.world[instance.node],
                   poses.close.world[instance.node]};
  const HostMesh& mesh = host.meshes()[instance.mesh];
  if (instance.deforming == scene::kNone) {
    p.mesh = instance.mesh;
    p.bounds = placedBounds(mesh.bounds, p.centre);
    p.traced = placedBounds(mesh.tree.bounds, p.centre);
  } else {
    const DeformingMesh& deforming = host.deforming()[instance.deforming];
    if (deforming.skinned) p.centre = p.open = p.close = mat4(1.0f);
    p.mesh = static_cast<uint32_t>(host.meshes().size()) + instance.deforming;
    p.bounds = placedBounds(deformation.bounds[instance.deforming], p.centre);
    if (!deforming.tree.nodes.empty()) p.traced = p.bounds;
    if (deformation.moving[instance.deforming]) p.flags |= shared::kInstanceDeforms;
    if (deformation.mirrored[instance.deforming]) p.inside = -1.0f;
  }
  if (glm::determinant(mat3(p.centre)) * p.inside < 0.0f) p.flags |= shared::kInstanceMirrored;
  return p;
}

void addInstances(const HostScene& host, const Poses& poses, FrameScene& frame) {
  std::vector<Bounds> bounds;  // of placements
  std::vector<double> weights;
  for (const MergedGroup& group : host.merged()) {
    bounds.push_back(placedBounds(group.tree.bounds, mat4(1.0f)));
    frame.placements.push_back(makeInstance(mat4(1.0f), 0, 0, group.alphaTested ? shared::kInstanceAlphaTested : 0u));
    frame.placedInstances.push_back(0);
  }
  for (uint32_t i = 0; i < host.instances().size(); i++) {
    const HostInstance& instance = host.instances()[i];
    const HostMesh& mesh = host.meshes()[instance.mesh];
    const PlacedInstance p = place(host, instance, poses, frame.deformation);
    const shared::BvhInstance placement = makeInstance(p.centre, 0, 0, alphaFlag(host, mesh));
    frame.instances.push_back({row(p.centre, 0), row(p.centre, 1), row(p.centre, 2),
                               vec3(placement.worldToObject0) * p.inside, vec3(placement.worldToObject1) * p.inside,
                               vec3(placement.worldToObject2) * p.inside, p.mesh, mesh.material, p.flags,
                               offsetFloor(p.bounds, p.centre)});
    frame.motions.push_back(
        {row(p.open, 0), row(p.open, 1), row(p.open, 2), row(p.close, 0), row(p.close, 1), row(p.close, 2)});
    if (!p.bounds.empty()) addEmissive(host, i, poses.centre, p.centre, frame, weights);
    if (instance.merged) continue;
    bounds.push_back(p.traced);
    frame.placements.push_back(placement);
    frame.placedInstances.push_back(i);
  }
  frame.top = buildTopTree(bounds);
  const AliasTable table = makeAliasTable(weights);
  for (size_t i = 0; i < frame.emissive.size(); i++) frame.emissive[i].bin = table.bins[i];
  frame.lights.emissiveWeight = static_cast<float>(table.total);
  frame.lights.emissiveCount = table.total > 0.0 ? static_cast<uint32_t>(frame.emissive.size()) : 0;
}

shared::PunctualLight packLight(const scene::Light& light, const mat4& world) {
  shared::PunctualLight packed{};
  packed.position = vec3(world[3]);
  packed.directional = light.kind == scene::LightKind::Directional ? 1 : 0;
  const vec3 along = -vec3(world[2]);
  const float length = glm::length(along);
  packed.direction = length > 0.0f ? along / length : vec3(0.0f, 0.0f, -1.0f);
  packed.inverseRange = light.range > 0.0f ? 1.0f / light.range : 0.0f;
  packed.intensity = light.color * light.intensity;
  packed.coneOffset = 1.0f;
  if (light.kind == scene::LightKind::Spot) {
    // KHR_lights_punctual, "Inner and Outer Cone Angles".
    packed.coneScale = 1.0f / std::max(0.001f, std::cos(light.innerCone) - std::cos(light.outerCone));
    packed.coneOffset = -std::cos(light.outerCone) * packed.coneScale;
  }
  return packed;
}

/// Half of the choice falls on all lights alike, half by a guess at what they give: irradiance as if seen from the
/// camera.
void addPunctual(const HostScene& host, const scene::Pose& pose, FrameScene& frame) {
  std::vector<double> guesses;
  double total = 0.0;
  for (uint32_t node : host.lightNodes()) {
    const auto light = packLight(host.scene().lights[host.scene().nodes[node].light], pose.world[node]);
    const double strength = luminance(light.intensity);
    if (!(strength > 0.0) || !std::isfinite(strength)) continue;
    const glm::dvec3 away = glm::dvec3(light.position) - glm::dvec3(frame.camera.eye);
    guesses.push_back(light.directional ? strength : strength / std::max(glm::dot(away, away), 1e-6));
    total += guesses.back();
    frame.punctual.push_back(light);
  }
  const double count = static_cast<double>(guesses.size());
  for (double& guess : guesses) guess = 0.5 / count + 0.5 * (total > 0.0 ? guess / total : 1.0 / count);
  const AliasTable table = makeAliasTable(guesses);
  for (size_t i = 0; i < guesses.size(); i++) {
    frame.punctual[i].probability = static_cast<float>(guesses[i] / table.total);
    frame.punctual[i].bin = table.bins[i];
  }
  frame.lights.punctualCount = static_cast<uint32_t>(guesses.size());
}

/// Punctual lights take half, because nothing but this finds them; the rest is shared. Halves and quarters, so that a
/// pixel of four samples gives each group exactly its share.
void chooseGroups(const HostScene& host, shared::LightChoice& lights) {
  if (!host.environment().black) {
    lights.environmentWidth = host.scene().environment.width;
    lights.environmentHeight = host.scene().environment.height;
  }
  const bool punctual = lights.punctualCount > 0, emissive = lights.emissiveCount > 0,
             sky = lights.environmentWidth > 0;
  const float extended = !emissive && !sky ? 0.0f : punctual ? 0.5f : 1.0f;
  lights.punctual = punctual ? 1.0f - extended : 0.0f;
  lights.emissive = !emissive ? 0.0f : sky ? 0.5f * extended : extended;
  lights.environment = !sky ? 0.0f : emissive ? 0.5f * extended : extended;
}

}  // namespace

FrameScene makeFrameScene(const HostScene& host, const scene::CameraChoice& camera, double timeCentre, double timeOpen,
                          double timeClose, uint32_t frame) {
  const scene::Scene& scene = host.scene();
  const scene::Pose centre = scene::poseAt(scene, timeCentre);
  const scene::Pose open = host.animated() ? scene::poseAt(scene, timeOpen) : centre;
  const scene::Pose close = host.animated() ? scene::poseAt(scene, timeClose) : centre;
  FrameScene result;
  result.frame = frame;
  result.camera = packCamera(scene::resolveCamera(scene, camera, centre));
  result.cameraOpen = packCamera(scene::resolveCamera(scene, camera, open));
  result.cameraClose = packCamera(scene::resolveCamera(scene, camera, close));
  result.deformation = poseDeformation(scene, host.deforming(), centre, open, close);
  addInstances(host, {centre, open, close}, result);
  addPunctual(host, centre, result);
  chooseGroups(host, result.lights);
  return result;
}

}  // namespace tandem::trace
