// Skins and morph targets from glTF, against places known by hand: as the loader reads them and as the CPU deforms
// them.
#include <cmath>
#include <limits>

#include "scene/deform.h"
#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

constexpr float kHalfRoot = 0.70710678f;

void expectNear(vec3 value, vec3 expected) {
  EXPECT_LT(glm::distance(value, expected), 1e-5f) << value.x << " " << value.y << " " << value.z;
}

/// A strip along +Y of three rows of two vertices at heights 0, 1, 2 and x = -0.5, 0.5. The lowest row follows joint 0,
/// the highest joint 1, the middle one both by half. Joint 1 is joint 0's child, one metre up, and turned by 90 degrees
/// around +Z. Its inverse bind matrix takes it back to where it grew.
json armDocument() {
  json document;
  document["asset"] = {{"version", "2.0"}};
  addAccessor<float>(document, {-0.5f, 0, 0, 0.5f, 0, 0, -0.5f, 1, 0, 0.5f, 1, 0, -0.5f, 2, 0, 0.5f, 2, 0}, kFloat,
                     "VEC3", 6);
  addAccessor<uint16_t>(document, {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4}, kUnsignedShort, "SCALAR", 12);
  addAccessor<uint8_t>(document, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
                       kUnsignedByte, "VEC4", 6);
  addAccessor<float>(document, {1, 0, 0, 0, 1, 0, 0, 0, .5f, .5f, 0, 0, .5f, .5f, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, kFloat,
                     "VEC4", 6);
  addAccessor<float>(document,
                     {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1},
                     kFloat, "MAT4", 2);
  document["meshes"] = json::array(
      {{{"primitives",
         json::array({{{"attributes", {{"POSITION", 0}, {"JOINTS_0", 2}, {"WEIGHTS_0", 3}}}, {"indices", 1}}})}}});
  document["nodes"] = json::array({{{"mesh", 0}, {"skin", 0}, {"translation", {7, 8, 9}}},
                                   {{"children", {2}}},
                                   {{"translation", {0, 1, 0}}, {"rotation", {0, 0, kHalfRoot, kHalfRoot}}}});
  document["skins"] = json::array({{{"joints", {1, 2}}, {"inverseBindMatrices", 4}}});
  document["scenes"] = json::array({{{"nodes", json::array({0, 1})}}});
  document["scene"] = 0;
  return document;
}

json& attributes(json& document) { return primitive(document)["attributes"]; }

class GltfDeform : public GltfFiles {
 protected:
  Scene scene(const json& document, const std::string& warning = "") {
    auto loaded = load(document);
    if (!loaded) throw std::runtime_error(loaded.refusal().message);
    if (warning.empty()) {
      EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    } else {
      EXPECT_TRUE(mentions(loaded->warnings, warning))
          << (loaded->warnings.empty() ? "no warning" : loaded->warnings[0]);
    }
    return std::move(loaded->scene);
  }
  std::string refusal(const json& document) {
    auto loaded = load(document);
    return loaded ? "" : loaded.refusal().message;
  }
};

/// The node that has the mesh, deformed; vertices are looked up by where they rest, since missing normals split them.
vec3 placeOf(const Scene& scene, vec3 rest, double seconds = 0.0) {
  uint32_t node = 0;
  while (scene.nodes[node].meshes.empty()) ++node;
  const Mesh& mesh = scene.meshes[scene.nodes[node].meshes[0]];
  const auto positions = deformedPositions(scene, node, scene.nodes[node].meshes[0], poseAt(scene, seconds));
  for (size_t i = 0; i < positions.size(); ++i) {
    if (mesh.positions[i] == rest) return positions[i];
  }
  throw std::runtime_error("no vertex rests there");
}

TEST_F(GltfDeform, ABentArmHasItsVerticesAtKnownPlaces) {
  const Scene arm = scene(armDocument());
  // The node's own place does not count.
  expectNear(placeOf(arm, vec3(-0.5f, 0, 0)), vec3(-0.5f, 0, 0));
  expectNear(placeOf(arm, vec3(0.5f, 0, 0)), vec3(0.5f, 0, 0));
  // The tip, one metre above joint 1, now lies one metre to the left of it.
  expectNear(placeOf(arm, vec3(-0.5f, 2, 0)), vec3(-1, 0.5f, 0));
  expectNear(placeOf(arm, vec3(0.5f, 2, 0)), vec3(-1, 1.5f, 0));
  // The elbow: half way between (x, 1) and (0, 1 + x).
  expectNear(placeOf(arm, vec3(-0.5f, 1, 0)), vec3(-0.25f, 0.75f, 0));
  expectNear(placeOf(arm, vec3(0.5f, 1, 0)), vec3(0.25f, 1.25f, 0));
  EXPECT_TRUE(deforms(arm, 0, 0));
  EXPECT_TRUE(isSkinned(arm, 0, 0));
  const Bounds bounds = boundsOf(arm, poseAt(arm, 0.0));
  expectNear(bounds.min, vec3(-1, 0, 0));
  expectNear(bounds.max, vec3(0.5f, 1.5f, 0));
}

TEST_F(GltfDeform, NormalsFollowEvenWhereTheFileHasNone) {
  json document = armDocument();
  document["nodes"][2]["rotation"] = {kHalfRoot, 0, 0, kHalfRoot};  // the tip comes forward
  const Scene arm = scene(document);
  ASSERT_TRUE(arm.meshes[0].flat);
  const Mesh bent = deformedMesh(arm, 0, 0, poseAt(arm, 0.0));
  for (size_t t = 0; t < bent.indices.size() / 3; ++t) {
    const vec3 a = bent.positions[3 * t], b = bent.positions[3 * t + 1], c = bent.positions[3 * t + 2];
    expectNear(bent.normals[3 * t], glm::normalize(glm::cross(b - a, c - a)));
  }
  EXPECT_LT(bent.normals.back().z, 0.8f);
}

TEST_F(GltfDeform, GivenNormalsTurnWithTheirJoints) {
  json document = armDocument();
  attributes(document)["NORMAL"] =
      addAccessor<float>(document, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, kFloat, "VEC3", 6);
  document["nodes"][2]["scale"] = {1, 5, 1};  // normals answer to the inverse of a scale
  const Scene arm = scene(document);
  const Mesh bent = deformedMesh(arm, 0, 0, poseAt(arm, 0.0));
  expectNear(bent.normals[0], vec3(1, 0, 0));
  expectNear(bent.normals[4], vec3(0, 1, 0));
}

TEST_F(GltfDeform, JointsAnimate) {
  json document = armDocument();
  const size_t times = addAccessor<float>(document, {0, 1}, kFloat, "SCALAR", 2);
  const size_t places = addAccessor<float>(document, {0, 1, 0, 0, 1, 4}, kFloat, "VEC3", 2);
  document["animations"] = {{{"samplers", {{{"input", times}, {"output", places}}}},
                             {"channels", {{{"sampler", 0}, {"target", {{"node", 2}, {"path", "translation"}}}}}}}};
  expectNear(placeOf(scene(document), vec3(0.5f, 2, 0), 0.5), vec3(-1, 1.5f, 2));
}

TEST_F(GltfDeform, MissingInverseBindMatricesAreIdentities) {
  json document = armDocument();
  document["skins"][0].erase("inverseBindMatrices");
  expectNear(placeOf(scene(document), vec3(0.5f, 2, 0)), vec3(-2, 1.5f, 0));
}

TEST_F(GltfDeform, TheSkeletonsRootChangesNothing) {
  json document = armDocument();
  document["skins"][0]["skeleton"] = 2;
  expectNear(placeOf(scene(document), vec3(0.5f, 2, 0)), vec3(-1, 1.5f, 0));
}

TEST_F(GltfDeform, WeightsAreNormalised) {
  for (const bool bytes : {false, true}) {
    json document = armDocument();
    if (bytes) {
      const size_t weights = addAccessor<uint8_t>(
          document, {255, 0, 0, 0, 255, 0, 0, 0, 50, 50, 0, 0, 50, 50, 0, 0, 51, 0, 0, 0, 51, 0, 0, 0}, kUnsignedByte,
          "VEC4", 6);
      document["accessors"][weights]["normalized"] = true;
      attributes(document)["WEIGHTS_0"] = weights;
    } else {
      attributes(document)["WEIGHTS_0"] = addAccessor<float>(
          document, {3, 0, 0, 0, 3, 0, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, .1f, 0, 0, 0, .1f, 0, 0, 0}, kFloat, "VEC4", 6);
    }
    const Scene arm = scene(document);
    expectNear(placeOf(arm, vec3(0.5f, 2, 0)), vec3(-1, 1.5f, 0));
    expectNear(placeOf(arm, vec3(0.5f, 1, 0)), vec3(0.25f, 1.25f, 0));
  }
}

TEST_F(GltfDeform, EightJointsPullAtAVertex) {
  json document = armDocument();
  // Nine more joints, each 8 metres along +X from the origin; the tip's vertices give them half of their weight.
  std::vector<float> inverse{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                             1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1};
  for (int j = 0; j < 9; ++j) {
    document["nodes"].push_back({{"translation", {8, 0, 0}}});
    document["scenes"][0]["nodes"].push_back(3 + j);
    document["skins"][0]["joints"].push_back(3 + j);
    for (const float f : {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}) inverse.push_back(f);
  }
  document["skins"][0]["inverseBindMatrices"] = addAccessor(document, inverse, kFloat, "MAT4", 11);
  std::vector<uint16_t> joints(24, 0);
  std::vector<float> weights(24, 0.0f);
  for (size_t k = 16; k < 24; ++k) {
    joints[k] = static_cast<uint16_t>(2 + k % 9);
    weights[k] = 0.25f;
  }
  attributes(document)["JOINTS_1"] = addAccessor(document, joints, kUnsignedShort, "VEC4", 6);
  attributes(document)["WEIGHTS_1"] = addAccessor(document, weights, kFloat, "VEC4", 6);
  const Scene arm = scene(document);
  EXPECT_EQ(arm.meshes[0].binding.influences, 8u);
  // Half of the way between (-1, 1.5, 0) and (8.5, 2, 0).
  expectNear(placeOf(arm, vec3(0.5f, 2, 0)), vec3(3.75f, 1.75f, 0));
  expectNear(placeOf(arm, vec3(0.5f, 0, 0)), vec3(0.5f, 0, 0));
}

/// The quad with two targets: 0 raises the top edge by 1, 1 pushes everything to z = 2.
json morphDocument() {
  json document = quadDocument();
  const size_t up = addAccessor<float>(document, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0}, kFloat, "VEC3", 4);
  const size_t out = addAccessor<float>(document, {0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2}, kFloat, "VEC3", 4);
  primitive(document)["targets"] = json::array({{{"POSITION", up}}, {{"POSITION", out}}});
  return document;
}

