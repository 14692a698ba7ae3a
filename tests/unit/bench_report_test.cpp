// What a benchmark concludes, from series made by hand.
#include "jobs/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jobs/bench_findings.h"

namespace tandem::jobs {
namespace {

using frame::Mode;

/// Two runs: frames of `first` ms and of `second` ms, four each; the passes of every frame as given.
ModeReport modeOf(Mode mode, double first, double second, const std::vector<exec::PassReport>& passes,
                  uint64_t hash = 1) {
  ModeReport report;
  report.contender.mode = mode;
  report.adapters = mode == Mode::Single ? std::vector<uint32_t>{0} : std::vector<uint32_t>{0, 1};
  for (const double ms : {first, second}) {
    BenchRun run;
    run.frameMs.assign(4, ms);
    run.latencyMs.assign(4, 3.0 * ms);
    run.seconds = 4e-3 * ms;
    run.frames.assign(4, FrameTrace{.passes = passes});
    uint64_t end = 1'000'000'000;
    for (FrameTrace& frame : run.frames) frame.endNs = end += static_cast<uint64_t>(1e6 * ms);
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
  scene.wanted.name = "terrain";
  scene.wanted.scene = "builtin:terrain";
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
  for (BenchRun& run : report.runs) {
    run.frames[0].rowsOfNode = run.frames[1].rowsOfNode = {36, 12};
    run.frames[2].rowsOfNode = run.frames[3].rowsOfNode = {24, 24};
  }
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
  EXPECT_TRUE(verdict(scene, {}).starts_with("sfr is 2.00x (2.00-2.00) single")) << verdict(scene, {});
  BenchReport simulated;
  simulated.settings.machine.simulateDual = true;
  EXPECT_TRUE(says(verdict(scene, simulated), "opened twice")) << verdict(scene, simulated);
}

TEST(BenchReport, TheSecondGpuAloneIsAnotherContender) {
  ModeReport second = modeOf(Mode::Single, 40.0, 40.0, {});
  second.contender.secondGpu = true;
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), second, modeOf(Mode::Sfr, 16.0, 16.0, {})});
  EXPECT_EQ(scene.modes[1].contender.label(), "single (second GPU)");
  EXPECT_EQ(reportOf(scene, {Mode::Single, true}), &scene.modes[1]);
  EXPECT_EQ(reportOf(scene, {Mode::Afr, false}), nullptr);
  // 62.5 fps of both, 50 and 25 of each: 62.5 / 75.
  const ModeFindings findings = findingsOf(scene, scene.modes[2], {});
  EXPECT_DOUBLE_EQ(findings.ofSum.value(), 62.5 / 75.0);
  EXPECT_DOUBLE_EQ(findings.efficiency.value(), 1.25 / 2.0);
  EXPECT_DOUBLE_EQ(findings.karpFlatt.value(), (1.0 / 1.25 - 0.5) / 0.5);
}

TEST(BenchReport, PowerIsOfTheGpusThatAreUsed) {
  ModeReport mode = modeOf(Mode::Sfr, 10.0, 10.0, {});
  // Two runs of 40 ms: 2 + 3 J each; the third GPU idles and is none of ours.
  for (BenchRun& run : mode.runs) {
    run.gpus.resize(3);
    run.gpus[0].joules = 2.0;
    run.gpus[1].joules = 3.0;
    run.gpus[2].joules = 100.0;
  }
  SceneReport scene = sceneOf({mode});
  const ModeFindings findings = findingsOf(scene, scene.modes[0], {});
  EXPECT_DOUBLE_EQ(findings.joulesPerFrame.value(), 10.0 / 8.0);
  EXPECT_DOUBLE_EQ(findings.watts.value(), 10.0 / 0.080);
  scene.modes[0].runs[0].gpus[1].joules.reset();
  EXPECT_FALSE(findingsOf(scene, scene.modes[0], {}).joulesPerFrame) << "of one GPU alone it would be wrong";
}

