// The trace's JSON, from events that were made up.
#include "jobs/trace_file.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace tandem::jobs {
namespace {

using nlohmann::json;

std::vector<frame::NodeReport> twoNodes() {
  std::vector<frame::NodeReport> nodes(2);
  nodes[0].adapter = "NVIDIA H200";
  nodes[1].node = 1;
  nodes[1].adapter = "a card with \"quotes\"";
  return nodes;
}

frame::FrameResult frameWith(uint32_t number, std::vector<exec::PassReport> passes,
                             std::vector<exec::TransferReport> transfers = {}) {
  frame::FrameResult frame;
  frame.request.frame = number;
  frame.passes = std::move(passes);
  frame.transfers = std::move(transfers);
  return frame;
}

/// Names of processes, and of rows by (process, row).
struct Names {
  std::map<uint32_t, std::string> processes;
  std::map<std::pair<uint32_t, uint32_t>, std::string> rows;
  explicit Names(const json& trace) {
    for (const json& event : trace["traceEvents"]) {
      if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
      if (event["name"] == "thread_name") rows[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
  }
  std::string rowOf(const json& event) const { return rows.at({event["pid"], event["tid"]}); }
};

json bars(const json& trace) {
  json all = json::array();
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") all.push_back(event);
  }
  return all;
}

TEST(TraceFile, NodesAreProcesses) {
  const json trace = json::parse(TraceFile().text(twoNodes()));
  const Names names(trace);
  EXPECT_EQ(names.processes.at(0), "node 0: NVIDIA H200");
  EXPECT_EQ(names.processes.at(1), "node 1: a card with \"quotes\"");
  EXPECT_EQ(names.processes.at(2), "host");
  EXPECT_TRUE(bars(trace).empty());
}

TEST(TraceFile, PassesTransfersAndFilesOnOneClock) {
  constexpr uint64_t start = 3'000'000'000'000'000;  // a month of uptime
  TraceFile file;
  file.add(frameWith(7,
                     {{"path_trace", 0, 2.0, start + 1000, start + 2'001'000},
                      {"tonemap", 1, 0.5, start + 2'600'000, start + 3'100'000}},
                     {{7, 0, 1, {start + 2'001'000, start + 2'500'000, 4096, start + 2'200'000, start + 2'550'000}}}));
  WrittenFrame written;
  written.frame = 7;
  written.times = {{"a.exr", 1, start + 4'000'000, start + 5'000'500}};
  file.add(written);
  const json trace = json::parse(file.text(twoNodes()));
  const Names names(trace);
  const json all = bars(trace);
  ASSERT_EQ(all.size(), 5u);
  const auto expect = [&](size_t index, const char* name, uint32_t process, const char* row, double ts, double dur) {
    const json& bar = all[index];
    EXPECT_EQ(bar["name"], name);
    EXPECT_EQ(bar["pid"], process) << name;
    EXPECT_EQ(names.rowOf(bar), row) << name;
    EXPECT_DOUBLE_EQ(bar["ts"], ts) << name;
    EXPECT_DOUBLE_EQ(bar["dur"], dur) << name;
    EXPECT_EQ(bar["args"]["frame"], 7) << name;
  };
  expect(0, "path_trace", 0, "passes", 0.0, 2000.0);
  expect(1, "transfer", 0, "link 0->1", 2000.0, 499.0);
  expect(2, "hand over", 2, "bridge 0->1", 2199.0, 350.0);
  expect(3, "tonemap", 1, "passes", 2599.0, 500.0);
  expect(4, "a.exr", 2, "writer 1", 3999.0, 1000.5);
  EXPECT_EQ(all[1]["args"]["bytes"], 4096);
}

// A transfer that leaves while the one before still arrives; a third that begins when the first is over.
TEST(TraceFile, TransfersThatOverlapTakeRowsOfTheirOwn) {
  TraceFile file;
  file.add(frameWith(
      1, {}, {{1, 0, 1, {1000, 5000, 8, 0, 0}}, {2, 0, 1, {4000, 8000, 8, 0, 0}}, {3, 0, 1, {5000, 9000, 8, 0, 0}}}));
  const json trace = json::parse(file.text(twoNodes()));
  const Names names(trace);
  const json all = bars(trace);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(names.rowOf(all[0]), "link 0->1");
  EXPECT_EQ(names.rowOf(all[1]), "link 0->1 (2)");
  EXPECT_EQ(names.rowOf(all[2]), "link 0->1");
}

TEST(TraceFile, FileNamesThatAreNoTextDoNoHarm) {
  TraceFile file;
  WrittenFrame written;
  written.times = {{"a\xff.exr", 0, 1, 2}};
  file.add(written);
  EXPECT_EQ(bars(json::parse(file.text(twoNodes()))).size(), 1u);
}

}  // namespace
}  // namespace tandem::jobs