TEST_F(GltfDeform, HalfTheWeightGoesHalfTheWay) {
  json document = morphDocument();
  document["meshes"][0]["weights"] = {0.5, 0.25};
  const Scene quad = scene(document);
  EXPECT_TRUE(deforms(quad, 0, 0));
  EXPECT_FALSE(isSkinned(quad, 0, 0));
  expectNear(placeOf(quad, vec3(1, 1, 0)), vec3(1, 1.5f, 0.5f));
  expectNear(placeOf(quad, vec3(1, 0, 0)), vec3(1, 0, 0.5f));
}

TEST_F(GltfDeform, ANodesWeightsComeBeforeItsMeshs) {
  json document = morphDocument();
  document["meshes"][0]["weights"] = {0.5, 0.25};
  document["nodes"][0]["weights"] = {1, 0};
  expectNear(placeOf(scene(document), vec3(1, 1, 0)), vec3(1, 2, 0));
}

TEST_F(GltfDeform, TargetsWithoutWeightsLeaveTheMeshAlone) {
  const Scene quad = scene(morphDocument());
  EXPECT_FALSE(deforms(quad, 0, 0));
  expectNear(placeOf(quad, vec3(1, 1, 0)), vec3(1, 1, 0));
}

TEST_F(GltfDeform, WeightsAnimateInEveryInterpolation) {
  for (const std::string interpolation : {"LINEAR", "STEP", "CUBICSPLINE"}) {
    json document = morphDocument();
    std::vector<float> values{0, 0, 1, 0.5f};
    if (interpolation == "CUBICSPLINE") values = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0.5f, 0, 0};
    const size_t times = addAccessor<float>(document, {0, 1}, kFloat, "SCALAR", 2);
    const size_t output = addAccessor(document, values, kFloat, "SCALAR", values.size());
    document["animations"] = {{{"samplers", {{{"input", times}, {"output", output}, {"interpolation", interpolation}}}},
                               {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}}}}}};
    const Scene quad = scene(document);
    EXPECT_TRUE(isAnimated(quad));
    // Smooth steps: 3 t^2 - 2 t^3 at a quarter.
    const float way = interpolation == "LINEAR" ? 0.25f : interpolation == "STEP" ? 0.0f : 0.15625f;
    expectNear(placeOf(quad, vec3(1, 1, 0), 0.25), vec3(1, 1 + way, way));
    expectNear(placeOf(quad, vec3(1, 1, 0), 2.0), vec3(1, 2, 1));
  }
}

