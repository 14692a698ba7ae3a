// What a well-formed glTF file becomes.
#include <algorithm>
#include <cmath>

#include "scene/animation.h"
#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

class Gltf : public GltfFiles {
 protected:
  /// Loads a document that must load, without a warning unless one is expected.
  LoadedScene mustLoad(const json& document, bool warns = false) {
    auto loaded = load(document);
    if (!loaded) {
      ADD_FAILURE() << loaded.refusal().message;
      return {};
    }
    EXPECT_EQ(loaded->warnings.empty(), !warns) << (loaded->warnings.empty() ? "no warning" : loaded->warnings.front());
    return std::move(*loaded);
  }
  Mesh mustLoadMesh(const json& document, bool warns = false) {
    LoadedScene loaded = mustLoad(document, warns);
    if (loaded.scene.meshes.size() == 1) return loaded.scene.meshes[0];
    ADD_FAILURE() << loaded.scene.meshes.size() << " meshes";
    return {};
  }
};

/// Twice the area that a mesh's triangles cover as seen from +Z; negative if they face away.
float facingArea(const Mesh& mesh) {
  float area = 0.0f;
  for (size_t i = 0; i < mesh.indices.size(); i += 3) {
    const vec3 a = mesh.positions[mesh.indices[i]];
    area += glm::cross(mesh.positions[mesh.indices[i + 1]] - a, mesh.positions[mesh.indices[i + 2]] - a).z;
  }
  return area;
}

TEST_F(Gltf, QuadHasFlatNormalsAndItsMaterial) {
  const LoadedScene loaded = mustLoad(quadDocument());
  ASSERT_EQ(loaded.scene.meshes.size(), 1u);
  const Mesh& mesh = loaded.scene.meshes[0];
  EXPECT_EQ(mesh.indices.size(), 6u);
  ASSERT_EQ(mesh.normals.size(), mesh.positions.size());
  for (const vec3 normal : mesh.normals) EXPECT_EQ(normal, vec3(0, 0, 1));
  EXPECT_EQ(loaded.scene.materials[mesh.material].name, "paint");
  EXPECT_TRUE(mesh.tangents.empty());
  EXPECT_FLOAT_EQ(facingArea(mesh), 2.0f);
  EXPECT_EQ(loaded.scene.name, "scene.gltf");
}

TEST_F(Gltf, AllIndexSizesAndNoIndices) {
  for (const int type : {kUnsignedByte, kUnsignedShort, kUnsignedInt}) {
    json document = quadDocument();
    const std::vector<uint32_t> list{0, 1, 2, 0, 2, 3};
    const std::vector<uint8_t> bytes(list.begin(), list.end());
    const std::vector<uint16_t> shorts(list.begin(), list.end());
    primitive(document)["indices"] = type == kUnsignedByte    ? addAccessor(document, bytes, type, "SCALAR", 6)
                                     : type == kUnsignedShort ? addAccessor(document, shorts, type, "SCALAR", 6)
                                                              : addAccessor(document, list, type, "SCALAR", 6);
    EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(document)), 2.0f) << type;
  }
  json document = quadDocument();
  primitive(document).erase("indices");
  primitive(document)["attributes"]["POSITION"] =
      addAccessor<float>(document, {0, 0, 0, 2, 0, 0, 0, 2, 0}, kFloat, "VEC3", 3);
  EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(document)), 4.0f);
}

TEST_F(Gltf, StripsAndFansFaceTheSameWayAsLists) {
  json strip = quadDocument();
  primitive(strip)["mode"] = 5;
  primitive(strip)["indices"] = addAccessor<uint16_t>(strip, {0, 1, 3, 2}, kUnsignedShort, "SCALAR", 4);
  EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(strip)), 2.0f);
  json fan = quadDocument();
  primitive(fan)["mode"] = 6;
  primitive(fan)["indices"] = addAccessor<uint16_t>(fan, {0, 1, 2, 3}, kUnsignedShort, "SCALAR", 4);
  EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(fan)), 2.0f);
}

