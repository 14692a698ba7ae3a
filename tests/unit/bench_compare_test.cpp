// Two reports held against each other, with changes planted in the second.
#include "jobs/bench_compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "jobs/bench_document.h"
#include "support/bench_document.h"

namespace tandem::jobs {
namespace {

using test::json;

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

Comparison compared(const json& before, const json& after, double failAbove = 5.0) {
  auto comparison = compareReports(before, after, failAbove);
  if (!comparison) throw std::runtime_error(comparison.refusal().message);
  return *comparison;
}

TEST(BenchCompare, EqualReportsShowNoRegression) {
  const Comparison same = compared(test::benchDocument(), test::benchDocument(), 0.0);
  EXPECT_EQ(same.exit, ExitCode::Done);
  EXPECT_TRUE(says(same.text, "no regression past 0 %")) << same.text;
  for (const char* words : {"warning", "SLOWER", "faster", "grew"}) EXPECT_FALSE(says(same.text, words)) << same.text;
}

TEST(BenchCompare, ASlowerPassIsNamed) {
  // blur takes 2 -> 3 ms; a frame of 20 ms takes 21, so that the frames per second fall to 20 / 21 = 95.24 %.
  json after = test::benchDocument();
  json& single = after["scenes"][0]["modes"][0];
  test::slowDown(single, 1.05);
  single["summary"]["passes"][1]["ms"] = 3.0;
  single["summary"]["passes"][2]["ms"] = 1.1;
  const Comparison comparison = compared(test::benchDocument(), after, 4.0);
  EXPECT_EQ(comparison.exit, ExitCode::Failed);
  EXPECT_TRUE(says(comparison.text, "blur on node 0 grew most: 2.000 -> 3.000 ms (+1.000 ms, +50.0 %)"))
      << comparison.text;
  EXPECT_TRUE(says(comparison.text, "regression: terrain-1m, single: -4.8 %")) << comparison.text;
  EXPECT_FALSE(says(comparison.text, "regression: terrain-1m, sfr"));
  EXPECT_EQ(compared(test::benchDocument(), after, 5.0).exit, ExitCode::Done) << "4.8 % is not above 5 %";
  EXPECT_EQ(compared(after, test::benchDocument(), 0.0).exit, ExitCode::Done) << "faster is no regression";
  EXPECT_TRUE(says(compared(after, test::benchDocument()).text, "faster"));
}

TEST(BenchCompare, WhatLiesWithinTheNoiseIsNotShown) {
  // Repeats of 20, 26 and 32 ms against 24, 28 and 30: the means differ by 5 %, the repeats by far more.
  json before = test::benchDocument(), after = test::benchDocument();
  const auto set = [](json& document, const std::vector<double>& factors) {
    for (size_t run = 0; run < 3; ++run) {
      for (json& ms : document["scenes"][0]["modes"][0]["runs"][run]["frameMs"])
        ms = ms.get<double>() * factors[run] / 20.0;
    }
  };
  set(before, {20.0, 26.0, 32.0});
  set(after, {24.0, 28.0, 30.0});
  const Comparison comparison = compared(before, after, 1.0);
  EXPECT_EQ(comparison.exit, ExitCode::Done);
  EXPECT_TRUE(says(comparison.text, "-4.9 %")) << comparison.text;  // 78 / 82
  EXPECT_TRUE(says(comparison.text, "no difference shown")) << comparison.text;
}

TEST(BenchCompare, OneRunShowsNothing) {
  json before = test::benchDocument(), after = test::benchDocument();
  for (json* document : {&before, &after}) {
    for (json& mode : (*document)["scenes"][0]["modes"]) mode["runs"] = json::array({mode["runs"][0]});
  }
  test::slowDown(after["scenes"][0]["modes"][0], 2.0);
  const Comparison comparison = compared(before, after);
  EXPECT_EQ(comparison.exit, ExitCode::Done);
  EXPECT_TRUE(says(comparison.text, "one run: not shown")) << comparison.text;
  EXPECT_TRUE(says(comparison.text, "fewer than two runs"));
}

TEST(BenchCompare, SlowerLinksAndOtherRowsAreNamed) {
  json after = test::benchDocument();
  json& sfr = after["scenes"][0]["modes"][2];
  test::slowDown(sfr, 1.3);
  sfr["summary"]["links"][0]["gbps"] = 4.0;
  sfr["summary"]["nodes"][0]["rows"] = 810;
  sfr["summary"]["nodes"][1]["rows"] = 270;
  const Comparison comparison = compared(test::benchDocument(), after);
  EXPECT_EQ(comparison.exit, ExitCode::Failed);
  EXPECT_TRUE(says(comparison.text, "link 0 -> 1: 40.00 -> 4.00 GB/s (-90.0 %)")) << comparison.text;
  EXPECT_TRUE(says(comparison.text, "node 0: 540 -> 810 rows (+50.0 %)")) << comparison.text;
  EXPECT_TRUE(says(comparison.text, "node 1: 540 -> 270 rows (-50.0 %)")) << comparison.text;
  EXPECT_TRUE(says(comparison.text, "no pass takes longer than before")) << comparison.text;
  // 3 % is not worth a line.
  sfr["summary"]["links"][0]["gbps"] = 39.0;
  EXPECT_FALSE(says(compared(test::benchDocument(), after).text, "link 0 -> 1"));
}

TEST(BenchCompare, AModeThatFailsNowIsARegression) {
  json after = test::benchDocument();
  json& sfr = after["scenes"][0]["modes"][2];
  sfr["runs"] = json::array();
  EXPECT_EQ(compared(test::benchDocument(), after).exit, ExitCode::Done) << "interrupted, or not asked for";
  sfr["failure"] = "the device was lost";
  const Comparison comparison = compared(test::benchDocument(), after);
  EXPECT_EQ(comparison.exit, ExitCode::Failed);
  EXPECT_TRUE(says(comparison.text, "regression: terrain-1m, sfr: fails now: the device was lost")) << comparison.text;
}

TEST(BenchCompare, WhatMakesItDoubtfulStandsOnTop) {
  json after = test::benchDocument();
  after["machine"]["cpu"] = "CPU Z";
  after["machine"]["adapters"][1]["driver"] = "driver 2";
  after["settings"]["readback"] = true;
  after["settings"]["simulateDual"] = true;
  after["partial"] = true;
  after["scenes"][0]["modes"][1]["nodes"][0]["type"] = "cpu";
  after["scenes"][0]["samples"] = 8;
  after["scenes"].push_back(test::sceneOf("cornell"));
  const std::string text = compared(test::benchDocument(), after).text;
  for (const char* words :
       {"warning: another machine, cpu: CPU Y -> CPU Z",
        "warning: another machine, driver of adapter 1: driver 1 -> driver 2",
        "warning: another setting, readback: false -> true", "warning: the report after was interrupted",
        "warning: the report after ran on a software device", "warning: the report after opened one GPU twice",
        "warning: only after: cornell", "warning: not the same work: samples: 4 -> 8"})
    EXPECT_TRUE(says(text, words)) << words << "\n" << text;
  EXPECT_LT(text.find("another setting"), text.find("fps before"));
}

TEST(BenchCompare, WhatCannotBeComparedIsRefused) {
  const json good = test::benchDocument();
  const auto refusal = [&](const json& before, const json& after, double failAbove = 5.0) {
    const auto comparison = compareReports(before, after, failAbove);
    return comparison ? Refusal{ExitCode::Done, "taken"} : comparison.refusal();
  };
  json old = good;
  old["schema"] = 1;
  EXPECT_EQ(refusal(old, good).exit, ExitCode::UnusableInput);
  EXPECT_TRUE(says(refusal(old, good).message, "the report before: schema 1; this program reads schema 2"));
  EXPECT_TRUE(says(refusal(good, json::array()).message, "the report after: no report of tandem bench"));
  json other = good;
  other["scenes"][0]["name"] = "cornell";
  EXPECT_EQ(refusal(good, other).exit, ExitCode::UnusableInput);
  EXPECT_TRUE(says(refusal(good, other).message, "no scene in common"));
  other = good;
  other["scenes"][0]["scene"] = "builtin:cornell";
  EXPECT_TRUE(says(refusal(good, other).message, "no scene in common")) << "one name, two scenes";
  for (const json& time : {json(-1.0), json("10"), json(nullptr), json(1e10)}) {
    json broken = good;
    broken["scenes"][0]["modes"][1]["runs"][2]["frameMs"][5] = time;
    EXPECT_EQ(refusal(good, broken).exit, ExitCode::UnusableInput);
    EXPECT_TRUE(says(refusal(good, broken).message, "scenes[0].modes[1].runs[2].frameMs[5]")) << time;
  }
  for (const double percent : {-1.0, 101.0, std::nan("")})
    EXPECT_EQ(refusal(good, good, percent).exit, ExitCode::WrongUsage) << percent;
}

TEST(BenchCompare, FilesAreReadOrRefusedByName) {
  const auto folder = std::filesystem::temp_directory_path() / "tandem_bench_compare_test";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  const auto good = readBenchFile(write("good.json", test::benchDocument().dump()));
  ASSERT_TRUE(good) << good.refusal().message;
  EXPECT_EQ(*good, test::benchDocument());
  for (const auto& [name, text] :
       {std::pair{"half.json", "{\"kind\": \"tandem"}, {"empty.json", ""}, {"other.json", "{\"kind\": \"capture\"}"}}) {
    const auto file = readBenchFile(write(name, text));
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.refusal().exit, ExitCode::UnusableInput);
    EXPECT_TRUE(says(file.refusal().message, name)) << file.refusal().message;
  }
  EXPECT_TRUE(says(readBenchFile(folder / "missing.json").refusal().message, "missing.json: cannot be read"));
  EXPECT_FALSE(readBenchFile(folder)) << "a folder is no file";
  std::filesystem::remove_all(folder);
}

TEST(BenchCompare, TheIntervalOfAChangeIsThatOfBothSides) {
  // Without spread the ratio is exact: 10 ms -> 12.5 ms is 0.8.
  const std::vector<std::vector<double>> ten(3, std::vector<double>(40, 10.0)),
      slower(3, std::vector<double>(40, 12.5));
  const auto exact = changeInterval(ten, slower);
  ASSERT_TRUE(exact);
  EXPECT_NEAR(exact->value, 0.8, 1e-9);
  EXPECT_NEAR(exact->low, 0.8, 1e-9);
  EXPECT_NEAR(exact->high, 0.8, 1e-9);
  // With spread on one side alone the interval is that side's, turned over or not.
  const std::vector<std::vector<double>> spread{std::vector<double>(40, 9.0), std::vector<double>(40, 10.0),
                                                std::vector<double>(40, 11.0)};
  const auto side = fpsInterval(spread);
  const auto above = changeInterval(ten, spread), below = changeInterval(spread, ten);
  ASSERT_TRUE(side && above && below);
  EXPECT_NEAR(above->low, side->low / 100.0, 1e-6);
  EXPECT_NEAR(above->high, side->high / 100.0, 1e-6);
  EXPECT_NEAR(below->low, 100.0 / side->high, 1e-6);
  EXPECT_NEAR(below->high, 100.0 / side->low, 1e-6);
  EXPECT_FALSE(changeInterval(ten, std::span(slower).first(1)));
}

}  // namespace
}  // namespace tandem::jobs
