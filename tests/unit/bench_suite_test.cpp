// Suites of the benchmark: those that are shipped hold what they say, and each kind of error is named by its field.
#include "jobs/bench_suite.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "jobs/load_scene.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;
using frame::Mode;

const fs::path kAssets = fs::path(TANDEM_SOURCE_DIR) / "assets";

BenchSuite shipped(const std::string& name) {
  const Expected<BenchSuite> suite = readSuite(kAssets / "bench" / (name + ".json"));
  if (!suite) throw std::runtime_error(suite.refusal().message);
  return *suite;
}

/// Suites of a test's own, in the folder bench/ of a folder of its own.
class OwnSuite : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("tandem_suite_{}_{}", info->name(), ::getpid());
    fs::create_directories(folder_ / "assets" / "bench");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name = "own") const { return folder_ / "assets" / "bench" / (name + ".json"); }
  void write(const std::string& text, const std::string& name = "own") const { std::ofstream(file(name)) << text; }
  Expected<BenchSuite> read(const std::string& text) const {
    write(text);
    return readSuite(file());
  }
  /// What is wrong with a suite; must begin with the file's name, which is left out here.
  std::string problem(const std::string& text) const {
    const Expected<BenchSuite> suite = read(text);
    if (suite) return "no problem";
    EXPECT_EQ(suite.refusal().exit, ExitCode::UnusableInput);
    const std::string begin = file().string() + ": ";
    EXPECT_EQ(suite.refusal().message.substr(0, begin.size()), begin);
    return suite.refusal().message.substr(std::min(begin.size(), suite.refusal().message.size()));
  }
  /// The same of a suite whose one field or whose first case's one field is `field`.
  std::string problemOfSuite(const std::string& field) const {
    return problem(R"({"name": "n", "description": "d", "cases": [{"name": "a", "scene": "builtin:cornell"}], )" +
                   field + "}");
  }
  std::string problemOfCase(const std::string& field) const {
    return problem(R"({"name": "n", "description": "d", "cases": [{"name": "a", "scene": "builtin:cornell", )" + field +
                   "}]}");
  }

  fs::path folder_;
};

TEST(ShippedSuites, EverySceneInThemExists) {
  std::set<std::string> seen;
  for (const std::string name : {"quick", "standard", "full"}) {
    const BenchSuite suite = shipped(name);
    EXPECT_EQ(suite.name, name);
    EXPECT_FALSE(suite.cases.empty());
    for (const BenchCase& found : suite.cases) {
      if (!seen.insert(found.load).second) continue;
      const Expected<scene::LoadedScene> loaded = loadScene(found.load, {}, "");
      EXPECT_TRUE(loaded) << name << ", " << found.name << ": " << loaded.refusal().message;
    }
  }
}

TEST(ShippedSuites, QuickIsOneSceneInThreeModesThreeTimes) {
  const BenchSuite quick = shipped("quick");
  ASSERT_EQ(quick.cases.size(), 1u);
  EXPECT_EQ(quick.cases[0].modes, (std::vector{Mode::Single, Mode::Pipelined, Mode::Sfr}));
  EXPECT_EQ(quick.repeats, 3u);
}

TEST(ShippedSuites, FullHasSizesOnTwoScenesOnly) {
  std::map<std::string, std::vector<uint32_t>> heights;
  for (const BenchCase& found : shipped("full").cases) {
    ASSERT_TRUE(found.size) << found.name;
    std::vector<uint32_t>& seen = heights[found.scene];
    if (std::ranges::find(seen, found.size->height) == seen.end()) seen.push_back(found.size->height);
  }
  const std::vector<uint32_t> all{1080, 1440, 2160, 4320};
  EXPECT_EQ(heights.at("builtin:terrain"), all);
  EXPECT_EQ(heights.at("scenes/courtyard.glb"), all);
  EXPECT_EQ(std::ranges::count_if(heights, [](const auto& scene) { return scene.second.size() > 1; }), 2);
}