TEST_F(GltfDeform, TargetsMayBeSparseAndPacked) {
  json document = quadDocument();
  // Sparse over nothing: only vertex 2 moves, by (0, 3, 0).
  const size_t places = addView(document, bytesOf<uint16_t>({2}));
  const size_t values = addView(document, bytesOf<float>({0, 3, 0}));
  document["accessors"].push_back({{"componentType", kFloat},
                                   {"type", "VEC3"},
                                   {"count", 4},
                                   {"sparse",
                                    {{"count", 1},
                                     {"indices", {{"bufferView", places}, {"componentType", kUnsignedShort}}},
                                     {"values", {{"bufferView", values}}}}}});
  const size_t sparse = document["accessors"].size() - 1;
  // KHR_mesh_quantization: signed bytes, normalised, four bytes apart.
  const size_t bytes =
      addAccessor<int8_t>(document, {0, 0, 127, 0, 0, 0, 127, 0, 0, 0, 127, 0, 0, 0, -127, 0}, kByte, "VEC3", 4);
  document["accessors"][bytes]["normalized"] = true;
  document["bufferViews"][document["accessors"][bytes]["bufferView"].get<size_t>()]["byteStride"] = 4;
  document["extensionsUsed"] = {"KHR_mesh_quantization"};
  document["extensionsRequired"] = {"KHR_mesh_quantization"};
  primitive(document)["targets"] = json::array({{{"POSITION", sparse}}, {{"POSITION", bytes}}});
  document["nodes"][0]["weights"] = {1, 2};
  const Scene quad = scene(document);
  expectNear(placeOf(quad, vec3(1, 1, 0)), vec3(1, 4, 2));
  expectNear(placeOf(quad, vec3(0, 1, 0)), vec3(0, 1, -2));
}

