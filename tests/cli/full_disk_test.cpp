// Disks that fill up. What is on disk afterwards is whole, and --resume makes the rest once there is space.
#include <cerrno>
#include <cstring>
#include <map>

#include "cli/run_program.h"

namespace tandem::cli {
namespace {

/// A disk of its own, of `bytes`, in folder `disk`. Skips where one may not be made.
class FullDisk : public Cli {
 protected:
  bool mountDisk(const std::string& bytes) {
    fs::create_directory(path("disk"));
    mounted_ = ::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
    if (!mounted_) reason_ = std::strerror(errno);
    return mounted_;
  }
  void growDisk() const {
    EXPECT_EQ(::mount("tmpfs", path("disk").c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0) << std::strerror(errno);
  }
  void unmountDisk() {
    if (!mounted_) return;
    EXPECT_EQ(::umount(path("disk").c_str()), 0) << std::strerror(errno);
    mounted_ = false;
  }
  void TearDown() override {
    unmountDisk();
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

constexpr uintmax_t kPage = 4096;  // what tmpfs counts in

/// Three frames in two formats, five pages and more a frame.
class SmallDisk : public FullDisk {
 protected:
  ProgramResult captureTo(const std::string& folder, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"builtin:spinners", "-o", folder + "/a.####.exr", "-o", folder + "/a.####.png",
                               "--frames", "1-3", "--compression", "none", "--json"});
    return capture(more);
  }

  std::map<std::string, std::string> pictures(const std::string& folder) const {
    std::map<std::string, std::string> found;
    for (const std::string& name : files(folder)) found[fs::path(name).filename().string()] = timeless(read(name));
    return found;
  }

  /// What a run leaves on a disk that has too few pages for `whole`, the files of all frames.
  void expectOnlyWholeFiles(const ProgramResult& result, const std::map<std::string, std::string>& whole) const {
    const auto found = pictures("disk");
    for (const auto& [name, bytes] : found) {
      ASSERT_TRUE(whole.contains(name)) << name;
      EXPECT_TRUE(bytes == whole.at(name)) << name << " is torn";
    }
    size_t done = 0;
    const json report = json::parse(result.out);
    for (const json& frame : report["frames"]) {
      if (frame.contains("failure")) {
        EXPECT_TRUE(says(result.err, frame["failure"])) << result.err;
        continue;
      }
      ++done;
      for (const json& file : frame["files"]) EXPECT_TRUE(found.contains(fs::path(file).filename().string())) << file;
    }
    EXPECT_LT(done, 3u);
    EXPECT_EQ(result.exit, done > 0 ? 5 : 1) << result.err;
    EXPECT_TRUE(says(result.err, "disk/") && says(result.err, "No space left") && says(result.err, "--resume"))
        << result.err;
  }
};

TEST_F(SmallDisk, AtEveryPageCountFilesAreWholeAndTheRestCanBeHad) {
  ASSERT_EQ(captureTo("whole").exit, 0);
  const auto whole = pictures("whole");
  ASSERT_EQ(whole.size(), 6u);
  uintmax_t pages = 0;
  for (const std::string& name : allFiles("whole")) pages += (fs::file_size(path(name)) + kPage - 1) / kPage;
  ASSERT_GT(pages, 18u);
  for (uintmax_t count = 1; count <= pages; ++count) {
    SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(pages) + " pages");
    if (!mountDisk(std::to_string(count * kPage))) GTEST_SKIP() << "mount: " << reason_ << "; needs root";
    const ProgramResult result = captureTo("disk");
    if (count < pages) {
      expectOnlyWholeFiles(result, whole);
      growDisk();
      const ProgramResult rest = captureTo("disk", {"--resume"});
      EXPECT_EQ(rest.exit, 0) << rest.err;
    } else {
      EXPECT_EQ(result.exit, 0) << result.err;
    }
    EXPECT_TRUE(pictures("disk") == whole);
    EXPECT_EQ(allFiles("disk").size(), whole.size() + 2) << "two manifests, and no partial files";
    unmountDisk();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tandem::cli
