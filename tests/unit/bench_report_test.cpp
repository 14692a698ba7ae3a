// What a benchmark concludes, from series made by hand.
#include "jobs/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tandem::jobs {
namespace {

using frame::Mode;

/// Two runs: frames of `first` ms and of `second` ms, four each; the passes of every frame as given.
ModeReport modeOf(Mode mode, double first, double second, const std::vector<exec::PassReport>& passes,
                  uint64_t hash = 1) {
  ModeReport report;
  report.mode = mode;
  for (const double ms : {first, second}) {
    BenchRun run;
    run.frameMs.assign(4, ms);
    run.latencyMs.assign(4, 3.0 * ms);
    run.seconds = 4e-3 * ms;
    run.passes.assign(4, passes);
    run.complete = true;
    report.runs.push_back(std::move(run));
  }
  report.proofs = {{kProofFrame, hash, hash, {0}}};
  report.run.mode = frame::modeName(mode);
  report.run.nodes.push_back({.node = 0, .adapter = "GPU", .type = "discrete"});
  return report;
}

exec::PassReport passOf(const char* name, uint32_t node, double ms) {
  return {.name = name, .node = node, .milliseconds = ms};
}

SceneReport sceneOf(std::vector<ModeReport> modes) {
  SceneReport scene;
  scene.scene = "builtin:terrain";
  scene.modes = std::move(modes);
  return scene;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(BenchReport, FramesPerSecondAreFramesByTime) {
  // 4 frames of 10 ms and 4 of 30 ms: 8 in 160 ms.
  const auto summary = summarizeMode(modeOf(Mode::Single, 10.0, 30.0, {passOf("path_trace", 0, 9.0)}));
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->fps, 50.0);
  EXPECT_EQ(summary->frameMs.count, 8u);
  EXPECT_EQ(summary->frameMs.p50, 10.0);  // number 4 of 8
  EXPECT_DOUBLE_EQ(summary->frameMs.mean, 20.0);
  EXPECT_EQ(summary->latencyMs.p50, 30.0);
  EXPECT_FALSE(summarizeMode(ModeReport()));
}

TEST(BenchReport, NodesAreBusyWithTheSumOfTheirPasses) {
  ModeReport report = modeOf(Mode::Pipelined, 10.0, 10.0,
                             {passOf("path_trace", 0, 9.0), passOf("blur", 1, 2.0), passOf("tonemap", 1, 1.0)});
  // Half of the frames have 36 and 12 rows, half 24 and 24.
  for (BenchRun& run : report.runs) run.rowsOfNode = {{36, 12}, {36, 12}, {24, 24}, {24, 24}};
  const auto summary = summarizeMode(report);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->busyMsOfNode, (std::vector<double>{9.0, 3.0}));
  EXPECT_EQ(summary->rowsOfNode, (std::vector<double>{30.0, 18.0}));
  EXPECT_EQ(summary->passes.size(), 3u);
}

TEST(BenchReport, SpeedupIsAgainstSingle) {
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Sfr, 10.0, 15.0, {})});
  // 50 fps against 8 frames in 100 ms.
  EXPECT_DOUBLE_EQ(speedup(scene, scene.modes[1]).value(), 1.6);
  EXPECT_DOUBLE_EQ(speedup(scene, scene.modes[0]).value(), 1.0);
  const SceneReport alone = sceneOf({modeOf(Mode::Sfr, 10.0, 10.0, {})});
  EXPECT_FALSE(speedup(alone, alone.modes[0]));
}

TEST(BenchReport, TheVerdictNamesTheFastestMode) {
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Pipelined, 18.0, 18.0, {}),
                                     modeOf(Mode::Sfr, 10.0, 10.0, {})});
  EXPECT_EQ(verdict(scene, {}), "sfr is 2.00x single");
  BenchReport simulated;
  simulated.settings.machine.simulateDual = true;
  EXPECT_TRUE(says(verdict(scene, simulated), "one GPU was opened twice"));
}

