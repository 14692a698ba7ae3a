// `tandem capture` when all is well, and what its report says; the report is read, so that a mode that did not run
// cannot pass.
#include <map>

#include "cli/scene_files.h"

namespace tandem::cli {
namespace {

using Capture = Cli;
using Files = std::vector<std::string>;

std::map<std::string, uint32_t> nodeOfPass(const json& report) {
  std::map<std::string, uint32_t> nodes;
  for (const json& pass : report["passes"]) nodes[pass["name"]] = pass["node"];
  return nodes;
}

json hashes(const json& report) {
  json all;
  for (const json& frame : report["frames"]) all[std::to_string(frame["frame"].get<int>())] = frame["hash"];
  return all;
}

TEST_F(Capture, ExrAndPngOfOneFrame) {
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.exr", "-o", "new/folder/a.png"});
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(files(), (Files{"a.exr", "new/folder/a.png"}));
  EXPECT_TRUE(isExr(read("a.exr")));
  EXPECT_TRUE(isWholePng(read("new/folder/a.png")));
  for (const char* word : {"a.exr", "new/folder/a.png", "64x36", "path_trace", "tonemap", "node 0", "ms"}) {
    EXPECT_TRUE(says(result.out, word)) << word << " is missing in " << result.out;
  }
  EXPECT_EQ(result.err, "") << "stderr is no terminal: no progress";
}

TEST_F(Capture, OptionsMayStandBeforeTheScene) {
  EXPECT_EQ(capture({"-o", "a.png", "builtin:cornell"}).exit, 0);
  EXPECT_EQ(capture({"-o", "b.png", "--json", "builtin:cornell"}).exit, 0);
  EXPECT_EQ(files(), (Files{"a.png", "b.png"}));
}

TEST_F(Capture, NamesOfSequences) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.####.png", "-o", "b_%02d.exr", "--frames", "9-11x2,1"}).exit, 0);
  EXPECT_EQ(files(), (Files{"a.0001.png", "a.0009.png", "a.0011.png", "b_01.exr", "b_09.exr", "b_11.exr"}));
}

TEST_F(Capture, SingleRunsOnOneNode) {
  const json report =
      json::parse(capture({"builtin:spinners", "-o", "a.png", "--mode", "single", "--json", "--validation"}).out);
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["mode"], "single");
  EXPECT_EQ(report["validationMessages"], 0);
  EXPECT_EQ(report["size"], (json{64, 36}));
  EXPECT_EQ(report["samples"], 1);
  ASSERT_EQ(report["nodes"].size(), 1u);
  EXPECT_EQ(report["nodes"][0]["rows"], 36);
  EXPECT_TRUE(report["links"].empty());
  for (const auto& [name, node] : nodeOfPass(report)) EXPECT_EQ(node, 0u) << name;
}

TEST_F(Capture, PipelinedTracesOnOneNodeAndEndsOnTheOther) {
  for (const char* link : {"host-import", "host-copy"}) {
    const ProgramResult result =
        capture({"builtin:spinners", "-o", std::string(link) + "####.png", "--frames", "1-3", "--mode", "pipelined",
                 "--simulate-dual", "--link", link, "--json", "--validation"});
    ASSERT_EQ(result.exit, 0) << result.err;
    const json report = json::parse(result.out);
    EXPECT_EQ(report["mode"], "pipelined");
    EXPECT_EQ(report["topology"], "independent");
    EXPECT_EQ(report["validationMessages"], 0);
    ASSERT_EQ(report["nodes"].size(), 2u);
    EXPECT_EQ(report["nodes"][0]["tracer"], "compute");
    EXPECT_EQ(report["nodes"][1]["tracer"], "none");
    auto nodes = nodeOfPass(report);
    EXPECT_EQ(nodes.at("path_trace"), 0u);
    for (const char* pass : {"motion_blur", "exposure", "tonemap"}) EXPECT_EQ(nodes.at(pass), 1u) << pass;
    ASSERT_EQ(report["links"].size(), 1u);
    const json& used = report["links"][0];
    EXPECT_EQ(used["kind"], link);
    EXPECT_EQ(used["from"], 0);
    EXPECT_EQ(used["to"], 1);
    // planes.h: radiance 8, motion 4 and depth 4 bytes a pixel cross.
    EXPECT_EQ(used["plannedBytesPerFrame"], 64 * 36 * 16);
    EXPECT_EQ(used["bytes"], 3 * 64 * 36 * 16);
    EXPECT_GT(used["gbps"].get<double>(), 0.0);
  }
}

