// --resume: after any end, kill -9 too, it makes the files of an undisturbed run, bit for bit in their pixels; and two
// captures never write the same frames at once.
#include <algorithm>
#include <map>
#include <random>

#include "cli/scene_files.h"

namespace tandem::cli {
namespace {

using Words = std::vector<std::string>;
using Pictures = std::map<std::string, std::string>;  // file name -> timeless bytes
using std::chrono::milliseconds;

/// Twelve tiny frames in two formats.
class Resume : public Cli {
 protected:
  static constexpr int kFrames = 12;

  ProgramResult captureTo(const std::string& folder, const Words& more = {}, const RunOptions& options = {}) const {
    Words words{
        "capture", "builtin:spinners", "-o",   folder + "/a.####.exr", "-o", folder + "/a.####.png", "--frames", "1-12",
        "-q",      "--size",           "32x18"};
    if (std::ranges::find(more, "--samples") == more.end()) words.insert(words.end(), {"--samples", "1"});
    words.insert(words.end(), more.begin(), more.end());
    return run(words, options);
  }

  Pictures pictures(const std::string& folder) const {
    Pictures found;
    for (const std::string& name : files(folder)) found[fs::path(name).filename().string()] = timeless(read(name));
    return found;
  }

  /// Numbers of the frames that a run with --json kept.
  static std::vector<int> keptFrames(const ProgramResult& result) {
    EXPECT_EQ(result.exit, 0) << result.err;
    std::vector<int> kept;
    const json report = json::parse(result.out);
    for (const json& frame : report["frames"]) {
      if (frame["kept"]) kept.push_back(frame["frame"]);
    }
    return kept;
  }
};

/// The state in /proc/PID/stat, the letter after the program's name in brackets; 'Z': it has ended.
char stateOf(pid_t child) {
  std::ifstream file("/proc/" + std::to_string(child) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t bracket = text.rfind(')');
  return bracket + 2 < text.size() ? text[bracket + 2] : 'Z';
}

class KillNine : public Resume {
 protected:
  /// Kills at a random point: soon after a random number of frames is there, or some time after the start.
  RunOptions killAtRandom(std::mt19937& random) const {
    const size_t wanted = random() % 4 == 0 ? 0 : 2 * (1 + random() % kFrames);
    const milliseconds delay(wanted == 0 ? random() % 600 : random() % 12);
    return {.meanwhile = [this, wanted, delay](pid_t child) {
      waitFor([&] { return stateOf(child) == 'Z' || countOf("shot") >= wanted; });
      std::this_thread::sleep_for(delay);
      ::kill(child, SIGKILL);
    }};
  }
  size_t countOf(const std::string& folder) const {
    std::error_code missing;
    size_t count = 0;
    for (fs::directory_iterator entry(path(folder), missing), end; !missing && entry != end; entry.increment(missing)) {
      const std::string extension = entry->path().extension().string();
      count += extension == ".png" || extension == ".exr" ? 1 : 0;
    }
    return count;
  }
};

TEST_F(KillNine, AtAnyPointNothingIsTornAndTheRestCanBeHad) {
  ASSERT_EQ(captureTo("whole").exit, 0);
  const Pictures whole = pictures("whole");
  ASSERT_EQ(whole.size(), 2u * kFrames);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int killed = 0;
  for (int kills = 0; kills < 10; ++kills) {
    SCOPED_TRACE("kill " + std::to_string(kills));
    killed += captureTo("shot", {"--resume"}, killAtRandom(random)).killed ? 1 : 0;
    if (!fs::exists(path("shot"))) continue;
    const Pictures left = pictures("shot");
    for (const auto& [name, bytes] : left) {
      if (says(name, ".part")) continue;
      ASSERT_TRUE(whole.contains(name)) << name;
      EXPECT_TRUE(bytes == whole.at(name)) << name << " is torn";
    }
    if (random() % 3 == 0) continue;  // and killed again
    const ProgramResult rest = captureTo("shot", {"--resume"});
    EXPECT_EQ(rest.exit, 0) << rest.err;
    EXPECT_TRUE(pictures("shot") == whole);
    EXPECT_EQ(allFiles("shot").size(), whole.size() + 2) << "two manifests, and no partial files";
    fs::remove_all(path("shot"));
  }
  EXPECT_GE(killed, 3) << "too few runs were still under way";
}

TEST_F(Resume, OtherSettingsAreRenderedAgainAndCounted) {
  ASSERT_EQ(captureTo("shot").exit, 0);
  const Pictures first = pictures("shot");
  fs::remove(path("shot/a.0005.png"));
  // -q hides what is said: without it, once.
  Words loud{"capture", "builtin:spinners", "-o",    "shot/a.####.exr", "-o", "shot/a.####.png", "--frames",
             "1-12",    "--size",           "32x18", "--samples",       "2",  "--json",          "--resume"};
  const ProgramResult again = run(loud);
  EXPECT_TRUE(keptFrames(again).empty());
  EXPECT_TRUE(says(again.err, "11 frames") && says(again.err, "other settings")) << again.err;
  EXPECT_EQ(std::ranges::count(again.err, '\n'), 1) << again.err;
  EXPECT_FALSE(pictures("shot") == first);
  EXPECT_EQ(keptFrames(run(loud)).size(), 12u);
  // The first settings again: lines of theirs are older than the files.
  EXPECT_TRUE(keptFrames(captureTo("shot", {"--resume", "--json"})).empty());
  EXPECT_TRUE(pictures("shot") == first);
}

TEST_F(Resume, TheMachineDoesNotMatter) {
  ASSERT_EQ(captureTo("shot", {"--mode", "single"}).exit, 0);
  EXPECT_EQ(keptFrames(captureTo("shot", {"--resume", "--json", "--mode", "pipelined", "--simulate-dual"})).size(),
            12u);
}

TEST_F(Resume, KeptFramesHaveTheirHashesInTheReport) {
  const auto hashes = [](const ProgramResult& result) {
    json all;
    const json report = json::parse(result.out);
    for (const json& frame : report["frames"]) all.push_back({frame["frame"], frame["hash"]});
    return all;
  };
  const json whole = hashes(captureTo("whole", {"--json"}));
  ASSERT_EQ(captureTo("shot").exit, 0);
  for (const char* name : {"shot/a.0001.exr", "shot/a.0007.png", "shot/a.0012.exr"}) fs::remove(path(name));
  const ProgramResult rest = captureTo("shot", {"--resume", "--json"});
  EXPECT_EQ(keptFrames(rest), (std::vector<int>{2, 3, 4, 5, 6, 8, 9, 10, 11}));
  EXPECT_EQ(hashes(rest), whole);
}

TEST_F(Resume, ATornManifestCostsItsLastFrame) {
  ASSERT_EQ(captureTo("shot").exit, 0);
  const Pictures whole = pictures("shot");
  const std::string manifest = "shot/.a.#.png.tandem.jsonl", text = read(manifest);
  const int last = jsonLines(text).back()["frame"];
  write(manifest, text.substr(0, text.size() - 20));
  const std::vector<int> kept = keptFrames(captureTo("shot", {"--resume", "--json"}));
  EXPECT_EQ(kept.size(), 11u);
  EXPECT_EQ(std::ranges::find(kept, last), kept.end());
  EXPECT_EQ(jsonLines(read(manifest)).size(), 12u) << "every line can be read, the torn one is gone";
  fs::remove(path(manifest));
  EXPECT_TRUE(keptFrames(captureTo("shot", {"--resume", "--json"})).empty());
  EXPECT_TRUE(pictures("shot") == whole);
}

TEST_F(Resume, AChangedSceneIsRenderedAgain) {
  write("scene.gltf", triangleDocument().dump());
  write("points.bin", triangleBytes());
  const Words words{"scene.gltf", "-o", "a.##.png", "--frames", "1-2", "--resume", "--json", "-q"};
  EXPECT_TRUE(keptFrames(capture(words)).empty());
  EXPECT_EQ(keptFrames(capture(words)).size(), 2u);
  write("points.bin", triangleBytes());  // written again, with the same bytes
  EXPECT_EQ(keptFrames(capture(words)).size(), 2u);
  write("points.bin", triangleBytes({0, 2, 1}));
  EXPECT_TRUE(keptFrames(capture(words)).empty());
  json document = triangleDocument();
  document["materials"][0]["doubleSided"] = true;
  write("scene.gltf", document.dump());
  EXPECT_TRUE(keptFrames(capture(words)).empty());
  EXPECT_EQ(keptFrames(capture(words)).size(), 2u);
}

TEST_F(Resume, OnePictureHasItsOwnManifestBesideIt) {
  const Words words{"builtin:cornell", "-o", "new/a.exr", "--resume", "--json", "-q", "--frames"};
  const auto frame = [&](const char* number) {
    Words all = words;
    all.push_back(number);
    return keptFrames(capture(all));
  };
  EXPECT_TRUE(frame("7").empty());
  EXPECT_EQ(frame("7"), std::vector<int>{7});
  EXPECT_TRUE(frame("8").empty()) << "the file was frame 7";
  EXPECT_TRUE(frame("7").empty()) << "the file was frame 8";
  EXPECT_EQ(allFiles(), (Words{"new/.a.exr.tandem.jsonl", "new/a.exr"}));
}

TEST_F(Resume, AFrameThatFailsIsRecordedAndTheRestGoesOn) {
  // A folder in the way, from the moment on at which the run has begun.
  const RunOptions options{.meanwhile = [&](pid_t) {
    waitFor([&] { return fs::exists(path("a.0001.png")); });
    fs::create_directory(path("a.0200.png"));
  }};
  const Words words{"builtin:cornell", "-o", "a.####.png", "--frames", "1-202", "--json", "-q"};
  const ProgramResult result = capture(words, options);
  EXPECT_EQ(result.exit, 5) << result.err;
  EXPECT_TRUE(says(result.err, "frame 200") && says(result.err, "a.0200.png")) << result.err;
  EXPECT_EQ(files().size(), 201u);
  std::vector<json> failed = jsonLines(read(".a.#.png.tandem.jsonl"));
  EXPECT_EQ(failed.size(), 202u);
  std::erase_if(failed, [](const json& line) { return line["status"] != "failed"; });
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["frame"], 200);
  EXPECT_TRUE(says(failed[0]["message"], "a.0200.png"));

  fs::remove(path("a.0200.png"));
  Words rest = words;
  rest.push_back("--resume");
  EXPECT_EQ(keptFrames(capture(rest)).size(), 201u);
  EXPECT_EQ(files().size(), 202u);
}

TEST_F(Resume, TwoCapturesOfOneSequenceAreRefused) {
  const Words words{"builtin:cornell", "-o", "shot/a.####.png", "--frames", "1-9999", "-q"};
  const Words said{"another capture", "shot/", "wait", "-o"};
  const RunOptions options{.meanwhile = [&](pid_t child) {
    waitFor([&] { return fs::exists(path("shot/a.0001.png")); });
    expectError(capture(words), 2, said);
    for (const char* option : {"--resume", "--overwrite"}) {
      Words second = words;
      second.push_back(option);
      expectError(capture(second), 2, said);
    }
    // The same files by other words; and other files, which nobody minds.
    expectError(capture({"builtin:cornell", "-o", "b.exr", "-o", "./shot/a.%04d.png", "--frames", "3"}), 2, said);
    EXPECT_EQ(capture({"builtin:cornell", "-o", "shot/b.####.png", "--frames", "1-2"}).exit, 0);
    ::kill(child, SIGKILL);
  }};
  EXPECT_TRUE(capture(words, options).killed);
  // The lock went with its process.
  EXPECT_EQ(capture({"builtin:cornell", "-o", "shot/a.####.png", "--frames", "1-2", "--resume"}).exit, 0);
}

}  // namespace
}  // namespace tandem::cli
