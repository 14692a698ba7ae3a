// Runs that do not reach their end: signals, and disks that fill up. What is on disk afterwards is whole.
#include <cerrno>
#include <cstring>

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

template <class Condition>
void waitFor(Condition condition) {
  for (int i = 0; i < 12000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(5));
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
};

TEST_F(Sequence, AnInterruptEndsAtAFramesBoundary) {
  const ProgramResult result = interrupted(SIGINT);
  EXPECT_EQ(result.exit, 130) << result.err;
  EXPECT_FALSE(result.killed);
  EXPECT_TRUE(says(result.err, "interrupted") && says(result.err, "--resume")) << result.err;
  const json report = json::parse(read("report.json"));
  EXPECT_EQ(report["interruptedBy"], SIGINT);
  const size_t count = report["frames"].size();
  ASSERT_GE(count, 2u);
  ASSERT_LT(count, 9999u);
  EXPECT_EQ(files().size(), count + 1) << "a file for each frame of the report, and the report";
  for (const std::string& name : files()) {
    EXPECT_TRUE(name == "report.json" || isWholePng(read(name))) << name;
  }
  // And the rest can be had.
  const ProgramResult rest = capture(
      {"builtin:cornell", "-o", "a.####.png", "--frames", "1-" + std::to_string(count + 2), "--resume", "--json"});
  EXPECT_EQ(rest.exit, 0) << rest.err;
  size_t kept = 0;
  const json resumed = json::parse(rest.out);
  for (const json& frame : resumed["frames"]) kept += frame["kept"].get<bool>() ? 1 : 0;
  EXPECT_EQ(kept, count);
}

TEST_F(Sequence, TerminateHasItsOwnExitCode) {
  const ProgramResult result = interrupted(SIGTERM);
  EXPECT_EQ(result.exit, 143) << result.err;
  EXPECT_FALSE(result.killed);
}

TEST_F(Interrupt, ASecondSignalEndsAtOnceAndLeavesNoPicture) {
  const RunOptions options{.meanwhile = [&](pid_t child) {
    waitFor([&] { return catchesInterrupts(child); });
    ::kill(child, SIGINT);
    std::this_thread::sleep_for(milliseconds(2));  // still loading: the first signal is seen after that
    ::kill(child, SIGTERM);
  }};
  const ProgramResult result =
      run({"capture", "builtin:terrain?triangles=8000000", "-o", "a.exr", "--samples", "4096"}, options);
  EXPECT_EQ(result.exit, 143) << result.err;
  EXPECT_TRUE(files().empty());
}

/// A disk of its own, of `bytes`, in folder `disk`. Skips where one may not be made.
class FullDisk : public Cli {
 protected:
  bool mountDisk(const std::string& bytes) {
    fs::create_directory(path("disk"));
    mounted_ = ::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
    if (!mounted_) reason_ = std::strerror(errno);
    return mounted_;
  }
  void TearDown() override {
    if (mounted_) ::umount(path("disk").c_str());
    Cli::TearDown();
  }
  bool mounted_ = false;
  std::string reason_;
};

TEST_F(FullDisk, OneFrameThatDoesNotFit) {
  if (!mountDisk("64k")) GTEST_SKIP() << "no small disk can be made here (mount: " << reason_ << "); needs root";
  const ProgramResult result = run({"capture", "builtin:cornell", "-o", "disk/a.exr", "--size", "256x144", "--samples",
                                    "1", "--compression", "none", "-q"});
  expectError(result, 1, {"frame 1", "disk/a.exr", "No space left", "--resume"});
  EXPECT_TRUE(files("disk").empty());
}

TEST_F(FullDisk, FramesThatFitStayAndTheRestIsReported) {
  // A frame has 128 * 72 * 8 = 73,728 bytes and a header: three fit.
  if (!mountDisk("256k")) GTEST_SKIP() << "no small disk can be made here (mount: " << reason_ << "); needs root";
  const ProgramResult result = run({"capture", "builtin:cornell", "-o", "disk/a.####.exr", "--frames", "1-20", "--size",
                                    "128x72", "--samples", "1", "--compression", "none", "--json"});
  EXPECT_EQ(result.exit, 5) << result.err;
  EXPECT_TRUE(says(result.err, "No space left") && says(result.err, "stopped after")) << result.err;
  EXPECT_EQ(files("disk"), (std::vector<std::string>{"disk/a.0001.exr", "disk/a.0002.exr", "disk/a.0003.exr"}));
  const json report = json::parse(result.out);
  EXPECT_EQ(report["exit"], 5);
  size_t failed = 0;
  for (const json& frame : report["frames"]) failed += frame.contains("failure") ? 1 : 0;
  EXPECT_GE(failed, 3u);
  EXPECT_LT(report["frames"].size(), 20u) << "it does not render on for nothing";
}

}  // namespace
}  // namespace tandem::cli