TEST(BenchReport, GpusMeanwhileAreThoseOfTheModeOverItsRuns) {
  ModeReport mode = modeOf(Mode::Single, 10.0, 10.0, {});
  EXPECT_TRUE(findingsOf(sceneOf({mode}), mode, {}).gpus.empty()) << "nobody watched";
  // 1 s at 1500 MHz and 3 s at 1900: 1800.
  const auto useOf = [](double seconds, double mhz, double watts, std::set<std::string> reasons) {
    GpuUse use;
    use.seconds = seconds;
    use.samples = 5;
    use.meanMHz = mhz;
    use.maxWatts = watts;
    use.throttleReasons = std::move(reasons);
    return use;
  };
  mode.runs[0].gpus = {useOf(1.0, 1500.0, 600.0, {"sw power cap"})};
  mode.runs[1].gpus = {useOf(3.0, 1900.0, 550.0, {})};
  const auto gpus = findingsOf(sceneOf({mode}), mode, {}).gpus;
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_DOUBLE_EQ(gpus[0].meanMHz.value(), 1800.0);
  EXPECT_EQ(gpus[0].maxWatts, 600.0);
  EXPECT_EQ(gpus[0].throttleReasons, std::set<std::string>{"sw power cap"});
  EXPECT_FALSE(gpus[0].maxTemperatureC);
}

TEST(BenchReport, FramesPerDollarAreByThePriceOfTheMachine) {
  BenchReport report;
  report.settings.pricePerHour = Price{2.0, 5.0};
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), modeOf(Mode::Sfr, 10.0, 10.0, {})});
  EXPECT_DOUBLE_EQ(findingsOf(scene, scene.modes[0], report).framesPerDollar.value(), 50.0 * 3600.0 / 2.0);
  EXPECT_DOUBLE_EQ(findingsOf(scene, scene.modes[1], report).framesPerDollar.value(), 100.0 * 3600.0 / 5.0);
}

TEST(BenchReport, RaysAreThoseOfTheRowsByTheTimeOfTracing) {
  SceneReport scene = sceneOf({});
  scene.picture.size = {100, 50};
  EXPECT_FALSE(raysPerSecond(scene, {.rows = 25.0, .traceMs = 4.0})) << "not counted";
  scene.raysPerFrame = 8'000'000;
  EXPECT_DOUBLE_EQ(raysPerSecond(scene, {.rows = 25.0, .traceMs = 4.0}).value(), 1e9);
  EXPECT_FALSE(raysPerSecond(scene, {.rows = 0.0, .traceMs = 0.0}));
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
  refused.contender.mode = Mode::Afr;
  refused.failure = "the graph has temporal passes";
  const SceneReport scene = sceneOf({modeOf(Mode::Single, 20.0, 20.0, {}), refused});
  EXPECT_TRUE(says(benchText({.scenes = {scene}}, false), "the graph has temporal passes"));
  const auto mode = nlohmann::json::parse(benchJson({.scenes = {scene}}))["scenes"][0]["modes"][1];
  EXPECT_EQ(mode["failure"], "the graph has temporal passes");
  EXPECT_TRUE(mode["summary"].is_null() && mode["ranAs"].is_null() && mode["speedup"].is_null());
}

TEST(BenchReport, WhatCannotBeReadIsNullAndNotZero) {
  const auto document = nlohmann::json::parse(benchJson({}));
  for (const char* key : {"cpu", "threads", "memoryBytes", "kernel"})
    EXPECT_TRUE(document["machine"][key].is_null()) << key;
  EXPECT_TRUE(document["commit"].is_null());
  EXPECT_TRUE(says(benchText({}, false), "N/A"));
}

TEST(BenchMachine, ValuesAreFoundByTheirWholeKey) {
  const std::string text =
      "processor\t: 0\nmodel\t\t: 17\nmodel name\t: EPYC "
      "9554  \nbogus\nempty\t:\n";
  EXPECT_EQ(valueOfKey(text, "model name"), "EPYC 9554");
  EXPECT_EQ(valueOfKey(text, "model"), "17");
  EXPECT_FALSE(valueOfKey(text, "empty"));
  EXPECT_FALSE(valueOfKey(text, "bogus"));
  EXPECT_FALSE(valueOfKey(text, "Hardware"));
}

}  // namespace
}  // namespace tandem::jobs