TEST_F(GltfDeform, TargetsMoveNormals) {
  json document = morphDocument();
  attributes(document)["NORMAL"] =
      addAccessor<float>(document, {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}, kFloat, "VEC3", 4);
  primitive(document)["targets"][0]["NORMAL"] =
      addAccessor<float>(document, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, kFloat, "VEC3", 4);
  document["nodes"][0]["weights"] = {1, 0};
  const Scene quad = scene(document);
  expectNear(deformedMesh(quad, 0, 0, poseAt(quad, 0.0)).normals[0], vec3(kHalfRoot, 0, kHalfRoot));
}

TEST_F(GltfDeform, TargetsPullBeforeTheSkin) {
  json document = armDocument();
  const size_t right =
      addAccessor<float>(document, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, kFloat, "VEC3", 6);
  primitive(document)["targets"] = json::array({{{"POSITION", right}}});
  document["nodes"][0]["weights"] = {1};
  expectNear(placeOf(scene(document), vec3(0.5f, 2, 0)), vec3(-1, 2.5f, 0));
}

TEST_F(GltfDeform, WhatCannotBeIsRefusedByName) {
  const auto broken = [&](const std::string& pointer, const json& value) {
    json document = armDocument();
    document[json::json_pointer(pointer)] = value;
    return refusal(document);
  };
  json document = armDocument();
  attributes(document)["JOINTS_0"] = addAccessor(document, std::vector<uint8_t>(24, 200), kUnsignedByte, "VEC4", 6);
  EXPECT_NE(refusal(document).find("JOINTS_0 of mesh '': 200 is out of range, skins[0].joints has 2"),
            std::string::npos);
  document = armDocument();
  attributes(document)["JOINTS_0"] = addAccessor(document, std::vector<float>(24, 0.0f), kFloat, "VEC4", 6);
  EXPECT_NE(refusal(document).find("JOINTS_0: accessors[5] must hold plain unsigned integers"), std::string::npos);
  document = armDocument();
  attributes(document)["WEIGHTS_0"] = addAccessor(document, std::vector<float>(20, 0.0f), kFloat, "VEC4", 5);
  EXPECT_NE(refusal(document).find("WEIGHTS_0: accessors[5].count is 5, POSITION's count is 6"), std::string::npos);
  EXPECT_NE(broken("/skins/0/joints", {1, 2, 0}).find("inverseBindMatrices: accessors[4].count is 2 for 3 joints"),
            std::string::npos);
  EXPECT_NE(broken("/accessors/4/type", "MAT2").find("skins[0].inverseBindMatrices: accessors[4] must hold MAT4"),
            std::string::npos);
  document = morphDocument();
  primitive(document)["targets"][1]["POSITION"] = addAccessor(document, std::vector<float>(9, 0.0f), kFloat, "VEC3", 3);
  EXPECT_NE(refusal(document).find("targets[1].POSITION: accessors[4].count is 3, POSITION's count is 4"),
            std::string::npos);
}

