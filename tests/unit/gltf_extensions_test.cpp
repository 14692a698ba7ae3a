// Extensions of glTF that change what is loaded: packed geometry, instances, image formats, and what is drawn without.
#include <algorithm>
#include <cmath>

#include "scene/animation.h"
#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

class GltfExtensions : public GltfFiles {
 protected:
  LoadedScene mustLoad(const json& document) {
    auto loaded = load(document);
    if (loaded) return std::move(*loaded);
    ADD_FAILURE() << loaded.refusal().message;
    return {};
  }
  /// The refusal's message; "loaded" where there is none.
  std::string refusalOf(const json& document) {
    const auto loaded = load(document);
    return loaded ? "loaded" : loaded.refusal().message;
  }
};

void require(json& document, const std::string& extension) {
  document["extensionsUsed"].push_back(extension);
  document["extensionsRequired"].push_back(extension);
}

/// The quad with three instances: moved, turned by a quarter around Z, and made three times as large.
json instancedDocument() {
  json document = quadDocument();
  require(document, "EXT_mesh_gpu_instancing");
  const float half = std::sqrt(0.5f);
  const size_t moves = addAccessor<float>(document, {10, 0, 0, 20, 0, 0, 30, 0, 0}, kFloat, "VEC3", 3);
  const size_t turns = addAccessor<float>(document, {0, 0, 0, 1, 0, 0, half, half, 0, 0, 0, 1}, kFloat, "VEC4", 3);
  const size_t scales = addAccessor<float>(document, {1, 1, 1, 1, 1, 1, 3, 3, 3}, kFloat, "VEC3", 3);
  document["nodes"][0]["scale"] = {2, 2, 2};
  document["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = {
      {"TRANSLATION", moves}, {"ROTATION", turns}, {"SCALE", scales}};
  return document;
}

TEST_F(GltfExtensions, InstancesAreChildrenOfTheirNode) {
  const Scene scene = mustLoad(instancedDocument()).scene;
  const Pose pose = poseAt(scene, 0.0);
  // Where the quad's corner (1, 0, 0) is: the node's scale 2 comes last.
  std::vector<vec3> corners;
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    if (!scene.nodes[i].meshes.empty()) corners.push_back(vec3(pose.world[i] * vec4(1, 0, 0, 1)));
  }
  ASSERT_EQ(corners.size(), 3u);
  EXPECT_LT(glm::length(corners[0] - vec3(22, 0, 0)), 1e-5f);
  EXPECT_LT(glm::length(corners[1] - vec3(40, 2, 0)), 1e-5f);
  EXPECT_LT(glm::length(corners[2] - vec3(66, 0, 0)), 1e-5f);
  EXPECT_EQ(scene.meshes.size(), 1u);
}

