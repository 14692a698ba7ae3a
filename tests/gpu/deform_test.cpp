// Skins and morph targets on the device: vertices and trees against the CPU's, pictures against those of meshes that
// were made in the shape, motion against that of rigid objects.
#include "scene/deform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scene/builtin.h"
#include "scene/builtin_shapes.h"
#include "scene/environment.h"
#include "support/gpu_fixture.h"
#include "support/path_tracer.h"
#include "trace/deformer.h"

namespace tandem::test {
namespace {

class DeformTest : public GpuFixture {};

scene::Scene skinned(uint32_t vertices) {
  auto made = scene::makeBuiltin("skinned?vertices=" + std::to_string(vertices));
  if (!made) throw std::runtime_error(made.refusal().message);
  return std::move(*made);
}

/// The scene with its shapes frozen at a time: plain meshes in the same places.
scene::Scene frozen(const scene::Scene& moving, double seconds) {
  scene::Scene still = moving;
  const scene::Pose pose = scene::poseAt(moving, seconds);
  still.animations.clear();
  for (uint32_t n = 0; n < moving.nodes.size(); n++) {
    scene::Node& node = still.nodes[n];
    node.parent = scene::kNone;
    node.hasMatrix = true;
    node.matrix = pose.world[n];
    for (uint32_t& mesh : node.meshes) {
      if (!scene::deforms(moving, n, mesh)) continue;
      if (scene::isSkinned(moving, n, mesh)) node.matrix = mat4(1.0f);
      still.meshes.push_back(scene::deformedMesh(moving, n, mesh, pose));
      mesh = static_cast<uint32_t>(still.meshes.size() - 1);
    }
    node.skin = scene::kNone;
    node.weights.clear();
  }
  return still;
}

/// Pixels whose depths or normals differ by more than rounding: edges that a ray meets on one side or the other.
size_t unlikePixels(const TracedPicture& a, const TracedPicture& b) {
  size_t unlike = 0;
  for (size_t i = 0; i < a.depth.size(); i++) {
    const bool sky = a.depth[i] > 1e30f && b.depth[i] > 1e30f;
    const bool alike =
        std::abs(a.depth[i] - b.depth[i]) <= 1e-4f * a.depth[i] && glm::distance(a.normal[i], b.normal[i]) <= 2e-3f;
    if (!sky && !alike) unlike++;
  }
  return unlike;
}

size_t hitPixels(const TracedPicture& picture) {
  return static_cast<size_t>(std::ranges::count_if(picture.depth, [](float d) { return d < 1e30f; }));
}

/// One Deformer over the first deforming mesh of a scene, with its results where a test can read them.
class LoneDeformer {
 public:
  LoneDeformer(gpu::Device& device, const scene::Scene& scene)
      : device_(device), host_(scene), mesh_(host_.deforming().at(0)) {
    std::vector<shared::MeshData> rest(host_.meshes().size());
    for (size_t i = 0; i < rest.size(); i++) {
      const trace::HostMesh& mesh = host_.meshes()[i];
      vertices_.push_back(upload(device, mesh.vertices, "vertices"));
      indices_.push_back(uploadBuffer(device, std::as_bytes(mesh.indices), "indices"));
      rest[i].vertices = vertices_.back().address();
      rest[i].indices = indices_.back().address();
    }
    std::vector<trace::TreeAddresses> trees;
    for (const trace::DeformingMesh& mesh : host_.deforming()) {
      nodes_.push_back(upload(device, mesh.tree.nodes, "nodes"));
      triangles_.push_back(upload(device, mesh.tree.triangles, "triangles"));
      trees.push_back({nodes_.back().address(), triangles_.back().address()});
    }
    deformer_ = std::make_unique<trace::Deformer>(device, host_, rest, trees);
  }

  void pose(double centre, double open, double close) {
    frame_ = trace::poseDeformation(host_.scene(), host_.deforming(), scene::poseAt(host_.scene(), centre),
                                    scene::poseAt(host_.scene(), open), scene::poseAt(host_.scene(), close));
    gpu::runOnce(device_, "deform test", [&](gpu::Commands& commands) {
      deformer_->upload(commands, frame_);
      commands.barrier();
      deformer_->record(commands, frame_);
    });
  }

  const trace::DeformingMesh& mesh() const { return mesh_; }
  const trace::FrameDeformation& frame() const { return frame_; }
  std::vector<shared::BvhNode> nodes() {
    return download<shared::BvhNode>(device_, nodes_[0], mesh_.tree.nodes.size());
  }
  std::vector<shared::BvhTriangle> triangles() {
    return download<shared::BvhTriangle>(device_, triangles_[0], mesh_.tree.triangles.size());
  }