TEST_F(GltfDeform, ManyTargetsThatShareAnAccessorAreRefusedBeforeTheyAreRead) {
  json document = quadDocument();
  document["accessors"].push_back({{"componentType", kFloat}, {"type", "VEC3"}, {"count", 16'000'000}});
  const size_t zeros = document["accessors"].size() - 1;
  attributes(document)["POSITION"] = zeros;
  for (int t = 0; t < 5000; ++t) primitive(document)["targets"].push_back({{"POSITION", zeros}});
  EXPECT_NE(refusal(document).find("targets: 5000 targets of 16000000 vertices are more than can be read"),
            std::string::npos);
}

TEST_F(GltfDeform, WhatCanBeMendedIsMendedAndSaid) {
  json document = armDocument();
  std::vector<float> weights(24, 0.0f);
  attributes(document)["WEIGHTS_0"] = addAccessor(document, weights, kFloat, "VEC4", 6);
  expectNear(placeOf(scene(document, "WEIGHTS_0 of a vertex are all 0"), vec3(0.5f, 2, 0)), vec3(0.5f, 2, 0));
  weights.assign(24, std::numeric_limits<float>::quiet_NaN());
  attributes(document)["WEIGHTS_0"] = addAccessor(document, weights, kFloat, "VEC4", 6);
  expectNear(placeOf(scene(document, "negative or not finite"), vec3(0.5f, 2, 0)), vec3(0.5f, 2, 0));
  document = armDocument();
  attributes(document).erase("WEIGHTS_0");
  EXPECT_FALSE(isSkinned(scene(document, "JOINTS_0 and WEIGHTS_0"), 0, 0));
  document = morphDocument();
  document["nodes"][0]["weights"] = {1, 1, 1};
  expectNear(placeOf(scene(document, "nodes[0].weights: 3 weights, 2 targets"), vec3(1, 1, 0)), vec3(1, 2, 2));
  document["nodes"][0]["weights"] = {1};
  expectNear(placeOf(scene(document, "nodes[0].weights: 1 weights, 2 targets"), vec3(1, 1, 0)), vec3(1, 2, 0));
  document = armDocument();
  document["scenes"][0]["nodes"] = {0};
  expectNear(placeOf(scene(document, "is not in the shown scene"), vec3(0.5f, 2, 0)), vec3(0.5f, 1, 0));
}

TEST_F(GltfDeform, WeightsOfOtherNumberThanTheTargetsAreLeftOut) {
  for (const size_t count : {3u, 5u}) {
    json document = morphDocument();
    const size_t times = addAccessor<float>(document, {0, 1}, kFloat, "SCALAR", 2);
    const size_t output = addAccessor(document, std::vector<float>(count, 1.0f), kFloat, "SCALAR", count);
    document["animations"] = {{{"samplers", {{{"input", times}, {"output", output}}}},
                               {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}}}}}};
    EXPECT_TRUE(scene(document, count < 4 ? "too few values" : "too many values").animations.empty());
  }
}

}  // namespace
}  // namespace tandem::scene::test
