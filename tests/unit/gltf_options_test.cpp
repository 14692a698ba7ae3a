// What the caller of the glTF loader may choose: the scene, and whether files outside its folder are read.
#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

class GltfOptions : public GltfFiles {};

TEST_F(GltfOptions, ScenesAreChosenByNameOrIndex) {
  json document = quadDocument();
  document["scenes"][0]["name"] = "day";
  document["nodes"].push_back({{"name", "other"}, {"mesh", 0}});
  document["scenes"].push_back({{"nodes", {1}}, {"name", "night \u2600"}});
  const auto shown = [&](const std::string& scene) {
    const auto loaded = load(document, {.scene = scene});
    return loaded ? loaded->scene.nodes.at(0).name : loaded.refusal().message;
  };
  EXPECT_EQ(shown(""), "quad");
  EXPECT_EQ(shown("1"), "other");
  EXPECT_EQ(shown("night \u2600"), "other");
  EXPECT_EQ(shown("day"), "quad");
  for (const char* unknown : {"noon", "2", "-1", "1x", "99999999999999999999999"}) {
    const auto loaded = load(document, {.scene = unknown});
    ASSERT_FALSE(loaded) << unknown;
    EXPECT_EQ(loaded.refusal().exit, ExitCode::WrongUsage);
    EXPECT_NE(loaded.refusal().message.find(unknown), std::string::npos);
    EXPECT_NE(loaded.refusal().message.find("'day'"), std::string::npos);
    EXPECT_NE(loaded.refusal().message.find("night \u2600"), std::string::npos);
  }
}

TEST_F(GltfOptions, FilesOutsideTheFolderNeedPermission) {
  const std::string indices = bytesOf<uint16_t>({0, 1, 2, 0, 2, 3});
  write("outside.bin", indices);
  std::filesystem::create_symlink("../outside.bin", write("inner/here.bin", "").parent_path() / "link.bin");
  const std::string absolute = (folder_ / "outside.bin").string();
  for (const std::string& uri : {std::string("../outside.bin"), std::string("link.bin"), absolute}) {
    json document = quadDocument();
    document["buffers"][1] = {{"byteLength", indices.size()}, {"uri", uri}};
    const auto path = write("inner/scene.gltf", document.dump());
    const auto refused = loadGltf(path);
    ASSERT_FALSE(refused) << uri;
    EXPECT_NE(refused.refusal().message.find("--allow-external"), std::string::npos);
    const auto loaded = loadGltf(path, {.allowExternal = true});
    EXPECT_TRUE(loaded) << loaded.refusal().message;
  }
  for (const char* never : {"file:///etc/passwd", "/dev/zero", "http://127.0.0.1:1/a.bin"}) {
    json document = quadDocument();
    document["buffers"][1]["uri"] = never;
    EXPECT_FALSE(load(document, {.allowExternal = true})) << never;
  }
}

}  // namespace
}  // namespace tandem::scene::test