TEST_F(GltfExtensions, InstancesBesideOtherNodesKeepTheTreeRight) {
  json document = instancedDocument();
  document["nodes"].push_back({{"name", "after"}, {"mesh", 0}, {"translation", {0, 5, 0}}});
  document["nodes"].push_back({{"name", "parent"}, {"children", {1}}, {"translation", {0, 0, 7}}});
  document["scenes"][0]["nodes"] = {0, 2};
  const Scene scene = mustLoad(document).scene;
  const Pose pose = poseAt(scene, 0.0);
  bool found = false;
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    EXPECT_TRUE(scene.nodes[i].parent == kNone || scene.nodes[i].parent < i);
    if (scene.nodes[i].name != "after") continue;
    EXPECT_EQ(vec3(pose.world[i][3]), vec3(0, 5, 7));
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST_F(GltfExtensions, InstancesThatMakeNoSense) {
  json uneven = instancedDocument();
  const size_t two = addAccessor<float>(uneven, {1, 1, 1, 1, 1, 1}, kFloat, "VEC3", 2);
  uneven["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] = two;
  EXPECT_NE(refusalOf(uneven).find("SCALE"), std::string::npos) << refusalOf(uneven);

  json wrongType = instancedDocument();
  wrongType["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] = 3;
  EXPECT_NE(refusalOf(wrongType).find("SCALE"), std::string::npos) << refusalOf(wrongType);

  json many = instancedDocument();
  many["accessors"].push_back({{"componentType", kFloat}, {"type", "VEC3"}, {"count", 9'000'000}});
  many["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = {
      {"TRANSLATION", many["accessors"].size() - 1}};
  EXPECT_NE(refusalOf(many).find("instances"), std::string::npos) << refusalOf(many);

  json nowhere = instancedDocument();
  const size_t nan = addAccessor<float>(nowhere, {0, 0, 0, NAN, 0, 0, 1, 1, 1}, kFloat, "VEC3", 3);
  nowhere["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["TRANSLATION"] = nan;
  const LoadedScene loaded = mustLoad(nowhere);
  EXPECT_TRUE(mentions(loaded.warnings, "instances"));
  EXPECT_EQ(std::count_if(loaded.scene.nodes.begin(), loaded.scene.nodes.end(),
                          [](const Node& n) { return !n.meshes.empty(); }),
            2);
}

TEST_F(GltfExtensions, LooksThatAreNotDrawnDoNotRefuseAFile) {
  for (const char* name :
       {"KHR_materials_iridescence", "KHR_materials_clearcoat", "KHR_materials_transmission", "KHR_materials_volume",
        "KHR_materials_sheen", "KHR_materials_anisotropy", "KHR_materials_dispersion",
        "KHR_materials_diffuse_transmission", "KHR_materials_variants"}) {
    json document = quadDocument();
    require(document, name);
    document["materials"].push_back(document["materials"][0]);
    for (json& material : document["materials"]) material["extensions"][name] = json::object();
    const LoadedScene loaded = mustLoad(document);
    ASSERT_EQ(loaded.warnings.size(), 1u) << name;
    EXPECT_TRUE(mentions(loaded.warnings, name));
    EXPECT_TRUE(mentions(loaded.warnings, "drawn without"));
    EXPECT_TRUE(mentions(loaded.warnings, "2 objects"));
  }
  for (const char* name : {"VENDOR_shape", "KHR_animation_pointer"}) {
    json document = quadDocument();
    require(document, name);
    EXPECT_NE(refusalOf(document).find(name), std::string::npos);
  }
}

TEST_F(GltfExtensions, SpecularTextures) {
  json document = quadDocument();
  document["images"] = {{{"uri", std::string("data:image/png;base64,") + kRedBluePng}}};
  document["textures"] = {{{"source", 0}}};
  document["materials"][0]["extensions"]["KHR_materials_specular"] = {
      {"specularTexture", {{"index", 0}}},
      {"specularColorTexture",
       {{"index", 0}, {"texCoord", 1}, {"extensions", {{"KHR_texture_transform", {{"scale", {4, 5}}}}}}}}};
  const size_t uvs = addAccessor<float>(document, {0, 1, 1, 1, 1, 0, 0, 0}, kFloat, "VEC2", 4);
  primitive(document)["attributes"]["TEXCOORD_0"] = uvs;
  primitive(document)["attributes"]["TEXCOORD_1"] = uvs;
  const LoadedScene loaded = mustLoad(document);
  EXPECT_FALSE(mentions(loaded.warnings, "KHR_materials_specular"));
  const Scene& scene = loaded.scene;
  const Material& material = scene.materials.at(0);
  EXPECT_EQ(scene.images.at(scene.textures.at(material.specularTexture.texture).image).width, 2u);
  EXPECT_EQ(scene.images.at(scene.textures.at(material.specularColorTexture.texture).image).width, 2u);
  EXPECT_EQ(material.specularTexture.uvSet, 0u);
  EXPECT_EQ(material.specularColorTexture.uvSet, 1u);
  EXPECT_EQ(material.specularColorTexture.scale, vec2(4, 5));
  document["materials"][0]["extensions"]["KHR_materials_specular"]["specularTexture"]["index"] = 7;
  EXPECT_NE(refusalOf(document).find("specularTexture.index"), std::string::npos);
}

/// A KTX2 file of one level (The Khronos Texture Format 2.0, section 2).
std::string ktx2(uint32_t format, uint32_t width, uint32_t height, uint32_t scheme, const std::string& texels) {
  const std::vector<uint32_t> header{format, 1, width, height, 0, 0, 1, 1, scheme, 0, 0, 0, 0, 0, 0, 0, 0};
  constexpr uint64_t kDataAt = 12 + 17 * 4 + 24;
  return std::string("\xabKTX 20\xbb\r\n\x1a\n", 12) + bytesOf(header) +
         bytesOf<uint64_t>({kDataAt, texels.size(), texels.size()}) + texels;
}

json ktx2Document(const std::string& file) {
  json document = quadDocument();
  require(document, "KHR_texture_basisu");
  document["images"] = {{{"uri", "data:image/ktx2;base64," + base64(file)}}};
  document["textures"] = {{{"extensions", {{"KHR_texture_basisu", {{"source", 0}}}}}}};
  document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", 0}};
  primitive(document)["attributes"]["TEXCOORD_0"] =
      addAccessor<float>(document, {0, 1, 1, 1, 1, 0, 0, 0}, kFloat, "VEC2", 4);
  return document;
}

TEST_F(GltfExtensions, PlainKtx2IsReadAndPackedOnesAreGrey) {
  constexpr uint32_t kRgba8Srgb = 43;
  constexpr uint32_t kRgb8 = 23;
  const LoadedScene rgba = mustLoad(ktx2Document(ktx2(kRgba8Srgb, 1, 2, 0, "\1\2\3\4\5\6\7\x8")));
  EXPECT_TRUE(rgba.warnings.empty());
  EXPECT_EQ(rgba.scene.images.at(0).height, 2u);
  EXPECT_EQ(rgba.scene.images.at(0).pixels, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  const LoadedScene rgb = mustLoad(ktx2Document(ktx2(kRgb8, 2, 1, 0, "\1\2\3\5\6\7")));
  EXPECT_EQ(rgb.scene.images.at(0).pixels, (std::vector<uint8_t>{1, 2, 3, 255, 5, 6, 7, 255}));

  const LoadedScene packed = mustLoad(ktx2Document(ktx2(0, 4, 4, 1, "basis")));
  EXPECT_TRUE(mentions(packed.warnings, "KTX2/Basis"));
  const Material& material = packed.scene.materials.at(0);
  const auto& grey = packed.scene.images.at(packed.scene.textures.at(material.baseColorTexture.texture).image).pixels;
  EXPECT_EQ(grey[0], grey[1]);
  EXPECT_EQ(grey[1], grey[2]);
  EXPECT_EQ(grey[3], 255);
  EXPECT_GT(grey[0], 64);
  EXPECT_LT(grey[0], 192);

  json both = ktx2Document(ktx2(0, 4, 4, 1, "basis"));
  both["images"].push_back({{"uri", std::string("data:image/png;base64,") + kRedBluePng}});
  both["textures"][0]["source"] = 1;
  EXPECT_EQ(mustLoad(both).scene.images.at(0).width, 2u);
}

TEST_F(GltfExtensions, SpecularTexturesThatCannotBeReadLeaveTheFactors) {
  json document = ktx2Document(ktx2(0, 4, 4, 1, "basis"));
  document["materials"][0]["extensions"]["KHR_materials_specular"] = {{"specularTexture", {{"index", 0}}},
                                                                      {"specularColorTexture", {{"index", 0}}}};
  const LoadedScene loaded = mustLoad(document);
  EXPECT_EQ(loaded.scene.materials.at(0).specularTexture.texture, kNone);
  EXPECT_EQ(loaded.scene.materials.at(0).specularColorTexture.texture, kNone);
}

TEST_F(GltfExtensions, BrokenKtx2IsAWarning) {
  const std::string whole = ktx2(37, 2, 2, 0, std::string(16, 'x'));
  for (size_t length = 13; length < whole.size(); length += 5) {
    EXPECT_FALSE(mustLoad(ktx2Document(whole.substr(0, length))).warnings.empty());
  }
  for (const auto& [width, height] : {std::pair(0u, 1u), {4096u, 4096u}, {1u << 31, 1u << 31}, {~0u, 1u}}) {
    EXPECT_TRUE(mentions(mustLoad(ktx2Document(ktx2(37, width, height, 0, "xxxx"))).warnings, "images[0]"));
  }
}

}  // namespace
}  // namespace tandem::scene::test