TEST(BenchReport, WhereOneIsFasterTheVerdictSaysWhy) {
  const std::vector<exec::PassReport> passes{passOf("path_trace", 0, 5.0), passOf("blur", 1, 23.0),
                                             passOf("tonemap", 1, 1.0)};
  const SceneReport limited =
      sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Pipelined, 25.0, 25.0, passes)});
  EXPECT_EQ(verdict(limited, {}),
            "one GPU is faster here: pipelined is 0.80x single, because node 1 is busy for 24.00 of 25.00 ms a frame, "
            "longest with blur");
  const SceneReport waiting =
      sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Pipelined, 40.0, 40.0, passes)});
  EXPECT_TRUE(says(verdict(waiting, {}), "no GPU is busy for more than 24.00 of 40.00 ms")) << verdict(waiting, {});
}

TEST(BenchReport, TimesOfSoftwareDevicesSaySo) {
  SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Sfr, 10.0, 10.0, {})});
  scene.modes[1].run.nodes[0].type = "cpu";
  EXPECT_TRUE(says(verdict(scene, {}), "say nothing about GPUs"));
}

TEST(BenchReport, OneDifferentPictureIsFound) {
  SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Sfr, 10.0, 10.0, {})});
  EXPECT_EQ(picturesEqual(scene), true);
  EXPECT_EQ(pictureVerdict(scene), "pictures are equal in all modes, bit for bit (frame 12)");
  scene.modes[1].run.nodes.push_back({.node = 1, .adapter = "GPU", .type = "discrete"});
  EXPECT_TRUE(says(pictureVerdict(scene), "; sfr: node 1 rendered none of them"));
  scene.modes[1].proofs.push_back({kProofFrame, 1, 2, {1}});  // tone-mapped pixels differ, of one proof frame
  EXPECT_EQ(picturesEqual(scene), false);
  EXPECT_TRUE(says(pictureVerdict(scene), "DIFFER"));
  EXPECT_TRUE(nlohmann::json::parse(benchJson({.scenes = {scene}}))["scenes"][0]["picturesEqual"] == false);
  scene.modes.pop_back();
  EXPECT_FALSE(picturesEqual(scene)) << "one mode has nothing to be compared with";
  EXPECT_EQ(pictureVerdict(scene), "");
}

TEST(BenchReport, AModeThatFailedStandsInTheTableWithItsReason) {
  ModeReport refused;
  refused.mode = Mode::Afr;
  refused.failure = "the graph has temporal passes";
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), refused});
  EXPECT_TRUE(says(benchText({.scenes = {scene}}), "the graph has temporal passes"));
  const auto mode = nlohmann::json::parse(benchJson({.scenes = {scene}}))["scenes"][0]["modes"][1];
  EXPECT_EQ(mode["failure"], "the graph has temporal passes");
  EXPECT_TRUE(mode["summary"].is_null() && mode["ranAs"].is_null() && mode["speedup"].is_null());
}

TEST(BenchReport, WhatCannotBeReadIsNullAndNotZero) {
  const auto document = nlohmann::json::parse(benchJson({}));
  for (const char* key : {"cpu", "threads", "memoryBytes", "kernel"})
    EXPECT_TRUE(document["machine"][key].is_null()) << key;
  EXPECT_TRUE(document["commit"].is_null());
  EXPECT_TRUE(says(benchText({}), "N/A"));
}

TEST(BenchMachine, ValuesAreFoundByTheirWholeKey) {
  const std::string text = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: EPYC 9554  \nbogus\nempty\t:\n";
  EXPECT_EQ(valueOfKey(text, "model name"), "EPYC 9554");
  EXPECT_EQ(valueOfKey(text, "model"), "17");
  EXPECT_FALSE(valueOfKey(text, "empty"));
  EXPECT_FALSE(valueOfKey(text, "bogus"));
  EXPECT_FALSE(valueOfKey(text, "Hardware"));
}

}  // namespace
}  // namespace tandem::jobs
