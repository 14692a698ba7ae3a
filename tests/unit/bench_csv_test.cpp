// The benchmark's frames as lines.
#include "jobs/bench_csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/bench_document.h"

namespace tandem::jobs {
namespace {

using test::json;

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Two frames, 10 and 30 ms, of a scene of that name.
json smallDocument(const std::string& name) {
  json document = test::benchDocument();
  json& scene = document["scenes"][0];
  scene["name"] = name;
  scene["modes"].erase(2);
  scene["modes"].erase(1);
  json& runs = scene["modes"][0]["runs"];
  runs = json::array({test::runOf(1, 10.0, 2, json::array({700, 380}))});
  runs[0]["frameMs"] = {10.0, 30.0};
  runs[0]["latencyMs"] = {25.5, 60.0};
  return document;
}

TEST(BenchCsv, OneLineAFrame) {
  const std::vector<std::string> lines = linesOf(benchCsv(test::benchDocument()));
  ASSERT_EQ(lines.size(), 1u + 3 * 3 * 40);  // modes, repeats, frames
  EXPECT_EQ(lines[0],
            "Application,Scene,Mode,Repeat,Frame,TimeInSeconds,MsBetweenPresents,DisplayLatency,RowsNode0,RowsNode1");
  // The second frame of single's second repeat; of a mode of one node nobody has the second's rows.
  EXPECT_TRUE(lines[42].starts_with("tandem,terrain-1m,single,2,2,")) << lines[42];
  EXPECT_TRUE(lines[42].ends_with(",1080,N/A")) << lines[42];
}

TEST(BenchCsv, TimeRunsFromTheStartOfTheRun) {
  const std::vector<std::string> lines = linesOf(benchCsv(smallDocument("a")));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "tandem,a,single,1,1,0.010000,10.0000,25.5000,700,380");
  EXPECT_EQ(lines[2], "tandem,a,single,1,2,0.040000,30.0000,60.0000,700,380");
}

TEST(BenchCsv, NamesAreQuotedWhereTheyMustBe) {
  EXPECT_NE(benchCsv(smallDocument("a,\"b\"\nc")).find("tandem,\"a,\"\"b\"\"\nc\",single,1,1"), std::string::npos);
}

TEST(BenchCsv, WhatWasNotMeasuredIsNotZero) {
  json document = smallDocument("a");
  json& run = document["scenes"][0]["modes"][0]["runs"][0];
  run["latencyMs"] = {25.5};  // one too few
  run["rowsOfNode"] = json::array({json::array({700, 380})});
  EXPECT_EQ(linesOf(benchCsv(document))[2], "tandem,a,single,1,2,0.040000,30.0000,N/A,N/A,N/A");
}

TEST(BenchCsv, OfNothingThereAreOnlyTheHeaders) {
  json document = test::benchDocument();
  document["scenes"] = json::array();
  EXPECT_EQ(benchCsv(document), "Application,Scene,Mode,Repeat,Frame,TimeInSeconds,MsBetweenPresents,DisplayLatency\n");
}

}  // namespace
}  // namespace tandem::jobs
