// Runs that signals end early. What is on disk afterwards is whole, and --resume makes the rest.
#include <set>

#include "cli/run_program.h"

namespace tandem::cli {
namespace {

using Interrupt = Cli;
using std::chrono::milliseconds;

/// Whether the program has its own handler for SIGINT by now: the signal's bit in SigCgt of /proc/PID/status.
bool catchesInterrupts(pid_t child) {
  std::ifstream status("/proc/" + std::to_string(child) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  }
  return false;
}

class Sequence : public Cli {
 protected:
  /// A long sequence of tiny frames that gets `signal` once it has two files.
  ProgramResult interrupted(int signal) const {
    const RunOptions options{.meanwhile = [&](pid_t child) {
      waitFor([&] { return fs::exists(path("a.0002.png")); });
      ::kill(child, signal);
    }};
    return capture({"builtin:cornell", "-o", "a.####.png", "--frames", "1-9999", "--json", "report.json"}, options);
  }

  /// What an interrupted run leaves, and that the rest can be had.
  void expectWholeFrames(const ProgramResult& result, int signal) const {
    EXPECT_EQ(result.exit, 128 + signal) << result.err;
    EXPECT_FALSE(result.killed);
    EXPECT_TRUE(says(result.err, "interrupted") && says(result.err, "--resume")) << result.err;
    const json report = json::parse(read("report.json"));
    EXPECT_EQ(report["interruptedBy"], signal);
    const size_t count = report["frames"].size();
    ASSERT_GE(count, 2u);
    ASSERT_LT(count, 9999u);
    EXPECT_EQ(allFiles().size(), count + 2) << "a file for each frame of the report, the manifest and the report";
    for (const std::string& name : files()) EXPECT_TRUE(name == "report.json" || isWholePng(read(name))) << name;
    std::set<int> recorded;
    for (const json& line : jsonLines(read(".a.#.png.tandem.jsonl"))) {
      EXPECT_EQ(line["status"], "done");
      recorded.insert(line["frame"].get<int>());
    }
    EXPECT_EQ(recorded.size(), count);
    expectRest(count);
  }

  void expectRest(size_t count) const {
    const std::string frames = "1-" + std::to_string(count + 2);
    const ProgramResult rest =
        capture({"builtin:cornell", "-o", "a.####.png", "--frames", frames, "--resume", "--json"});
    EXPECT_EQ(rest.exit, 0) << rest.err;
    const json resumed = json::parse(rest.out);
    size_t kept = 0;
    for (const json& frame : resumed["frames"]) kept += frame["kept"].get<bool>() ? 1 : 0;
    EXPECT_EQ(kept, count);
    EXPECT_EQ(files().size(), count + 3);
  }
};

TEST_F(Sequence, AnInterruptEndsAtAFramesBoundary) { expectWholeFrames(interrupted(SIGINT), SIGINT); }

TEST_F(Sequence, TerminateEndsThereToo) { expectWholeFrames(interrupted(SIGTERM), SIGTERM); }

TEST_F(Interrupt, ASecondSignalEndsAtOnceAndLeavesNoPicture) {
  const RunOptions options{.meanwhile = [&](pid_t child) {
    waitFor([&] { return catchesInterrupts(child); });
    ::kill(child, SIGINT);
    std::this_thread::sleep_for(milliseconds(2));  // still loading: the first signal is seen after that
    ::kill(child, SIGTERM);
  }};
  // On a loaded machine the first signal may come before the loading: then the program ends by that one, and we try
  // again.
  int exit = 130;
  for (int attempt = 0; attempt < 5 && exit == 130; ++attempt) {
    const ProgramResult result =
        run({"capture", "builtin:terrain?triangles=8000000", "-o", "a.exr", "--samples", "4096"}, options);
    exit = result.exit;
    EXPECT_TRUE(exit == 130 || exit == 143) << exit << result.err;
    EXPECT_TRUE(files().empty());
  }
  EXPECT_EQ(exit, 143) << "the second signal ends it at once";
}

}  // namespace
}  // namespace tandem::cli