TEST_F(Gltf, InterleavedAndUnalignedViews) {
  json document = quadDocument();
  // Two bytes of padding, then position (12 bytes) and a normal (12 bytes) a vertex.
  std::string bytes("\0\0", 2);
  for (const vec3 p : {vec3(0, 0, 5), vec3(1, 0, 5), vec3(1, 1, 5), vec3(0, 1, 5)}) {
    bytes += bytesOf<float>({p.x, p.y, p.z, 0, 3, 4});
  }
  const size_t view = addView(document, bytes);
  document["bufferViews"][view]["byteStride"] = 24;
  document["accessors"].push_back(
      {{"bufferView", view}, {"byteOffset", 2}, {"componentType", kFloat}, {"type", "VEC3"}, {"count", 4}});
  document["accessors"].push_back(
      {{"bufferView", view}, {"byteOffset", 14}, {"componentType", kFloat}, {"type", "VEC3"}, {"count", 4}});
  primitive(document)["attributes"]["POSITION"] = document["accessors"].size() - 2;
  primitive(document)["attributes"]["NORMAL"] = document["accessors"].size() - 1;
  const Mesh mesh = mustLoadMesh(document);
  ASSERT_EQ(mesh.positions.size(), 4u);
  EXPECT_EQ(mesh.positions[2], vec3(1, 1, 5));
  for (const vec3 normal : mesh.normals) EXPECT_LT(glm::length(normal - vec3(0, 0.6f, 0.8f)), 1e-6f);
}

TEST_F(Gltf, NormalisedIntegersAndColours) {
  json document = quadDocument();
  document["extensionsUsed"] = {"KHR_mesh_quantization"};
  document["extensionsRequired"] = {"KHR_mesh_quantization"};
  const size_t view = addView(document, bytesOf<int8_t>({0, 0, 0, 0, 127, 0, 0, 0, 127, 127, 0, 0, -128, 127, 0, 0}));
  document["bufferViews"][view]["byteStride"] = 4;
  document["accessors"].push_back(
      {{"bufferView", view}, {"componentType", kByte}, {"normalized", true}, {"type", "VEC3"}, {"count", 4}});
  primitive(document)["attributes"]["POSITION"] = document["accessors"].size() - 1;
  primitive(document)["attributes"]["NORMAL"] =
      addAccessor<float>(document, {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}, kFloat, "VEC3", 4);
  primitive(document)["attributes"]["COLOR_0"] = addAccessor<uint16_t>(
      document, {65535, 0, 0, 0, 65535, 0, 0, 0, 65535, 65535, 65535, 65535}, kUnsignedShort, "VEC3", 4);
  const Mesh mesh = mustLoadMesh(document);
  EXPECT_EQ(mesh.positions[2], vec3(1, 1, 0));
  EXPECT_EQ(mesh.positions[3], vec3(-1, 1, 0));  // -128 / 127 is clamped
  ASSERT_EQ(mesh.colors.size(), 4u);
  EXPECT_EQ(mesh.colors[1], vec4(0, 1, 0, 1));
}

TEST_F(Gltf, SparseAccessorReplacesElements) {
  json document = quadDocument();
  const size_t indices = addView(document, bytesOf<uint8_t>({1, 2}));
  const size_t values = addView(document, bytesOf<float>({3, 0, 0, 3, 1, 0}));
  document["accessors"][0]["sparse"] = {{"count", 2},
                                        {"indices", {{"bufferView", indices}, {"componentType", kUnsignedByte}}},
                                        {"values", {{"bufferView", values}}}};
  EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(document)), 6.0f);
}