 private:
  gpu::Device& device_;
  trace::HostScene host_;
  const trace::DeformingMesh& mesh_;
  std::vector<gpu::Buffer> vertices_, indices_, nodes_, triangles_;
  std::unique_ptr<trace::Deformer> deformer_;
  trace::FrameDeformation frame_;
};

Bounds boxOf(const shared::BvhNode& node, int child) {
  const vec4 xy = child == 0 ? node.xy0 : node.xy1;
  return {{xy.x, xy.z, child == 0 ? node.z01.x : node.z01.z}, {xy.y, xy.w, child == 0 ? node.z01.y : node.z01.w}};
}

bool holds(const Bounds& outer, const Bounds& inner) {
  return glm::all(glm::lessThanEqual(outer.min, inner.min)) && glm::all(glm::greaterThanEqual(outer.max, inner.max));
}

/// What lies below a reference, from the triangles themselves; counts boxes that do not hold what is below them.
Bounds truthBelow(const std::vector<shared::BvhNode>& nodes, const std::vector<shared::BvhTriangle>& triangles,
                  uint32_t reference, size_t& escapes, double& area) {
  Bounds all;
  if (reference & shared::kLeafBit) {
    const uint32_t first = reference & ((1u << shared::kLeafCountShift) - 1);
    const uint32_t count = (reference & ~shared::kLeafBit) >> shared::kLeafCountShift;
    for (uint32_t i = first; i < first + count; i++) {
      for (const vec3 p : {triangles[i].a, triangles[i].b, triangles[i].c}) all.add(p);
    }
    return all;
  }
  const shared::BvhNode& node = nodes[reference];
  for (int k = 0; k < 2; k++) {
    const Bounds below = truthBelow(nodes, triangles, k == 0 ? node.child0 : node.child1, escapes, area);
    const Bounds box = boxOf(node, k);
    if (!holds(box, below)) escapes++;
    const vec3 excess = (box.max - box.min) - (below.max - below.min);
    area = std::max(area, double(std::max({excess.x, excess.y, excess.z})));
    all.add(below.min);
    all.add(below.max);
  }
  return all;
}

TEST_F(DeformTest, TreesFollowTheirTriangles) {
  // So many that some heights are shared by several work groups.
  const scene::Scene scene = skinned(20'000);
  LoneDeformer lone(device(), scene);
  ASSERT_GT(lone.mesh().order.tail, 0u);
  for (const double seconds : {0.0, 0.7, 3.3}) {
    lone.pose(seconds, seconds, seconds);
    const auto expected =
        scene::deformedPositions(scene, lone.mesh().node, lone.mesh().mesh, scene::poseAt(scene, seconds));
    const auto nodes = lone.nodes();
    const auto triangles = lone.triangles();
    const std::vector<uint32_t>& indices = scene.meshes[lone.mesh().mesh].indices;
    float farthest = 0.0f;
    Bounds all;
    for (const shared::BvhTriangle& t : triangles) {
      const vec3 corners[3] = {t.a, t.b, t.c};
      for (int k = 0; k < 3; k++) {
        farthest = std::max(farthest, glm::distance(corners[k], expected[indices[3 * t.primitive + k]]));
        all.add(corners[k]);
      }
    }
    EXPECT_LT(farthest, 1e-5f) << "at " << seconds;
    size_t escapes = 0;
    double excess = 0.0;
    truthBelow(nodes, triangles, 0, escapes, excess);
    EXPECT_EQ(escapes, 0u) << "at " << seconds;
    EXPECT_LT(excess, 1e-4) << "boxes are larger than what they hold at " << seconds;
    EXPECT_TRUE(holds(lone.frame().bounds[0], all)) << "at " << seconds;
  }
}

TEST_F(DeformTest, TheSamePoseGivesTheSameBitsWhateverCameBefore) {
  const scene::Scene scene = skinned(20'000);
  LoneDeformer lone(device(), scene);
  const auto bits = [&] {
    const auto nodes = lone.nodes();
    const auto* words = reinterpret_cast<const uint32_t*>(nodes.data());
    return std::vector<uint32_t>(words, words + nodes.size() * sizeof(shared::BvhNode) / 4);
  };
  lone.pose(1.1, 1.1, 1.1);
  const auto first = bits();
  lone.pose(2.9, 2.9, 2.9);
  EXPECT_NE(bits(), first);
  lone.pose(1.1, 1.0, 1.2);
  EXPECT_EQ(bits(), first);
}

TEST_F(DeformTest, ThePictureIsThatOfMeshesMadeInTheShape) {
  const scene::Scene scene = skinned(6'000);
  for (const double seconds : {0.3, 1.4}) {
    const TracedPicture moving = tracePicture(device(), scene, {{96, 54}, 2, 1}, 0, {seconds, seconds, seconds});
    const TracedPicture still = tracePicture(device(), frozen(scene, seconds), {{96, 54}, 2, 1});
    EXPECT_GT(hitPixels(still), 3000u);
    // Rays at the very edge of a triangle may fall on either side of it.
    EXPECT_LE(unlikePixels(moving, still), 12u) << "at " << seconds;
    EXPECT_LT(glm::distance(moving.mean(), still.mean()), 2e-3f * glm::length(still.mean())) << "at " << seconds;
  }
}

TEST_F(DeformTest, NormalsOfFlatMeshesFollow) {
  scene::Scene scene;
  scene::Mesh box = scene::makeBox(vec3(0.5f), scene::addMaterial(scene, "grey", vec3(0.5f), 1.0f));
  box.morphs.count = 1;
  for (uint32_t i = 0; i < box.positions.size(); i++) {
    box.morphs.starts.push_back(i);
    box.morphs.deltas.push_back({0, vec3(box.positions[i].y, 0.0f, 0.3f * box.positions[i].x), vec3(0.0f), vec3(0.0f)});
  }
  box.morphs.starts.push_back(static_cast<uint32_t>(box.positions.size()));
  std::vector<uint32_t> corners = box.indices;
  scene::Mesh flat;
  flat.material = box.material;
  flat.flat = true;
  flat.morphs.count = 1;
  for (const uint32_t corner : corners) {
    flat.indices.push_back(static_cast<uint32_t>(flat.positions.size()));
    flat.morphs.starts.push_back(static_cast<uint32_t>(flat.positions.size()));
    flat.positions.push_back(box.positions[corner]);
    flat.normals.push_back(box.normals[corner]);
    flat.morphs.deltas.push_back(box.morphs.deltas[corner]);
  }
  flat.morphs.starts.push_back(static_cast<uint32_t>(flat.positions.size()));
  const uint32_t node = scene::addShape(scene, "box", std::move(flat), vec3(0.2f, 0.1f, 0.0f));
  scene.nodes[node].weights = {0.8f};
  scene::addCamera(scene, "camera", vec3(1.5f, 1.2f, 3.0f), vec3(0.0f), 40.0f);
  scene.environment = scene::uniformEnvironment(vec3(1.0f));
  const TracedPicture moving = tracePicture(device(), scene, {{64, 48}, 1, 0});
  const TracedPicture still = tracePicture(device(), frozen(scene, 0.0), {{64, 48}, 1, 0});
  EXPECT_GT(hitPixels(still), 400u);
  EXPECT_LE(unlikePixels(moving, still), 4u);
}

/// A quad that moves by (0.4, 0, 0.2) a second: as a rigid node, on a joint, or by a morph target.
enum class Mover { Rigid, Joint, Target };

scene::Scene movingQuad(Mover mover) {
  scene::Scene scene;
  const uint32_t grey = scene::addMaterial(scene, "grey", vec3(0.5f), 1.0f);
  scene::Mesh quad = scene::makeQuad(vec3(-0.5f, 0.0f, -0.5f), vec3(0.0f, 0.0f, 1.0f), vec3(1.0f, 0.0f, 0.0f), grey);
  scene::Channel channel;
  channel.times = {0.0f, 1.0f};
  channel.values = {0.0f, 0.0f, 0.0f, 0.4f, 0.0f, 0.2f};
  if (mover == Mover::Joint) {
    quad.binding = {4, {}, {}, 1};
    for (size_t i = 0; i < quad.positions.size(); i++) {
      quad.binding.joints.insert(quad.binding.joints.end(), 4, 0);
      quad.binding.weights.insert(quad.binding.weights.end(), {1.0f, 0.0f, 0.0f, 0.0f});
    }
  }
  if (mover == Mover::Target) {
    quad.morphs.count = 1;
    for (uint32_t i = 0; i < quad.positions.size(); i++) {
      quad.morphs.starts.push_back(i);
      quad.morphs.deltas.push_back({0, vec3(0.4f, 0.0f, 0.2f), vec3(0.0f), vec3(0.0f)});
    }
    quad.morphs.starts.push_back(static_cast<uint32_t>(quad.positions.size()));
    channel.path = scene::AnimatedPath::Weights;
    channel.values = {0.0f, 1.0f};
  }
  channel.node = scene::addShape(scene, "quad", std::move(quad));
  if (mover == Mover::Target) scene.nodes[channel.node].weights = {0.0f};
  if (mover == Mover::Joint) {
    scene.nodes[channel.node].skin = 0;
    scene.skins.push_back({"skin", {channel.node + 1}, {mat4(1.0f)}});
    scene.nodes.emplace_back();
    channel.node++;
  }
  scene.animations.push_back({"move", {std::move(channel)}});
  scene::addShape(scene, "floor",
                  scene::makeQuad(vec3(-3.0f, -1.0f, -3.0f), vec3(0.0f, 0.0f, 6.0f), vec3(6.0f, 0.0f, 0.0f), grey));
  scene::addCamera(scene, "camera", vec3(0.0f, 3.0f, 2.0f), vec3(0.0f), 45.0f);
  scene.environment = scene::uniformEnvironment(vec3(1.0f));
  return scene;
}

TEST_F(DeformTest, MotionIsThatOfARigidObjectThatMovesAlike) {
  const TraceTimes times{0.5, 0.25, 0.75};
  const TracedPicture rigid = tracePicture(device(), movingQuad(Mover::Rigid), {{64, 48}, 1, 0}, 0, times);
  const vec2 centre = rigid.motion[rigid.at(36, 26)];
  EXPECT_GT(glm::length(centre), 2.0f) << "the quad stands: equality proves little";
  EXPECT_EQ(rigid.motion[rigid.at(3, 40)], vec2(0.0f));
  for (const Mover mover : {Mover::Joint, Mover::Target}) {
    const TracedPicture picture = tracePicture(device(), movingQuad(mover), {{64, 48}, 1, 0}, 0, times);
    EXPECT_LE(unlikePixels(picture, rigid), 2u);
    size_t unlike = 0;
    for (size_t i = 0; i < rigid.motion.size(); i++) {
      if (glm::distance(rigid.motion[i], picture.motion[i]) > 0.01f) unlike++;
    }
    EXPECT_LE(unlike, 2u) << (mover == Mover::Joint ? "joint" : "target");
  }
}

TEST_F(DeformTest, AClosedShutterShowsNoMotion) {
  const TracedPicture picture = tracePicture(device(), movingQuad(Mover::Joint), {{32, 24}, 1, 0}, 0, {0.5, 0.5, 0.5});
  for (const vec2 motion : picture.motion) ASSERT_EQ(motion, vec2(0.0f));
}

TEST_F(DeformTest, LampsThatDeformShineFromWhereTheyAre) {
  scene::Scene scene = movingQuad(Mover::Joint);
  scene.environment = {};
  const uint32_t lamp = scene::addEmitter(scene, "lamp", vec3(5.0f));
  scene.materials[lamp].doubleSided = true;
  scene.meshes[0].material = lamp;
  // At 2 s the animation's end value holds: 0.4 m to the right.
  const TraceTimes times{2.0, 2.0, 2.0};
  const TracedPicture moving = tracePicture(device(), scene, {{48, 36}, 16, 1}, 0, times);
  const TracedPicture still = tracePicture(device(), frozen(scene, 2.0), {{48, 36}, 16, 1});
  EXPECT_GT(still.mean().x, 0.1f);
  EXPECT_LT(glm::distance(moving.mean(), still.mean()), 2e-3f * glm::length(still.mean()));
}

TEST_F(DeformTest, WhatIsThrownOutOfReachIsNotDrawnAndBreaksNothing) {
  for (const float weight : {1e30f, -1e20f, 3e38f}) {
    scene::Scene scene = movingQuad(Mover::Target);
    scene.animations.clear();
    scene.nodes[0].weights = {weight};
    const TracedPicture picture = tracePicture(device(), scene, {{32, 24}, 2, 1});
    scene.nodes.erase(scene.nodes.begin());
    const TracedPicture without = tracePicture(device(), scene, {{32, 24}, 2, 1});
    EXPECT_EQ(unlikePixels(picture, without), 0u) << weight;
    for (const vec4& r : picture.radiance) ASSERT_TRUE(std::isfinite(r.x + r.y + r.z));
  }
}

TEST_F(DeformTest, JointsScaledToNothingHideWhatTheyCarry) {
  scene::Scene scene = movingQuad(Mover::Joint);
  scene.animations.clear();
  scene.nodes[1].scale = vec3(0.0f);
  const TracedPicture picture = tracePicture(device(), scene, {{32, 24}, 1, 1});
  scene.nodes.erase(scene.nodes.begin());
  EXPECT_EQ(unlikePixels(picture, tracePicture(device(), scene, {{32, 24}, 1, 1})), 0u);
}

TEST_F(DeformTest, AMirroredSkinShowsItsFrontAsAMirroredNodeDoes) {
  scene::Scene scene = movingQuad(Mover::Joint);
  scene.animations.clear();
  scene.nodes[1].scale = vec3(-1.0f, 1.0f, 1.0f);
  scene::Scene rigid = movingQuad(Mover::Rigid);
  rigid.animations.clear();
  rigid.nodes[0].scale = vec3(-1.0f, 1.0f, 1.0f);
  const TracedPicture skin = tracePicture(device(), scene, {{32, 24}, 2, 1});
  const TracedPicture node = tracePicture(device(), rigid, {{32, 24}, 2, 1});
  EXPECT_LE(unlikePixels(skin, node), 1u);
  EXPECT_LT(glm::distance(skin.mean(), node.mean()), 2e-3f);
}

}  // namespace
}  // namespace tandem::test