/// As the descriptions define it: one GPU's work, then twice the samples of the same picture for two.
TEST(ShippedSuites, WeakCasesArePairsOfWorkAndDoubleWork) {
  size_t pairs = 0;
  for (const std::string name : {"standard", "full"}) {
    std::map<std::string, std::vector<BenchCase>> series;
    for (const BenchCase& found : shipped(name).cases) {
      if (found.scaling == "weak") series[found.series].push_back(found);
    }
    for (const auto& [of, cases] : series) {
      ASSERT_EQ(cases.size(), 2u) << of;
      EXPECT_EQ(cases[0].modes, std::vector{Mode::Single}) << of;
      EXPECT_EQ(cases[1].samples.value(), 2 * cases[0].samples.value()) << of;
      EXPECT_EQ(cases[1].scene, cases[0].scene) << of;
      EXPECT_EQ(cases[1].size, cases[0].size) << of;
      EXPECT_EQ(cases[1].bounces, cases[0].bounces) << of;
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 2u);
}

TEST(ShippedSuites, TerrainHasOneAndTenMillionTriangles) {
  std::map<std::string, double> millions;
  for (const BenchCase& found : shipped("full").cases) {
    if (!found.scene.starts_with("builtin:terrain") || millions.contains(found.scene)) continue;
    const auto loaded = loadScene(found.load, {}, "");
    millions[found.scene] = static_cast<double>(loaded->scene.meshes.at(0).indices.size()) / 3e6;
  }
  ASSERT_EQ(millions.size(), 2u);
  EXPECT_NEAR(millions.at("builtin:terrain"), 1.0, 0.01);
  EXPECT_NEAR(millions.at("builtin:terrain?triangles=10000000"), 10.0, 0.01);
}

TEST_F(OwnSuite, AllFieldsAreRead) {
  const auto suite = read(R"({"name": "n", "description": "d", "repeats": 7, "frames": 90, "cases": [
      {"name": "a", "scene": "builtin:cornell"},
      {"name": "b", "scene": "scenes/b.glb", "size": [640, 360], "samples": 2, "bounces": 0, "shutterDegrees": 90.5,
       "scaling": "weak", "series": "s", "modes": ["afr", "single"]}]})");
  ASSERT_TRUE(suite) << suite.refusal().message;
  EXPECT_EQ(suite->name, "n");
  EXPECT_EQ(suite->description, "d");
  EXPECT_EQ(suite->repeats, 7u);
  EXPECT_EQ(suite->frames, 90u);
  EXPECT_EQ(suite->seconds, std::nullopt);
  ASSERT_EQ(suite->cases.size(), 2u);
  const BenchCase& plain = suite->cases[0];
  EXPECT_EQ(plain.load, "builtin:cornell");
  EXPECT_FALSE(plain.size || plain.samples || plain.bounces || plain.shutterDegrees);
  EXPECT_TRUE(plain.scaling.empty() && plain.series.empty() && plain.modes.empty());
  const BenchCase& rich = suite->cases[1];
  EXPECT_EQ(rich.scene, "scenes/b.glb");
  EXPECT_EQ(rich.load, (folder_ / "assets" / "scenes" / "b.glb").string());
  EXPECT_EQ(rich.size, (Extent{640, 360}));
  EXPECT_EQ(rich.samples, 2u);
  EXPECT_EQ(rich.bounces, 0u);
  EXPECT_EQ(rich.shutterDegrees, 90.5);
  EXPECT_EQ(rich.scaling, "weak");
  EXPECT_EQ(rich.series, "s");
  EXPECT_EQ(rich.modes, (std::vector{Mode::Afr, Mode::Single}));
}

TEST_F(OwnSuite, WhatIsNoSuiteIsRefused) {
  EXPECT_TRUE(problem("{\"name\": ").starts_with("the suite is not JSON: "));
  EXPECT_TRUE(problem("{\"name\": 1e999}").starts_with("the suite is not JSON: "));
  EXPECT_EQ(problem("[]"), "the file: must be an object in braces");
  EXPECT_EQ(problem("{}"), "name: is missing");
  EXPECT_EQ(problem(R"({"name": "n", "description": "d"})"), "cases: is missing");
  EXPECT_EQ(problem(R"({"name": "n", "description": "d", "cases": []})"), "cases: must be a list of at least one case");
  EXPECT_EQ(problem(R"({"name": "n", "description": "d", "cases": [7]})"), "cases[0]: must be an object in braces");
  EXPECT_EQ(problem(R"({"name": "n", "description": "d", "cases": [{"name": "a"}]})"), "cases[0].scene: is missing");
  const auto missing = readSuite(folder_);  // a folder
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.refusal().message.substr(0, folder_.string().size()), folder_.string());
}