TEST_F(Gltf, IndicesThatAreSparseAlone) {
  json document = quadDocument();
  const size_t places = addView(document, bytesOf<uint8_t>({1, 2, 4, 5}));
  const size_t values = addView(document, bytesOf<uint16_t>({1, 2, 2, 3}));
  document["accessors"][1].erase("bufferView");  // zeros, but for the sparse ones
  document["accessors"][1]["sparse"] = {{"count", 4},
                                        {"indices", {{"bufferView", places}, {"componentType", kUnsignedByte}}},
                                        {"values", {{"bufferView", values}}}};
  EXPECT_FLOAT_EQ(facingArea(mustLoadMesh(document)), 2.0f);
}

TEST_F(Gltf, TextureCoordinatesAndColoursInAllFormats) {
  json document = quadDocument();
  primitive(document)["attributes"]["TEXCOORD_0"] =
      addAccessor<uint8_t>(document, {0, 255, 255, 255, 255, 0, 0, 0}, kUnsignedByte, "VEC2", 4);
  primitive(document)["attributes"]["TEXCOORD_1"] =
      addAccessor<uint16_t>(document, {0, 2, 1, 2, 1, 0, 3, 0}, kUnsignedShort, "VEC2", 4);
  document["accessors"][2]["normalized"] = true;
  const Mesh uvs = mustLoadMesh(document);
  EXPECT_EQ(uvs.uv0.at(1), vec2(1, 1));
  EXPECT_EQ(uvs.uv1.at(5), vec2(3, 0));  // KHR_mesh_quantization: integers as they are
  const std::vector<uint8_t> bytes{255, 0, 0, 51, 0, 255, 0, 51, 0, 0, 255, 51, 255, 255, 255, 51};
  const std::vector<uint16_t> shorts{65535, 0, 0,     13107, 0,     65535, 0,     13107,
                                     0,     0, 65535, 13107, 65535, 65535, 65535, 13107};
  const std::vector<float> floats{1, 0, 0, 0.2f, 0, 1, 0, 0.2f, 0, 0, 1, 0.2f, 1, 1, 1, 0.2f};
  for (const size_t accessor :
       {addAccessor(document, bytes, kUnsignedByte, "VEC4", 4),
        addAccessor(document, shorts, kUnsignedShort, "VEC4", 4), addAccessor(document, floats, kFloat, "VEC4", 4)}) {
    document["accessors"][accessor]["normalized"] = document["accessors"][accessor]["componentType"] != kFloat;
    primitive(document)["attributes"]["COLOR_0"] = accessor;
    const Mesh mesh = mustLoadMesh(document);
    EXPECT_LT(glm::length(mesh.colors.at(2) - vec4(0, 0, 1, 0.2f)), 1e-6f);
  }
}

TEST_F(Gltf, TangentsFollowTheTextureCoordinates) {
  json document = quadDocument();
  document["images"] = {{{"uri", std::string("data:image/png;base64,") + kRedBluePng}}};
  document["textures"] = {{{"source", 0}}};
  document["materials"][0]["normalTexture"] = {{"index", 0}};
  // u runs up the quad; v, which runs down a picture, runs to the right: the picture's up is -X.
  primitive(document)["attributes"]["TEXCOORD_0"] =
      addAccessor<float>(document, {0, 0, 0, 1, 1, 1, 1, 0}, kFloat, "VEC2", 4);
  const Mesh mesh = mustLoadMesh(document);
  ASSERT_EQ(mesh.tangents.size(), mesh.positions.size());
  for (const vec4 tangent : mesh.tangents) {
    EXPECT_LT(glm::length(vec3(tangent) - vec3(0, 1, 0)), 1e-5f);
    const vec3 bitangent = glm::cross(vec3(0, 0, 1), vec3(tangent)) * tangent.w;
    EXPECT_LT(glm::length(bitangent - vec3(-1, 0, 0)), 1e-5f);
  }
  // Mirrored: u runs down.
  primitive(document)["attributes"]["TEXCOORD_0"] =
      addAccessor<float>(document, {1, 0, 1, 1, 0, 1, 0, 0}, kFloat, "VEC2", 4);
  for (const vec4 tangent : mustLoadMesh(document).tangents) {
    EXPECT_LT(glm::length(vec3(tangent) - vec3(0, -1, 0)), 1e-5f);
    EXPECT_LT(glm::length(glm::cross(vec3(0, 0, 1), vec3(tangent)) * tangent.w - vec3(-1, 0, 0)), 1e-5f);
  }
}

