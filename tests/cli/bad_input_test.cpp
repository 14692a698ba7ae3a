// Files, folders and machines that are not as they should be: one line that names what is wrong, the right exit code,
// nothing on disk.
#include "cli/scene_files.h"

namespace tandem::cli {
namespace {

class BadInput : public Cli {
 protected:
  /// Refused as unusable, and no picture is left beside the files that were there.
  void expectUnusable(const std::string& scene, const std::vector<std::string>& words) const {
    const std::vector<std::string> before = allFiles();
    expectError(capture({scene, "-o", "a.exr", "-o", "a.png"}), 3, words);
    EXPECT_EQ(allFiles(), before);
  }
};

TEST_F(BadInput, ScenesThatCannotBeRead) {
  expectUnusable("missing.glb", {"missing.glb"});
  write("empty.glb", "");
  expectUnusable("empty.glb", {"empty.glb"});
  write("foreign.glb", "\x89PNG\r\n\x1a\n and so on, which no glTF reader knows");
  expectUnusable("foreign.glb", {"foreign.glb"});
  write("scene.txt", "hello");
  expectUnusable("scene.txt", {"scene.txt"});
  fs::create_directory(path("folder.gltf"));
  expectUnusable("folder.gltf", {"folder.gltf"});
  expectError(capture({"builtin:teapot", "-o", "a.exr"}), 2, {"teapot", "cornell"});
}

TEST_F(BadInput, ATruncatedScene) {
  std::ifstream file(TANDEM_SOURCE_DIR "/assets/scenes/courtyard.glb", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_GT(whole.size(), 1000u);
  for (const size_t size : {size_t{3}, size_t{11}, size_t{40}, whole.size() / 2, whole.size() - 1}) {
    SCOPED_TRACE(size);
    write("cut.glb", whole.substr(0, size));
    expectUnusable("cut.glb", {"cut.glb"});
  }
}

TEST_F(BadInput, AnIndexOutOfRange) {
  write("points.bin", triangleBytes({0, 1, 3}));
  write("scene.gltf", triangleDocument().dump());
  expectUnusable("scene.gltf", {"scene.gltf", "3"});

  write("points.bin", triangleBytes());
  json document = triangleDocument();
  document["nodes"][0]["mesh"] = 7;
  write("scene.gltf", document.dump());
  expectUnusable("scene.gltf", {"scene.gltf", "nodes", "mesh"});
}

TEST_F(BadInput, AMissingOrShortBuffer) {
  write("scene.gltf", triangleDocument().dump());
  expectUnusable("scene.gltf", {"scene.gltf", "points.bin"});
  write("points.bin", triangleBytes().substr(0, 20));
  expectUnusable("scene.gltf", {"scene.gltf", "points.bin"});
}

TEST_F(BadInput, AnUnknownRequiredExtension) {
  json document = triangleDocument();
  document["extensionsUsed"] = document["extensionsRequired"] = {"EXT_from_the_future"};
  write("points.bin", triangleBytes());
  write("scene.gltf", document.dump());
  expectUnusable("scene.gltf", {"scene.gltf", "EXT_from_the_future"});
}

TEST_F(BadInput, AMissingTextureIsAWarningAndThePictureIsMade) {
  json document = triangleDocument();
  document["images"] = {{{"uri", "lost.png"}}};
  document["textures"] = {{{"source", 0}}};
  document["materials"][0]["pbrMetallicRoughness"] = {{"baseColorTexture", {{"index", 0}}}};
  write("points.bin", triangleBytes());
  write("scene.gltf", document.dump());
  const ProgramResult result = capture({"scene.gltf", "-o", "a.png", "--json"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_TRUE(says(result.err, "warning") && says(result.err, "paint") && says(result.err, "lost.png")) << result.err;
  const json warnings = json::parse(result.out)["warnings"];
  EXPECT_TRUE(says(warnings.dump(), "lost.png")) << warnings;
  EXPECT_TRUE(isWholePng(read("a.png")));
}

TEST_F(BadInput, EnvironmentsThatCannotBeRead) {
  expectError(capture({"builtin:sphere", "-o", "a.exr", "--environment", "lost.hdr"}), 3, {"lost.hdr"});
  write("text.hdr", "no picture");
  expectError(capture({"builtin:sphere", "-o", "a.exr", "--environment", "text.hdr"}), 3, {"text.hdr"});
  EXPECT_EQ(allFiles(), std::vector<std::string>{"text.hdr"});
}

TEST_F(BadInput, FoldersThatCannotBeWritten) {
  write("file", "not a folder");
  expectError(capture({"builtin:cornell", "-o", "file/a.exr"}), 1, {"file"});
  // Nobody, root neither, makes files in /proc.
  expectError(capture({"builtin:cornell", "-o", "/proc/a.exr"}), 1, {"/proc/a.exr"});
  expectError(capture({"builtin:cornell", "-o", "a.exr", "--json", "/proc/a.json"}), 1, {"/proc/a.json"});
  fs::create_directory(path("folder.exr"));
  expectError(capture({"builtin:cornell", "-o", "folder.exr", "--overwrite"}), 2, {"folder.exr", "folder"});
  EXPECT_EQ(allFiles(), std::vector<std::string>{"file"});
}

TEST_F(BadInput, AnExistingFileIsNotTouched) {
  write("a.0003.png", "precious");
  expectError(capture({"builtin:cornell", "-o", "a.####.png", "--frames", "1-4"}), 2,
              {"a.0003.png", "--overwrite", "--resume"});
  EXPECT_EQ(allFiles(), std::vector<std::string>{"a.0003.png"});
  EXPECT_EQ(read("a.0003.png"), "precious");
}

TEST_F(BadInput, NoUsableGpu) {
  const RunOptions nowhere{.environment = {{"VK_DRIVER_FILES", "/nonexistent/driver.json"}}};
  const std::vector<std::string> words{"VK_DRIVER_FILES", "/nonexistent/driver.json", "driver"};
  expectError(capture({"builtin:cornell", "-o", "a.exr"}, nowhere), 4, words);
  expectError(run({"devices"}, nowhere), 4, words);
  expectError(run({"devices", "--json"}, nowhere), 4, words);
  EXPECT_TRUE(allFiles().empty());
}

TEST_F(BadInput, ASizePastTheDevicesLimits) {
  expectError(run({"capture", "builtin:cornell", "-o", "a.exr", "--size", "4000000000x2"}), 2, {"--size 4000000000x2"});
  expectError(run({"capture", "builtin:cornell", "-o", "a.exr", "--size", "1000000x1000000"}), 2,
              {"--size 1000000x1000000"});
  // 2^26 pixels: the last that automatic exposure can count (post/exposure.h).
  expectError(run({"capture", "builtin:cornell", "-o", "a.exr", "--size", "8192x8192"}), 2, {"--size 8192x8192"});
  EXPECT_TRUE(allFiles().empty());
}

TEST_F(BadInput, TooLittleMemoryIsSaidWithTheNumbers) {
  const json devices = json::parse(run({"devices", "--json"}).out);
  if (devices["adapters"][0]["type"] != "cpu") GTEST_SKIP() << "a GPU's memory cannot be made scarce from here";
  // The software device's budget is what the system calls available: 100 MB here, and 4K in radiance alone (8 bytes a
  // pixel) has 66 MB.
  write("meminfo", "MemTotal: 2000000 kB\nMemFree: 100000 kB\nMemAvailable: 100000 kB\n");
  const ProgramResult result =
      run({"capture", "builtin:cornell", "-o", "a.exr", "--size", "4k", "--gpus", "0", "--samples", "1"},
          {.memoryInfo = path("meminfo").string()});
  if (result.exit == kNoMount) GTEST_SKIP() << "needs root, to show the program another /proc/meminfo";
  expectError(result, 4, {"97 MiB", "free", "needs", "--size"});
  EXPECT_EQ(allFiles(), std::vector<std::string>{"meminfo"});
}

}  // namespace
}  // namespace tandem::cli
