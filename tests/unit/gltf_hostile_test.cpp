// Malformed and hostile glTF files: each ends in a refusal or a warning that names the field; none crashes or takes
// memory on a number's word alone.
#include <cmath>
#include <functional>
#include <limits>

#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

struct Case {
  std::string name;
  std::function<void(json&)> change;
  std::vector<std::string> words;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::function<void(json&)> set(const std::string& pointer, const json& value) {
  return [=](json& document) { document[json::json_pointer(pointer)] = value; };
}

/// Turns the quad document into one with an animation of node 0; `change` may then break it.
std::function<void(json&)> animated(const std::vector<float>& times, const std::vector<float>& values,
                                    const std::string& path, const std::function<void(json&)>& change = {}) {
  return [=](json& document) {
    const size_t input = addAccessor(document, times, kFloat, "SCALAR", times.size());
    const size_t width = path == "rotation" ? 4 : 3;
    const size_t output = addAccessor(document, values, kFloat, width == 4 ? "VEC4" : "VEC3", values.size() / width);
    document["animations"] = {{{"samplers", {{{"input", input}, {"output", output}}}},
                               {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", path}}}}}}}};
    if (change) change(document);
  };
}

std::function<void(json&)> withLight(const json& light) {
  return [=](json& document) {
    document["extensions"]["KHR_lights_punctual"]["lights"] = json::array({light});
    document["nodes"][0]["extensions"]["KHR_lights_punctual"]["light"] = 0;
  };
}

std::function<void(json&)> withCamera(const json& camera) {
  return [=](json& document) {
    document["cameras"] = json::array({camera});
    document["nodes"][0]["camera"] = 0;
  };
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint64_t kNearly2To64 = 18446744073709551600u;

class GltfHostile : public GltfFiles {};

class GltfRefused : public GltfFiles, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tandem_refused_" + GetParam().name + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
};
class GltfWarned : public GltfRefused {};

TEST_P(GltfRefused, NamesTheField) {
  json document = quadDocument();
  GetParam().change(document);
  const auto loaded = load(document);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.refusal().exit, ExitCode::UnusableInput);
  EXPECT_NE(loaded.refusal().message.find("scene.gltf"), std::string::npos);
  for (const std::string& word : GetParam().words) {
    EXPECT_NE(loaded.refusal().message.find(word), std::string::npos) << loaded.refusal().message;
  }
}

TEST_P(GltfWarned, RendersOnAndNamesTheField) {
  json document = quadDocument();
  GetParam().change(document);
  const auto loaded = load(document);
  ASSERT_TRUE(loaded) << loaded.refusal().message;
  for (const std::string& word : GetParam().words) EXPECT_TRUE(mentions(loaded->warnings, word)) << word;
  for (const Mesh& mesh : loaded->scene.meshes) {
    EXPECT_EQ(mesh.normals.size(), mesh.positions.size());
    for (const uint32_t index : mesh.indices) EXPECT_LT(index, mesh.positions.size());
    for (const vec3 p : mesh.positions) EXPECT_TRUE(std::isfinite(p.x + p.y + p.z));
    for (const vec3 n : mesh.normals) EXPECT_NEAR(glm::length(n), 1.0f, 1e-4f);
  }
}

const Case kRefused[] = {
    {"AssetMissing", [](json& d) { d.erase("asset"); }, {"asset"}},
    {"Version1", set("/asset/version", "1.0"), {"version"}},
    {"Version3", set("/asset/version", "3.0"), {"version"}},
    {"VersionNumber", set("/asset/version", 2.0), {"asset.version"}},
    {"MinVersion", set("/asset/minVersion", "2.1"), {"minVersion"}},
    {"NodesObject", set("/nodes", json::object()), {"nodes"}},
    {"MeshString", set("/nodes/0/mesh", "0"), {"nodes[0].mesh"}},
    {"MeshFraction", set("/nodes/0/mesh", 0.5), {"nodes[0].mesh"}},
    {"MeshNegative", set("/nodes/0/mesh", -1), {"nodes[0].mesh"}},
    {"MeshRange", set("/nodes/0/mesh", 99), {"nodes[0].mesh", "99"}},
    {"ChildRange", set("/nodes/0/children", {4000}), {"nodes[0].children[0]"}},
    {"SelfChild", set("/nodes/0/children", {0}), {"cycle"}},
    {"Cycle",
     [](json& d) {
       d["nodes"] = {{{"mesh", 0}}, {{"children", {2}}}, {{"children", {3}}}, {{"children", {1}}}};
     },
     {"cycle"}},
    {"TwoParents",
     [](json& d) {
       d["nodes"] = {{{"mesh", 0}}, {{"children", {0}}}, {{"children", {0}}}};
     },
     {"parent", "nodes[2].children"}},
    {"SceneRange", set("/scene", 5), {"scene"}},
    {"SceneNodeRange", set("/scenes/0/nodes", {77}), {"scenes[0].nodes[0]"}},
    {"Matrix15", set("/nodes/0/matrix", std::vector<int>(15, 1)), {"nodes[0].matrix"}},
    {"MaterialRange", [](json& d) { primitive(d)["material"] = 31; }, {"meshes[0].primitives[0].material"}},
    {"AttributeRange", [](json& d) { primitive(d)["attributes"]["POSITION"] = 999; }, {"attributes.POSITION"}},
    {"Mode9", [](json& d) { primitive(d)["mode"] = 9; }, {"mode"}},
    {"NoPrimitives", set("/meshes/0/primitives", json::array()), {"meshes[0].primitives"}},
    {"CountU32Max", set("/accessors/0/count", 4294967295u), {"accessors[0]", "count"}},
    {"Count2To62", set("/accessors/0/count", uint64_t{1} << 62), {"accessors[0]", "count"}},
    {"CountZero", set("/accessors/0/count", 0), {"accessors[0].count"}},
    {"CountNegative", set("/accessors/0/count", -4), {"accessors[0].count"}},
    {"CountWithoutView",
     [](json& d) {
       d["accessors"][0].erase("bufferView");
       d["accessors"][0]["count"] = uint64_t{1} << 60;
     },
     {"accessors[0].count"}},
    {"AccessorPastView", set("/accessors/0/count", 5), {"accessors[0]", "bufferViews[0]"}},
    {"AccessorOffsetWraps", set("/accessors/0/byteOffset", kNearly2To64), {"accessors[0]", "byteOffset"}},
    {"AccessorView", set("/accessors/0/bufferView", 42), {"accessors[0].bufferView"}},
    {"ComponentType", set("/accessors/0/componentType", 5124), {"accessors[0].componentType"}},
    {"AccessorType", set("/accessors/0/type", "VEC5"), {"accessors[0].type"}},
    {"PositionVec2", set("/accessors/0/type", "VEC2"), {"POSITION"}},
    {"ViewPastEnd", set("/bufferViews/0/byteLength", 49), {"bufferViews[0]"}},
    {"ViewOffsetWraps", set("/bufferViews/0/byteOffset", kNearly2To64), {"bufferViews[0]", "byteOffset"}},
    {"ViewBuffer", set("/bufferViews/0/buffer", 7), {"bufferViews[0].buffer"}},
    {"StrideSmall", set("/bufferViews/0/byteStride", 4), {"byteStride"}},
    {"StrideOdd", set("/bufferViews/0/byteStride", 13), {"byteStride"}},
    {"BufferZero", set("/buffers/0/byteLength", 0), {"buffers[0].byteLength"}},
    {"BufferShort", set("/buffers/0/byteLength", 1000), {"buffers[0].byteLength"}},
    {"BufferHuge", set("/buffers/0/byteLength", uint64_t{1} << 62), {"buffers[0].byteLength"}},
    {"BufferNoUri", [](json& d) { d["buffers"][0].erase("uri"); }, {"buffers[0]"}},
    {"BufferGone", set("/buffers/0/uri", "nowhere.bin"), {"buffers[0].uri", "nowhere.bin"}},
    {"BufferEmptyUri", set("/buffers/0/uri", ""), {"uri"}},
    {"BufferTraversal", set("/buffers/0/uri", "../../etc/passwd"), {"../"}},
    {"BufferTraversalInside", set("/buffers/0/uri", "sub/../../passwd"), {"folder"}},
    {"BufferTraversalEncoded", set("/buffers/0/uri", "%2e%2e/%2E%2E/etc/passwd"), {"folder"}},
    {"BufferAbsolute", set("/buffers/0/uri", "/etc/passwd"), {"/etc/passwd", "absolute"}},
    {"BufferFileScheme", set("/buffers/0/uri", "file:///etc/passwd"), {"file:", "scheme"}},
    {"BufferHttp", set("/buffers/0/uri", "http://127.0.0.1:1/a.bin"), {"http", "scheme"}},
    {"BufferDevice", set("/buffers/0/uri", "/dev/zero"), {"/dev/zero"}},
    {"BufferZeroByte", set("/buffers/0/uri", "a%00b"), {"uri"}},
    {"BufferFolder", set("/buffers/0/uri", "."), {"directory"}},
    {"Base64", set("/buffers/0/uri", "data:application/octet-stream;base64,@@@@"), {"base64"}},
    {"IndexRange",
     [](json& d) {
       primitive(d)["indices"] = addAccessor<uint16_t>(d, {0, 1, 9}, kUnsignedShort, "SCALAR", 3);
     },
     {"meshes[0].primitives[0].indices", "9"}},
    {"IndexFloats",
     [](json& d) {
       primitive(d)["indices"] = addAccessor<float>(d, {0, 1, 2}, kFloat, "SCALAR", 3);
     },
     {"indices", "componentType"}},
    {"NormalCount",
     [](json& d) {
       primitive(d)["attributes"]["NORMAL"] = addAccessor<float>(d, {0, 0, 1, 0, 0, 1}, kFloat, "VEC3", 2);
     },
     {"NORMAL", "count"}},
    {"MorphCount",
     [](json& d) {
       primitive(d)["targets"] = {{{"POSITION", addAccessor<float>(d, {0, 0, 1}, kFloat, "VEC3", 1)}}};
     },
     {"targets[0].POSITION"}},
    {"SparseRange",
     [](json& d) {
       const size_t indices = addView(d, bytesOf<uint8_t>({4}));
       const size_t values = addView(d, bytesOf<float>({0, 0, 0}));
       d["accessors"][0]["sparse"] = {{"count", 1},
                                      {"indices", {{"bufferView", indices}, {"componentType", kUnsignedByte}}},
                                      {"values", {{"bufferView", values}}}};
     },
     {"accessors[0].sparse.indices"}},
    {"TextureIndex", set("/materials/0/emissiveTexture", {{"index", 12}}), {"materials[0].emissiveTexture.index"}},
    {"TextureSource", set("/textures", {{{"source", 12}}}), {"textures[0].source"}},
    {"TextureSampler", set("/textures", {{{"sampler", 3}}}), {"textures[0].sampler"}},
    {"ImageView", set("/images", {{{"bufferView", 66}}}), {"images[0].bufferView"}},
    {"ExtensionArray", set("/materials/0/extensions", json::array()), {"materials[0].extensions"}},
    {"RequiredExtension", set("/extensionsRequired", {"VENDOR_thing"}), {"VENDOR_thing"}},
    {"LightIndex", set("/nodes/0/extensions", {{"KHR_lights_punctual", {{"light", 9}}}}), {"light"}},
    {"CameraIndex", set("/nodes/0/camera", 3), {"nodes[0].camera"}},
    {"CameraType", withCamera({{"type", "fisheye"}}), {"cameras[0].type"}},
    {"CameraEmpty", withCamera({{"type", "perspective"}}), {"cameras[0].perspective"}},
    {"SkinJoint", set("/skins", {{{"joints", {900}}}}), {"skins[0].joints"}},
    {"SkinNoJoints", set("/skins", json::array({{{"name", "s"}}})), {"skins[0].joints"}},
    {"AnimationNode",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale", set("/animations/0/channels/0/target/node", 500)),
     {"target.node"}},
    {"AnimationSampler",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale", set("/animations/0/channels/0/sampler", 8)),
     {"channels[0].sampler"}},
};

const Case kWarned[] = {
    {"PositionNan",
     [](json& d) {
       primitive(d)["attributes"]["POSITION"] =
           addAccessor<float>(d, {0, 0, 0, 1, 0, 0, 1, 1, 0, kNan, 1, 0}, kFloat, "VEC3", 4);
     },
     {"POSITION"}},
    {"PositionHuge",
     [](json& d) {
       primitive(d)["attributes"]["POSITION"] =
           addAccessor<float>(d, {0, 0, 0, 1, 0, 0, 1, 1, 0, 3e38f, 1, 0}, kFloat, "VEC3", 4);
     },
     {"POSITION"}},
    {"NormalNan",
     [](json& d) {
       primitive(d)["attributes"]["NORMAL"] =
           addAccessor<float>(d, {0, 0, 1, kNan, 0, 1, 0, 0, 0, 0, 0, 1}, kFloat, "VEC3", 4);
     },
     {"NORMAL"}},
    {"NoPosition", [](json& d) { primitive(d)["attributes"].erase("POSITION"); }, {"POSITION"}},
    {"FiveIndices", set("/accessors/1/count", 5), {"indices"}},
    {"NegativeFactor",
     set("/materials/0/pbrMetallicRoughness", {{"baseColorFactor", {-1, 0, 0, 1}}, {"metallicFactor", 9}}),
     {"baseColorFactor", "metallicFactor"}},
    {"NegativeEmission", set("/materials/0/emissiveFactor", {-1, 0, 0}), {"emissiveFactor"}},
    {"AlphaMode", set("/materials/0/alphaMode", "GLASS"), {"alphaMode"}},
    {"MatrixBesideTrs",
     set("/nodes/0",
         {{"mesh", 0}, {"translation", {1, 0, 0}}, {"matrix", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}}),
     {"matrix"}},
    {"ProjectiveMatrix", set("/nodes/0/matrix", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 1}), {"matrix"}},
    {"NullRotation", set("/nodes/0/rotation", {0, 0, 0, 0}), {"rotation"}},
    {"LongRotation", set("/nodes/0/rotation", {0, 0, 0, 10}), {"rotation"}},
    {"FarScale", set("/nodes/0/scale", {1e38, 1e38, 1e38}), {"nodes[0]"}},
    {"SceneRootIsChild",
     [](json& d) {
       d["nodes"] = {{{"mesh", 0}}, {{"children", {0}}}};
       d["scenes"][0]["nodes"] = {1, 0};
     },
     {"child"}},
    {"UnknownExtension", set("/extensionsUsed", {"VENDOR_thing"}), {"VENDOR_thing"}},
    {"LightType", withLight({{"type", "area"}}), {"type"}},
    {"LightIntensity", withLight({{"type", "point"}, {"intensity", -10}}), {"intensity"}},
    {"LightRange", withLight({{"type", "point"}, {"range", 0}}), {"range"}},
    {"SpotCone",
     withLight({{"type", "spot"}, {"spot", {{"innerConeAngle", 1.0}, {"outerConeAngle", 0.5}}}}),
     {"ConeAngle"}},
    {"Yfov0", withCamera({{"type", "perspective"}, {"perspective", {{"yfov", 0}, {"znear", 1}}}}), {"yfov"}},
    {"YfovPi", withCamera({{"type", "perspective"}, {"perspective", {{"yfov", 3.2}, {"znear", 1}}}}), {"yfov"}},
    {"Xmag0",
     withCamera({{"type", "orthographic"}, {"orthographic", {{"xmag", 0}, {"ymag", 1}, {"znear", 1}, {"zfar", 2}}}}),
     {"xmag"}},
    {"TimesDecrease", animated({0, 2, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, "scale"), {"animation", "increase"}},
    {"TimesEqual", animated({0, 1, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, "scale"), {"animation", "increase"}},
    {"TimesNan", animated({0, kNan, 2}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, "scale"), {"animation", "finite"}},
    {"ValuesFew", animated({0, 1, 2}, {0, 0, 0, 1, 1, 1}, "scale"), {"output"}},
    {"CubicFew",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale", set("/animations/0/samplers/0/interpolation", "CUBICSPLINE")),
     {"CUBICSPLINE"}},
    {"Interpolation",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale", set("/animations/0/samplers/0/interpolation", "BEZIER")),
     {"interpolation"}},
    {"AnimationPath",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale", set("/animations/0/channels/0/target/path", "colour")),
     {"path"}},
    {"SameTargetTwice",
     animated({0, 1}, {0, 0, 0, 1, 1, 1}, "scale",
              [](json& d) { d["animations"][0]["channels"].push_back(json(d["animations"][0]["channels"][0])); }),
     {"channel"}},
};

const auto caseName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(All, GltfRefused, ::testing::ValuesIn(kRefused), caseName);
INSTANTIATE_TEST_SUITE_P(All, GltfWarned, ::testing::ValuesIn(kWarned), caseName);

/// What is not valid JSON or no valid container: file name, bytes, words.
TEST_F(GltfHostile, BrokenTextAndContainers) {
  const std::string text = quadDocument().dump();
  const std::string whole = glb(text, "");
  std::string overflow = whole;
  overflow.replace(12, 4, "\xf0\xff\xff\xff");
  std::string version1 = whole;
  version1[4] = 1;
  std::string binFirst = whole;
  binFirst.replace(16, 4, std::string("BIN\0", 4));
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"empty.gltf", "", "empty"},
      {"words.gltf", "hello, world", "JSON"},
      {"cut.gltf", text.substr(0, text.size() * 2 / 3), "JSON"},
      {"array.gltf", "[]", "JSON"},
      {"trailing.gltf", text + "}", "JSON"},
      {"nan.gltf", R"({"asset":{"version":"2.0"},"nodes":[{"scale":[NaN,1,1]}]})", "JSON"},
      {"overflow.gltf", R"({"asset":{"version":"2.0"},"materials":[{"emissiveFactor":[1e400,0,0]}]})",
       "emissiveFactor"},
      {"deep.gltf",
       R"({"asset":{"version":"2.0"},"extras":)" + std::string(100000, '[') + std::string(100000, ']') + "}", "nested"},
      {"magic.glb", "gltF" + whole.substr(4), "magic"},
      {"seven.glb", "glTF\2\0", "GLB"},
      {"version.glb", version1, "version"},
      {"chunk.glb", overflow, "chunk"},
      {"binfirst.glb", binFirst, "JSON"},
      {"truncated.glb", whole.substr(0, whole.size() - 100), "length"},
  };
  for (const auto& [name, bytes, word] : cases) {
    const auto loaded = loadGltf(write(name, bytes));
    ASSERT_FALSE(loaded) << name;
    EXPECT_NE(loaded.refusal().message.find(word), std::string::npos) << loaded.refusal().message;
    EXPECT_NE(loaded.refusal().message.find(name), std::string::npos) << loaded.refusal().message;
  }
}

TEST_F(GltfHostile, FoldersAndMissingFilesAreNamed) {
  const auto folder = loadGltf(folder_);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.refusal().message.find("directory"), std::string::npos);
  const auto gone = loadGltf(folder_ / "gone.gltf");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.refusal().message.find("gone.gltf"), std::string::npos);
}

