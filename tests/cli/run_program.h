// Runs the built program as a person would, in a folder of its own, and keeps what it said.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/file_contents.h"

namespace tandem::cli {

namespace fs = std::filesystem;
using nlohmann::json;

struct ProgramResult {
  int exit = -1;        // exit code; 128 + signal where a signal killed it
  bool killed = false;  // by a signal
  std::string out;
  std::string err;
};

inline constexpr int kNoMount = 98;

struct RunOptions {
  std::vector<std::pair<std::string, std::string>> environment;
  std::function<void(pid_t)> meanwhile;  // called once, while the program runs
  bool terminal = false;                 // stderr is one
  rlim_t fileLimit = RLIM_INFINITY;      // bytes that one file may have
  std::string memoryInfo;  // a file that it sees as /proc/meminfo; exit code kNoMount where that needs more rights
  std::chrono::seconds limit{200};
};

namespace detail {

inline std::string drain(int file) {
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = ::read(file, bytes, sizeof(bytes))) > 0) text.append(bytes, static_cast<size_t>(count));
  return text;
}

[[noreturn]] inline void becomeProgram(std::vector<char*> words, const fs::path& folder, int out, int err,
                                       const RunOptions& options) {
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.fileLimit != RLIM_INFINITY) {
    const struct rlimit bytes { options.fileLimit, options.fileLimit };
    ::setrlimit(RLIMIT_FSIZE, &bytes);
  }
  if (::chdir(folder.c_str()) != 0) ::_exit(99);
  // In a mount namespace of its own: nobody else sees that file.
  if (!options.memoryInfo.empty() &&
      (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
       ::mount(options.memoryInfo.c_str(), "/proc/meminfo", nullptr, MS_BIND, nullptr) != 0)) {
    ::_exit(kNoMount);
  }
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execv(words[0], words.data());
  ::_exit(99);
}

}  // namespace detail

/// A test with a folder of its own, gone at its end.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / (std::string("tandem_cli_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ProgramResult run(std::vector<std::string> arguments, const RunOptions& options = {}) const;
  /// `capture` of a tiny picture, with more arguments.
  ProgramResult capture(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    const std::vector<std::string> tiny{"capture", "--size", "64x36", "--samples", "1", "--bounces", "1"};
    arguments.insert(arguments.begin(), tiny.begin(), tiny.end());
    return run(std::move(arguments), options);
  }

  fs::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// Names of all files below `folder`, sorted; `files` leaves out the manifests that lie beside frames.
  std::vector<std::string> files(const std::string& folder = ".") const {
    std::vector<std::string> names = allFiles(folder);
    std::erase_if(names, [](const std::string& name) { return name.ends_with(".tandem.jsonl"); });
    return names;
  }
  std::vector<std::string> allFiles(const std::string& folder = ".") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / folder)) {
      if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
};

inline ProgramResult Cli::run(std::vector<std::string> arguments, const RunOptions& options) const {
  std::string program = TANDEM_BINARY_DIR "/tandem";
  std::vector<char*> words{program.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);

  const int out = ::memfd_create("stdout", MFD_CLOEXEC);
  int err = ::memfd_create("stderr", MFD_CLOEXEC);
  int screen = -1;
  if (options.terminal) {
    ::close(err);
    EXPECT_EQ(::openpty(&screen, &err, nullptr, nullptr, nullptr), 0);
    ::fcntl(screen, F_SETFL, O_NONBLOCK);
  }
  const pid_t child = ::fork();
  if (child == 0) detail::becomeProgram(words, folder_, out, err, options);
  if (options.meanwhile) options.meanwhile(child);

  ProgramResult result;
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + options.limit;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (screen >= 0) result.err += detail::drain(screen);
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the program did not end within " << options.limit.count() << " s";
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  result.killed = WIFSIGNALED(status);
  result.exit = result.killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ::lseek(out, 0, SEEK_SET);
  if (screen < 0) ::lseek(err, 0, SEEK_SET);
  result.out = detail::drain(out);
  result.err += detail::drain(screen < 0 ? err : screen);
  for (const int file : {out, err, screen}) ::close(file);
  return result;
}

/// One refusal: the exit code, one line on stderr that begins as all errors do and has all these words, nothing on
/// stdout.
inline void expectError(const ProgramResult& result, int exit, const std::vector<std::string>& words) {
  EXPECT_EQ(result.exit, exit) << result.err;
  EXPECT_FALSE(result.killed);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("tandem: error: ")) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  for (const std::string& word : words)
    EXPECT_TRUE(says(result.err, word)) << "'" << word << "' is missing in: " << result.err;
}

template <class Condition>
void waitFor(Condition condition) {
  for (int i = 0; i < 30000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace tandem::cli