TEST_F(Gltf, MaterialFieldsAndExtensions) {
  json document = quadDocument();
  document["images"] = {{{"uri", std::string("data:image/png;base64,") + kRedBluePng}}};
  document["samplers"] = {{{"magFilter", 9728}, {"wrapS", 33071}, {"wrapT", 33648}}};
  document["textures"] = {{{"source", 0}, {"sampler", 0}}};
  json& material = document["materials"][0];
  material["pbrMetallicRoughness"] = {
      {"baseColorFactor", {0.1, 0.2, 0.3, 0.4}}, {"metallicFactor", 0.25}, {"roughnessFactor", 0.75}};
  material["pbrMetallicRoughness"]["baseColorTexture"] = {
      {"index", 0},
      {"extensions",
       {{"KHR_texture_transform", {{"offset", {0.5, 0.25}}, {"scale", {2, 3}}, {"rotation", 1}, {"texCoord", 1}}}}}};
  material["emissiveFactor"] = {1, 0.5, 0};
  material["alphaMode"] = "MASK";
  material["alphaCutoff"] = 0.3;
  material["doubleSided"] = true;
  material["extensions"] = {{"KHR_materials_emissive_strength", {{"emissiveStrength", 8}}},
                            {"KHR_materials_ior", {{"ior", 1.33}}},
                            {"KHR_materials_unlit", json::object()},
                            {"KHR_materials_specular", {{"specularFactor", 0.5}, {"specularColorFactor", {1, 2, 3}}}}};
  primitive(document)["attributes"]["TEXCOORD_1"] =
      addAccessor<float>(document, {0, 1, 1, 1, 1, 0, 0, 0}, kFloat, "VEC2", 4);

  const LoadedScene loaded = mustLoad(document);
  ASSERT_EQ(loaded.scene.materials.size(), 1u);
  const Material& m = loaded.scene.materials[0];
  EXPECT_EQ(m.baseColor, vec4(0.1f, 0.2f, 0.3f, 0.4f));
  EXPECT_FLOAT_EQ(m.metallic, 0.25f);
  EXPECT_FLOAT_EQ(m.roughness, 0.75f);
  EXPECT_EQ(m.emissive, vec3(8, 4, 0));
  EXPECT_EQ(m.alphaMode, AlphaMode::Mask);
  EXPECT_FLOAT_EQ(m.alphaCutoff, 0.3f);
  EXPECT_TRUE(m.doubleSided);
  EXPECT_TRUE(m.unlit);
  EXPECT_FLOAT_EQ(m.ior, 1.33f);
  EXPECT_FLOAT_EQ(m.specular, 0.5f);
  EXPECT_EQ(m.specularColor, vec3(1, 2, 3));
  EXPECT_EQ(m.baseColorTexture.uvSet, 1u);
  EXPECT_EQ(m.baseColorTexture.offset, vec2(0.5f, 0.25f));
  EXPECT_EQ(m.baseColorTexture.scale, vec2(2, 3));
  EXPECT_FLOAT_EQ(m.baseColorTexture.rotation, 1.0f);
  const Texture& texture = loaded.scene.textures.at(m.baseColorTexture.texture);
  EXPECT_EQ(texture.wrapU, Wrap::ClampToEdge);
  EXPECT_EQ(texture.wrapV, Wrap::MirroredRepeat);
  EXPECT_FALSE(texture.linearFilter);
  const Image& image = loaded.scene.images.at(texture.image);
  EXPECT_EQ(image.pixels, (std::vector<uint8_t>{255, 0, 0, 255, 0, 0, 255, 255}));
}