TEST_F(Capture, EveryModeRepeatAndSubsetHasTheSamePixels) {
  const auto hashesOf = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"builtin:spinners", "-o", "a.####.png", "--overwrite", "--json", "--seed", "5"});
    const ProgramResult result = capture(more);
    EXPECT_EQ(result.exit, 0) << result.err;
    return hashes(json::parse(result.out));
  };
  const json single = hashesOf({"--mode", "single", "--frames", "1-4"});
  ASSERT_EQ(single.size(), 4u);
  EXPECT_NE(single["1"], single["2"]) << "spinners move";
  EXPECT_EQ(hashesOf({"--mode", "single", "--frames", "1-4"}), single);
  EXPECT_EQ(hashesOf({"--mode", "pipelined", "--simulate-dual", "--frames", "1-4"}), single);
  const json two = hashesOf({"--mode", "pipelined", "--simulate-dual", "--frames", "3-4"});
  EXPECT_EQ(two, (json{{"3", single["3"]}, {"4", single["4"]}}));
  EXPECT_NE(hashesOf({"--mode", "single", "--frames", "1", "--time", "0.5"})["1"], single["1"]);
}

TEST_F(Capture, FilesAreTheSameWhereTheirPixelsAre) {
  ASSERT_EQ(capture({"builtin:spinners", "-o", "a.png", "--mode", "single"}).exit, 0);
  ASSERT_EQ(capture({"builtin:spinners", "-o", "b.png", "--mode", "pipelined", "--simulate-dual"}).exit, 0);
  EXPECT_EQ(read("a.png"), read("b.png"));
}

TEST_F(Capture, TimeMovesFramesAlong) {
  const auto hashOf = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"builtin:spinners", "-o", "a.exr", "--overwrite", "--json", "--motion-blur", "off", "--shutter", "0"});
    return json::parse(capture(more).out)["frames"][0]["hash"]["linear"];
  };
  EXPECT_NE(hashOf({"--time", "0"}), hashOf({"--time", "0.3"}));
}

TEST_F(Capture, AnExistingFileIsReplacedOnRequest) {
  write("a.png", "old");
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.png", "--overwrite"}).exit, 0);
  EXPECT_TRUE(isWholePng(read("a.png")));
  EXPECT_EQ(files(), (Files{"a.png"}));
}