TEST_F(OwnSuite, FieldsOfTheSuiteAreNamed) {
  EXPECT_EQ(problemOfSuite(R"("frames": 10)"), "no problem");
  for (const std::string bad : {R"("repeats": 0)", R"("repeats": 2.5)", R"("repeats": -1)", R"("repeats": "5")"})
    EXPECT_TRUE(problemOfSuite(bad).starts_with("repeats: must be a whole number from 1 to 1000, not ")) << bad;
  EXPECT_TRUE(problemOfSuite(R"("frames": 1000001)").starts_with("frames: "));
  EXPECT_TRUE(problemOfSuite(R"("seconds": 0)").starts_with("seconds: must be a number above 0"));
  EXPECT_TRUE(problemOfSuite(R"("seconds": 3601)").starts_with("seconds: must be a number above 0"));
  EXPECT_TRUE(problemOfSuite(R"("frames": 10, "seconds": 1)").starts_with("seconds: frames stands there, too"));
  EXPECT_EQ(problemOfSuite(R"("repeat": 5)"),
            "repeat: there is no such field; there are cases, description, frames, name, repeats, seconds");
}

TEST_F(OwnSuite, FieldsOfACaseAreNamed) {
  EXPECT_EQ(problemOfCase(R"("samples": 1)"), "no problem");
  for (const std::string bad : {R"("4k")", "[640]", "[640, 0]", "[640, 65537]", "[640, 360, 1]", "[640, 1.5]"})
    EXPECT_TRUE(problemOfCase("\"size\": " + bad).starts_with("cases[0].size: must be [WIDTH, HEIGHT]")) << bad;
  EXPECT_TRUE(problemOfCase(R"("samples": 0)").starts_with("cases[0].samples: must be a whole number from 1 to "));
  EXPECT_TRUE(problemOfCase(R"("samples": 4294967297)").starts_with("cases[0].samples: "));
  EXPECT_TRUE(problemOfCase(R"("bounces": 1025)").starts_with("cases[0].bounces: "));
  EXPECT_TRUE(problemOfCase(R"("shutterDegrees": 361)").starts_with("cases[0].shutterDegrees: "));
  EXPECT_EQ(problemOfCase(R"("scaling": "none")"), R"(cases[0].scaling: must be "strong" or "weak", not "none")");
  EXPECT_TRUE(problemOfCase(R"("series": "")").starts_with("cases[0].series: "));
  EXPECT_TRUE(problemOfCase(R"("modes": [])").starts_with("cases[0].modes: must be a list of modes"));
  EXPECT_EQ(problemOfCase(R"("modes": ["sfr", "auto"])"),
            R"(cases[0].modes[1]: must be single, pipelined, sfr or afr, not "auto")");
  EXPECT_EQ(problemOfCase(R"("modes": ["sfr", "sfr"])"), "cases[0].modes[1]: sfr is there twice");
  EXPECT_TRUE(problemOfCase(R"("sampels": 4)").starts_with("cases[0].sampels: there is no such field; there are "));
}

TEST_F(OwnSuite, CasesOfOneNameAreRefused) {
  EXPECT_EQ(problem(R"({"name": "n", "description": "d", "cases": [{"name": "a", "scene": "builtin:cornell"},
      {"name": "b", "scene": "builtin:cornell"}, {"name": "a", "scene": "builtin:spinners"}]})"),
            R"(cases[2].name: "a" is the name of cases[0], too)");
}

TEST_F(OwnSuite, SuitesAreFoundBesideTheProgramOrByPath) {
  const fs::path folders[] = {folder_ / "build", folder_};
  const auto absent = findSuite("quick", folders);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.refusal().exit, ExitCode::UnusableInput);
  EXPECT_NE(absent.refusal().message.find(file("quick").string()), std::string::npos);
  write("{}", "quick");
  const auto quick = findSuite("quick", folders);
  ASSERT_TRUE(quick) << quick.refusal().message;
  EXPECT_EQ(*quick, file("quick"));

  write("{}");
  EXPECT_EQ(*findSuite(file().string()), file());
  const auto missing = findSuite(file("missing").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.refusal().exit, ExitCode::UnusableInput);
  const auto unknown = findSuite("own", folders);  // lies there, but is none of the three
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.refusal().exit, ExitCode::WrongUsage);
}

}  // namespace
}  // namespace tandem::jobs