TEST_F(Gltf, MissingTextureIsAWarningAndAChecker) {
  json document = quadDocument();
  document["images"] = {{{"uri", "gone.png"}}};
  document["textures"] = {{{"source", 0}}};
  document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", 0}};
  primitive(document)["attributes"]["TEXCOORD_0"] =
      addAccessor<float>(document, {0, 1, 1, 1, 1, 0, 0, 0}, kFloat, "VEC2", 4);
  const LoadedScene loaded = mustLoad(document, true);
  EXPECT_TRUE(mentions(loaded.warnings, "gone.png"));
  EXPECT_TRUE(mentions(loaded.warnings, "paint"));
  ASSERT_EQ(loaded.scene.images.size(), 1u);
  const auto& pixels = loaded.scene.images[0].pixels;
  const size_t magenta = static_cast<size_t>(std::count(pixels.begin(), pixels.end(), 255)) - pixels.size() / 4;
  EXPECT_EQ(magenta, pixels.size() / 4);  // red and blue in half of the texels, no green
}

TEST_F(Gltf, NodesComeParentsFirstAndKeepTheirPlaces) {
  json document = quadDocument();
  document["nodes"] = {{{"name", "leaf"}, {"mesh", 0}, {"translation", {0, 0, 1}}},
                       {{"name", "middle"}, {"children", {0}}, {"scale", {2, 2, 2}}},
                       {{"name", "root"}, {"children", {1}}, {"translation", {10, 0, 0}}},
                       {{"name", "unused"}, {"mesh", 0}}};
  document["scenes"][0]["nodes"] = {2};
  const Scene scene = mustLoad(document).scene;
  ASSERT_EQ(scene.nodes.size(), 3u);
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    EXPECT_TRUE(scene.nodes[i].parent == kNone || scene.nodes[i].parent < i);
  }
  const auto leaf =
      std::find_if(scene.nodes.begin(), scene.nodes.end(), [](const Node& n) { return n.name == "leaf"; });
  ASSERT_NE(leaf, scene.nodes.end());
  const mat4 world = poseAt(scene, 0.0).world[static_cast<size_t>(leaf - scene.nodes.begin())];
  EXPECT_EQ(vec3(world[3]), vec3(10, 0, 2));
}

TEST_F(Gltf, ScenesAreChosenAsTheFileSays) {
  json document = quadDocument();
  document["nodes"].push_back({{"name", "other"}, {"mesh", 0}});
  document["scenes"].push_back({{"nodes", {1}}});
  document["scene"] = 1;
  EXPECT_EQ(mustLoad(document).scene.nodes[0].name, "other");
  document.erase("scene");
  EXPECT_EQ(mustLoad(document).scene.nodes[0].name, "quad");
  document.erase("scenes");
  const LoadedScene all = mustLoad(document, true);
  EXPECT_EQ(all.scene.nodes.size(), 2u);
  EXPECT_TRUE(mentions(all.warnings, "scene"));
}