TEST_F(Capture, ResumeKeepsWholeFramesAndRendersTheRest) {
  const Files arguments{"builtin:cornell", "-o", "a.####.png", "-o", "a.####.exr", "--resume", "--json", "--frames"};
  const auto resume = [&](const std::string& frames) {
    Files all = arguments;
    all.push_back(frames);
    const ProgramResult result = capture(all);
    EXPECT_EQ(result.exit, 0) << result.err;
    return json::parse(result.out);
  };
  resume("1-4");
  const std::string png = read("a.0002.png"), exr = read("a.0003.exr"), kept = read("a.0001.exr");
  write("a.0002.png", png.substr(0, png.size() / 2));
  write("a.0003.exr", exr.substr(0, exr.size() - 1));
  fs::remove(path("a.0004.exr"));
  const json report = resume("1-5");
  std::vector<bool> keptFrames;
  for (const json& frame : report["frames"]) keptFrames.push_back(frame["kept"]);
  EXPECT_EQ(keptFrames, (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(read("a.0001.exr"), kept);
  EXPECT_EQ(read("a.0002.png"), png);
  EXPECT_EQ(read("a.0003.exr").size(), exr.size());
  EXPECT_EQ(files().size(), 10u);
  EXPECT_TRUE(resume("1-5")["nodes"].empty()) << "nothing is left to do";
}

TEST_F(Capture, OneOfTheScenesOfAFile) {
  json document = triangleDocument();
  document["nodes"].push_back({{"mesh", 0}, {"scale", {3, 1, 1}}});
  document["scenes"] = {{{"nodes", {0}}, {"name", "narrow"}}, {{"nodes", {1}}, {"name", "wide"}}};
  write("scene.gltf", document.dump());
  write("points.bin", triangleBytes());
  const auto hashOf = [&](Files more) {
    more.insert(more.begin(), {"scene.gltf", "-o", "a.png", "--overwrite", "--json"});
    const ProgramResult result = capture(more);
    EXPECT_EQ(result.exit, 0) << result.err;
    return json::parse(result.out)["frames"][0]["hash"]["linear"];
  };
  const json narrow = hashOf({}), wide = hashOf({"--scene", "wide"});
  EXPECT_NE(narrow, wide);
  EXPECT_EQ(hashOf({"--scene", "1"}), wide);
  EXPECT_EQ(hashOf({"--scene", "narrow"}), narrow);
  expectError(capture({"scene.gltf", "-o", "b.png", "--scene", "broad"}), 2, {"broad", "narrow", "wide"});
}

TEST_F(Capture, FilesOutsideTheScenesFolderOnRequest) {
  json document = triangleDocument();
  document["buffers"][0]["uri"] = "../points.bin";
  fs::create_directory(path("folder"));
  write("folder/scene.gltf", document.dump());
  write("points.bin", triangleBytes());
  expectError(capture({"folder/scene.gltf", "-o", "a.png"}), 3, {"../points.bin", "--allow-external"});
  EXPECT_EQ(capture({"folder/scene.gltf", "-o", "a.png", "--allow-external"}).exit, 0);
}

TEST_F(Capture, AReportInAFileLeavesTheSummaryOnStdout) {
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.exr", "--json", "report.json"});
  ASSERT_EQ(result.exit, 0);
  EXPECT_TRUE(says(result.out, "a.exr"));
  EXPECT_EQ(json::parse(read("report.json"))["frames"][0]["files"], (json{"a.exr"}));
}

TEST_F(Capture, QuietSaysNothing) {
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.exr", "-q"}, {.terminal = true});
  EXPECT_EQ(result.exit, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST_F(Capture, ProgressIsForTerminals) {
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.####.png", "--frames", "1-3"}, {.terminal = true});
  EXPECT_EQ(result.exit, 0);
  EXPECT_TRUE(says(result.err, "frame 2 of 3") && says(result.err, "fps") && says(result.err, "left")) << result.err;
  EXPECT_TRUE(result.err.ends_with("\r\x1b[K")) << "the line is taken away at the end";
}

TEST_F(Capture, AovsMakeTheExrLarger) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.exr", "--compression", "none"}).exit, 0);
  ASSERT_EQ(
      capture({"builtin:cornell", "-o", "b.exr", "--compression", "none", "--aov", "albedo,normal,depth,motion"}).exit,
      0);
  // image_writer.h: albedo 3 halves, normal 3 halves, depth a float, motion 2 halves.
  EXPECT_GE(read("b.exr").size() - read("a.exr").size(), 64u * 36u * (6 + 6 + 4 + 4));
  for (const char* name : {"albedo.R", "normal.X", "depth.Z", "motion.X"})
    EXPECT_TRUE(says(read("b.exr"), name)) << name;
}

TEST_F(Capture, TheHeaderSaysHowItWasMade) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.exr", "--fps", "24000/1001", "--seed", "17"}).exit, 0);
  const std::string bytes = read("a.exr");
  for (const char* word :
       {"framesPerSecond", "capDate", "worldToCamera", "tandem.seed", "tandem.samples", "Tandem 0."}) {
    EXPECT_TRUE(says(bytes, word)) << word;
  }
  const int32_t rate[] = {24000, 1001};
  EXPECT_TRUE(says(bytes, std::string(reinterpret_cast<const char*>(rate), sizeof(rate))));
}

TEST_F(Capture, StdoutThatCannotBeWrittenIsAnError) {
  const ProgramResult result = run({"devices", "--json"}, {.fileLimit = 10});
  EXPECT_EQ(result.exit, 1) << result.err;
}

TEST_F(Capture, DevicesAreListed) {
  const json list = json::parse(run({"devices", "--json"}).out);
  EXPECT_EQ(list["schema"], 1);
  ASSERT_FALSE(list["adapters"].empty());
  size_t grouped = 0;
  for (const json& group : list["groups"]) grouped += group.size();
  EXPECT_EQ(grouped, list["adapters"].size());
  const std::string text = run({"devices"}).out;
  for (const json& adapter : list["adapters"]) {
    EXPECT_EQ(adapter["usable"].get<bool>(), adapter["refusals"].empty());
    EXPECT_TRUE(says(text, adapter["uuid"]) && says(text, adapter["name"])) << text;
  }
}

}  // namespace
}  // namespace tandem::cli