TEST_F(GltfHostile, ByteOrderMarkAndBracketsInStringsAreHarmless) {
  json document = quadDocument();
  document["extras"] = std::string(1000, '[') + "\\\"" + std::string(1000, '{');
  EXPECT_TRUE(loadGltf(write("bom.gltf", "\xef\xbb\xbf" + document.dump())));
}

TEST_F(GltfHostile, NamesCannotSteerATerminal) {
  json document = quadDocument();
  document["nodes"][0]["name"] = std::string("a\0b\x1b[2J", 7);
  const auto loaded = load(document);
  ASSERT_TRUE(loaded);
  for (const char c : loaded->scene.nodes[0].name) EXPECT_GE(c, 0x20);
}

/// Names go into JSON reports, whose writer insists on UTF-8.
TEST_F(GltfHostile, NamesAreValidUtf8) {
  json document = quadDocument();
  document["nodes"][0]["name"] = "NAME";
  std::string text = document.dump();
  text.replace(text.find("NAME"), 4, "caf\xe9 \xc3\xa9 \xed\xa0\x80\xf0\x9f");
  const auto latin1 = loadGltf(write("latin1.gltf", text));
  ASSERT_TRUE(latin1) << latin1.refusal().message;
  EXPECT_TRUE(mentions(latin1->warnings, "UTF-8"));
  EXPECT_EQ(latin1->scene.nodes[0].name, "caf? \xc3\xa9 ?????");
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string name(shift, 'x');
    for (int i = 0; i < 100; ++i) name += "\U0001f600";
    document["nodes"][0]["name"] = name;
    const auto loaded = loadGltf(write("emoji\xff.gltf", document.dump()));
    ASSERT_TRUE(loaded);
    EXPECT_NO_THROW(json(loaded->scene.nodes[0].name).dump());
    EXPECT_NO_THROW(json(loaded->scene.name).dump());
  }
  const auto gone = loadGltf(folder_ / "gone\xff.gltf");
  ASSERT_FALSE(gone);
  EXPECT_NO_THROW(json(gone.refusal().message).dump());
}

