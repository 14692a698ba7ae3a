// `--trace FILE.json` of a small run on two nodes: everything is there once, and in an order that can be true.
#include <algorithm>
#include <map>
#include <set>

#include "cli/scene_files.h"

namespace tandem::cli {
namespace {

using Trace = Cli;

constexpr double kClockErrorUs = 200.0;  // of the device's clock against the host's

struct Bar {
  std::string name, row;
  uint32_t process = 0, frame = 0;
  double begin = 0.0, end = 0.0;  // microseconds
};

/// The bars of a trace, by begin.
std::vector<Bar> readBars(const json& trace) {
  std::map<std::pair<uint32_t, uint32_t>, std::string> rows;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") rows[{event["pid"], event["tid"]}] = event["args"]["name"];
  }
  std::vector<Bar> bars;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"], length = event["dur"];
    EXPECT_GE(begin, 0.0);
    EXPECT_GE(length, 0.0);
    bars.push_back({event["name"], rows.at({event["pid"], event["tid"]}), event["pid"], event["args"]["frame"], begin,
                    begin + length});
  }
  std::ranges::sort(bars, {}, &Bar::begin);
  return bars;
}

std::vector<Bar> where(const std::vector<Bar>& bars, const std::function<bool(const Bar&)>& wanted) {
  std::vector<Bar> some;
  std::ranges::copy_if(bars, std::back_inserter(some), wanted);
  return some;
}

class TraceOfTwoNodes : public Cli {
 protected:
  void run() {
    const ProgramResult result =
        capture({"builtin:spinners", "-o", "a.####.exr", "-o", "a.####.png", "--frames", "3-7", "--mode", "pipelined",
                 "--simulate-dual", "--json", "--validation", "--trace", "new/t.json"});
    ASSERT_EQ(result.exit, 0) << result.err;
    report_ = json::parse(result.out);
    EXPECT_EQ(report_["validationMessages"], 0);
    trace_ = json::parse(read("new/t.json"));
    bars_ = readBars(trace_);
  }
  json report_, trace_;
  std::vector<Bar> bars_;
};

TEST_F(TraceOfTwoNodes, ProcessesAreNodes) {
  run();
  std::map<uint32_t, std::string> names;
  for (const json& event : trace_["traceEvents"]) {
    if (event["name"] == "process_name") names[event["pid"]] = event["args"]["name"];
  }
  for (uint32_t node = 0; node < 2; ++node) {
    const std::string adapter = report_["nodes"][node]["adapter"];
    EXPECT_EQ(names.at(node), "node " + std::to_string(node) + ": " + adapter);
  }
  EXPECT_EQ(names.at(2), "host");
}

TEST_F(TraceOfTwoNodes, EveryPassOnceAFrameOnItsNode) {
  run();
  const auto passes = where(bars_, [](const Bar& bar) { return bar.row == "passes"; });
  EXPECT_EQ(passes.size(), 5 * report_["passes"].size());
  for (const json& pass : report_["passes"]) {
    for (uint32_t frame = 3; frame <= 7; ++frame) {
      const auto found = where(
          passes, [&](const Bar& bar) { return bar.name == pass["name"].get<std::string>() && bar.frame == frame; });
      ASSERT_EQ(found.size(), 1u) << pass["name"] << " of frame " << frame;
      EXPECT_EQ(found[0].process, pass["node"]) << pass["name"];
    }
  }
}

TEST_F(TraceOfTwoNodes, NothingOverlapsInARow) {
  run();
  std::map<std::pair<uint32_t, std::string>, double> ends;
  for (const Bar& bar : bars_) {
    double& end = ends[{bar.process, bar.row}];
    EXPECT_GE(bar.begin + 1e-3, end) << bar.name << " of frame " << bar.frame << " in " << bar.row;
    end = bar.end;
  }
}

TEST_F(TraceOfTwoNodes, PostBeginsAfterItsTransferAndThatAfterItsRays) {
  run();
  for (uint32_t frame = 3; frame <= 7; ++frame) {
    const auto of = [&](const std::string& name) {
      return where(bars_, [&](const Bar& bar) { return bar.frame == frame && bar.name == name; });
    };
    const auto rays = of("path_trace"), transfer = of("transfer"), bridge = of("hand over"), post = of("tonemap");
    ASSERT_EQ(transfer.size(), 1u) << frame;
    ASSERT_EQ(bridge.size(), 1u) << frame;
    ASSERT_EQ(rays.size(), 1u);
    ASSERT_EQ(post.size(), 1u);
    EXPECT_TRUE(transfer[0].row.starts_with("link 0->1")) << transfer[0].row;
    EXPECT_EQ(bridge[0].row, "bridge 0->1");
    EXPECT_GE(transfer[0].begin + kClockErrorUs, rays[0].end) << frame;
    for (const Bar& bar : bars_) {
      if (bar.frame != frame || bar.process != 1 || bar.row != "passes") continue;
      EXPECT_GE(bar.begin + kClockErrorUs, transfer[0].end) << bar.name << " of frame " << frame;
      EXPECT_GE(bar.begin + kClockErrorUs, bridge[0].end) << bar.name << " of frame " << frame;
    }
  }
}

TEST_F(TraceOfTwoNodes, EveryFileAfterItsFrame) {
  run();
  std::set<std::string> names;
  for (const Bar& file : where(bars_, [](const Bar& bar) { return bar.row.starts_with("writer "); })) {
    names.insert(file.name);
    EXPECT_EQ(file.process, 2u);
    for (const Bar& bar : bars_) {
      if (bar.frame != file.frame || bar.row != "passes") continue;
      EXPECT_GE(file.begin + kClockErrorUs, bar.end) << file.name;
    }
  }
  std::set<std::string> expected;
  for (const json& frame : report_["frames"]) {
    for (const std::string name : frame["files"]) expected.insert(name);
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(names.size(), 10u);
}

TEST_F(Trace, ASingleNodeHasPassesAndWritersAlone) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.png", "--mode", "single", "--trace", "t.json"}).exit, 0);
  std::set<std::string> rows;
  for (const Bar& bar : readBars(json::parse(read("t.json")))) rows.insert(bar.row);
  EXPECT_TRUE(rows.contains("passes"));
  EXPECT_TRUE(std::ranges::none_of(rows, [](const std::string& row) { return row.starts_with("link"); }));
}

TEST_F(Trace, ReplacesAnOlderOne) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "a.png", "--trace", "t.json"}).exit, 0);
  ASSERT_EQ(capture({"builtin:cornell", "-o", "b.png", "--frames", "5", "--trace", "t.json"}).exit, 0);
  for (const Bar& bar : readBars(json::parse(read("t.json")))) EXPECT_EQ(bar.frame, 5u);
}

TEST_F(Trace, APathThatCannotBeWrittenIsRefusedBeforeAnythingIsRendered) {
  ASSERT_EQ(capture({"builtin:cornell", "-o", "first.png"}).exit, 0);
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.png", "--trace", "first.png/t.json"});
  EXPECT_NE(result.exit, 0);
  EXPECT_TRUE(says(result.err, "first.png")) << result.err;
  EXPECT_EQ(files(), (std::vector<std::string>{"first.png"}));
}

TEST_F(Trace, NotTheFileOfTheReport) {
  const ProgramResult result = capture({"builtin:cornell", "-o", "a.png", "--trace", "t.json", "--json", "t.json"});
  EXPECT_EQ(result.exit, 2);
  EXPECT_TRUE(says(result.err, "--trace")) << result.err;
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace tandem::cli