TEST_F(Gltf, CamerasAndLights) {
  json document = quadDocument();
  document["cameras"] = {
      {{"type", "perspective"},
       {"name", "wide"},
       {"perspective", {{"yfov", 1.25}, {"znear", 0.1}, {"aspectRatio", 2}}}},
      {{"type", "orthographic"}, {"orthographic", {{"xmag", 3}, {"ymag", 2}, {"znear", 0}, {"zfar", 9}}}}};
  document["extensions"]["KHR_lights_punctual"]["lights"] = {
      {{"type", "spot"},
       {"intensity", 20},
       {"color", {1, 0.5, 0}},
       {"range", 7},
       {"spot", {{"innerConeAngle", 0.2}, {"outerConeAngle", 0.4}}}},
      {{"type", "directional"}, {"intensity", 3}}};
  document["nodes"].push_back({{"camera", 1}, {"extensions", {{"KHR_lights_punctual", {{"light", 0}}}}}});
  document["scenes"][0]["nodes"] = {0, 1};
  const Scene scene = mustLoad(document).scene;
  const Node& node = scene.nodes[1];
  EXPECT_TRUE(scene.lenses.at(node.lens).orthographic);
  EXPECT_FLOAT_EQ(scene.lenses.at(node.lens).ymag, 2.0f);
  EXPECT_FLOAT_EQ(scene.lenses[0].yfov, 1.25f);
  EXPECT_FLOAT_EQ(scene.lenses[0].aspect, 2.0f);
  const Light& light = scene.lights.at(node.light);
  EXPECT_EQ(light.kind, LightKind::Spot);
  EXPECT_FLOAT_EQ(light.intensity, 20.0f);
  EXPECT_FLOAT_EQ(light.range, 7.0f);
  EXPECT_FLOAT_EQ(light.outerCone, 0.4f);
  EXPECT_EQ(light.color, vec3(1, 0.5f, 0));
}

TEST_F(Gltf, BinaryContainerAndFilesBesideIt) {
  json document = quadDocument();
  const std::string positions = bytesOf<float>({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0});
  const std::string indices = bytesOf<uint16_t>({0, 1, 2, 0, 2, 3});
  document["buffers"] = {{{"byteLength", positions.size()}},
                         {{"byteLength", indices.size()}, {"uri", "sub/./in%20dices%23.bin"}}};
  write("sub/in dices#.bin", indices + "more than asked for");
  const auto loaded = loadGltf(write("quad.glb", glb(document.dump(), positions)));
  ASSERT_TRUE(loaded) << loaded.refusal().message;
  EXPECT_FLOAT_EQ(facingArea(loaded->scene.meshes.at(0)), 2.0f);
}

TEST_F(Gltf, AnimationChannelsReachTheirNodes) {
  json document = quadDocument();
  document["nodes"] = {{{"name", "quad"}, {"mesh", 0}}, {{"name", "parent"}, {"children", {0}}}};
  document["scenes"][0]["nodes"] = {1};
  const size_t input = addAccessor<float>(document, {0, 2}, kFloat, "SCALAR", 2);
  const size_t output = addAccessor<float>(document, {0, 0, 0, 4, 0, 0}, kFloat, "VEC3", 2);
  document["animations"] = {{{"samplers", {{{"input", input}, {"output", output}}}},
                             {"channels", {{{"sampler", 0}, {"target", {{"node", 0}, {"path", "translation"}}}}}}}};
  const Scene scene = mustLoad(document).scene;
  ASSERT_TRUE(isAnimated(scene));
  EXPECT_EQ(scene.nodes[scene.animations[0].channels[0].node].name, "quad");
  EXPECT_EQ(vec3(poseAt(scene, 0.5).world[scene.animations[0].channels[0].node][3]), vec3(1, 0, 0));
}

TEST_F(Gltf, UnsupportedThingsAreOneCountedWarningAKind) {
  json document = quadDocument();
  document["extensionsUsed"] = {"KHR_materials_clearcoat"};
  document["materials"][0]["extensions"]["KHR_materials_clearcoat"] = json::object();
  json lines = primitive(document);
  lines["mode"] = 1;
  for (int i = 0; i < 3; ++i) document["meshes"][0]["primitives"].push_back(lines);
  const LoadedScene loaded = mustLoad(document, true);
  EXPECT_EQ(loaded.warnings.size(), 2u);
  EXPECT_TRUE(mentions(loaded.warnings, "KHR_materials_clearcoat"));
  EXPECT_TRUE(mentions(loaded.warnings, "3 times"));
  EXPECT_EQ(loaded.scene.meshes.size(), 1u);
}

}  // namespace
}  // namespace tandem::scene::test