TEST_F(GltfHostile, FiftyThousandNestedNodes) {
  json document = quadDocument();
  json nodes = json::array();
  constexpr int kDeep = 50000;
  for (int i = 0; i < kDeep; ++i) nodes.push_back({{"children", {i + 1}}, {"translation", {0, 0, 0.001}}});
  nodes.push_back({{"mesh", 0}});
  document["nodes"] = nodes;
  const auto loaded = load(document);
  ASSERT_TRUE(loaded) << loaded.refusal().message;
  EXPECT_EQ(loaded->scene.nodes.size(), kDeep + 1u);
}

TEST_F(GltfHostile, TrianglesWithoutAreaShowNothing) {
  json document = quadDocument();
  primitive(document)["attributes"]["POSITION"] =
      addAccessor<float>(document, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, kFloat, "VEC3", 4);
  const auto loaded = load(document);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->scene.meshes.empty());
}

TEST_F(GltfHostile, OneBadVertexTakesItsTrianglesOnly) {
  json document = quadDocument();
  primitive(document)["attributes"]["POSITION"] =
      addAccessor<float>(document, {0, 0, 0, 1, 0, 0, 1, 1, 0, kNan, 1, 0}, kFloat, "VEC3", 4);
  const auto loaded = load(document);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->scene.meshes.size(), 1u);
  EXPECT_EQ(loaded->scene.meshes[0].indices.size(), 3u);
}

}  // namespace
}  // namespace tandem::scene::test
