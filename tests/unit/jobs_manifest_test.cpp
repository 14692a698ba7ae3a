#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "jobs/fingerprint.h"
#include "jobs/frame_log.h"
#include "jobs/frame_writer.h"
#include "jobs/targets.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

output::OutputPattern patternOf(const std::string& text) {
  const auto pattern = output::parsePattern(text, 1);
  EXPECT_TRUE(pattern) << text;
  return *pattern;
}

ManifestEntry sampleEntry() {
  ManifestEntry entry;
  entry.frame = 12;
  entry.file = "a.0012.exr";
  entry.bytes = 1802;
  entry.linearHash = 0x0123456789abcdef;
  entry.ldrHash = 7;
  entry.settings = "5e77";
  entry.seconds = 0.5;
  entry.device = "GPU + GPU";
  return entry;
}

class ManifestFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / (std::string("tandem_manifest_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  fs::path folder_;
};

TEST(ManifestName, ComesFromThePatternAndLiesBesideTheFrames) {
  const std::pair<const char*, const char*> cases[] = {
      {"a.####.exr", ".a.#.exr.tandem.jsonl"},     {"a.%04d.exr", ".a.#.exr.tandem.jsonl"},
      {"a.####.png", ".a.#.png.tandem.jsonl"},     {"shots/a.exr", "shots/.a.exr.tandem.jsonl"},
      {"/s/t/##.exr", "/s/t/.#.exr.tandem.jsonl"}, {"s/take_##/b.exr", "s/.take_#+b.exr.tandem.jsonl"}};
  for (const auto& [pattern, name] : cases) EXPECT_EQ(manifestPath(patternOf(pattern)), name) << pattern;
}

TEST(ManifestLine, IsReadAsItWasWritten) {
  const std::string line = manifestLine(sampleEntry());
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_TRUE(line.ends_with('\n'));
  const auto entry = readManifestLine(line);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->frame, 12u);
  EXPECT_EQ(entry->file, "a.0012.exr");
  EXPECT_EQ(entry->status, FrameStatus::Done);
  EXPECT_EQ(entry->bytes, 1802u);
  EXPECT_EQ(entry->linearHash, 0x0123456789abcdefu);
  EXPECT_EQ(entry->ldrHash, 7u);
  EXPECT_EQ(entry->settings, "5e77");
}

TEST(ManifestLine, EveryCutLineIsNoLine) {
  const std::string line = manifestLine(sampleEntry());
  for (size_t size = 0; size + 2 < line.size(); ++size) EXPECT_FALSE(readManifestLine(line.substr(0, size))) << size;
}

TEST(ManifestLine, OtherJsonIsNoLine) {
  const std::string line = manifestLine(sampleEntry());
  const std::pair<const char*, const char*> changes[] = {
      {"12", "-1"},      {"12", "1.5"},        {"12", "4294967296"},        {"\"a.0012.exr\"", "5"},
      {"done", "well"},  {"1802", "\"1802\""}, {"0123456789abcdef", "xyz"}, {"0123456789abcdef", "10123456789abcdef"},
      {"frame", "fram"}, {"bytes", "byte"},    {"\"5e77\"", "null"},        {"linear", "line"}};
  for (const auto& [from, to] : changes) {
    std::string changed = line;
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, std::string(from).size(), to);
    EXPECT_FALSE(readManifestLine(changed)) << changed;
  }
  EXPECT_FALSE(readManifestLine(std::string(50'000, '[')));
  EXPECT_FALSE(readManifestLine("[]"));
}

TEST_F(ManifestFiles, LinesAreFoundAgainAndTheLastOfAFileCounts) {
  const output::OutputPattern pattern = patternOf(path("a.####.exr"));
  const std::string first = output::expandPattern(pattern, 1), second = output::expandPattern(pattern, 2);
  {
    Manifest manifest(pattern);
    EXPECT_FALSE(manifest.openExisting()) << "there is none, and that is fine";
    ASSERT_FALSE(manifest.create());
    ManifestEntry entry = sampleEntry();
    manifest.append(first, entry);
    manifest.append(second, entry);
    entry.status = FrameStatus::Begun;
    manifest.append(second, entry);
  }
  Manifest manifest(pattern);
  ASSERT_FALSE(manifest.openExisting());
  ASSERT_NE(manifest.find(first), nullptr);
  EXPECT_EQ(manifest.find(first)->status, FrameStatus::Done);
  EXPECT_EQ(manifest.find(first)->file, "a.0001.exr");
  EXPECT_EQ(manifest.find(second)->status, FrameStatus::Begun);
  EXPECT_EQ(manifest.find(output::expandPattern(pattern, 3)), nullptr);
}

TEST_F(ManifestFiles, NamesMayBeAnyBytes) {
  const output::OutputPattern pattern = patternOf(path("\xff\"\n#.png"));
  {
    Manifest manifest(pattern);
    ASSERT_FALSE(manifest.create());
    manifest.append(output::expandPattern(pattern, 1), sampleEntry());
  }
  Manifest manifest(pattern);
  ASSERT_FALSE(manifest.openExisting());
  EXPECT_NE(manifest.find(output::expandPattern(pattern, 1)), nullptr);
  EXPECT_EQ(manifest.find(output::expandPattern(pattern, 2)), nullptr);
}

TEST_F(ManifestFiles, ATornTailIsCutAndWhatFollowsCanBeRead) {
  const output::OutputPattern pattern = patternOf(path("a.#.exr"));
  const std::string line = manifestLine(sampleEntry());
  for (const size_t torn : {size_t{1}, line.size() / 2, line.size() - 1}) {
    write(".a.#.exr.tandem.jsonl", line + "no JSON\n" + line.substr(0, torn));
    Manifest manifest(pattern);
    ASSERT_FALSE(manifest.openExisting());
    EXPECT_NE(manifest.find(path("a.0012.exr")), nullptr);
    manifest.append(path("a.0013.exr"), sampleEntry());
    ManifestEntry next = sampleEntry();
    next.file = "a.0013.exr";
    EXPECT_EQ(read(".a.#.exr.tandem.jsonl"), line + "no JSON\n" + manifestLine(next));
  }
}

TEST_F(ManifestFiles, OneHolderAtATime) {
  const output::OutputPattern pattern = patternOf(path("a.#.exr"));
  {
    Manifest first(pattern);
    ASSERT_FALSE(first.create());
    Manifest second(pattern);
    const auto refusal = second.openExisting();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->exit, ExitCode::WrongUsage);
    EXPECT_NE(refusal->message.find(folder_.string()), std::string::npos) << refusal->message;
  }
  Manifest third(pattern);
  EXPECT_FALSE(third.openExisting());
}

TEST_F(ManifestFiles, WhatIsNoFileIsRefused) {
  fs::create_directory(path(".a.#.exr.tandem.jsonl"));
  Manifest manifest(patternOf(path("a.#.exr")));
  const auto refusal = manifest.openExisting();
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find(".a.#.exr.tandem.jsonl"), std::string::npos);
}

/// A run that is killed between a replaced file and its line must leave no line that speaks of the old file.
TEST_F(ManifestFiles, LinesOfReplacedFilesEndBeforeTheyAreReplaced) {
  const std::vector<output::OutputPattern> patterns{patternOf(path("a.#.exr")), patternOf(path("a.#.png"))};
  FrameJob job;
  job.frame = 3;
  for (const auto& pattern : patterns) job.files.push_back(output::expandPattern(pattern, 3));
  for (const std::string& file : job.files) std::ofstream(file) << "pixels";
  const Target target{3, job.files, false};
  {
    FrameLog log(patterns);
    ASSERT_FALSE(log.create());
    log.describe("old", "GPU");
    log.begin(job);
    log.done(job, WrittenFrame{3, 1, 2, {}});
  }
  EXPECT_EQ(read(".a.#.exr.tandem.jsonl").find("begun"), std::string::npos) << "nothing was replaced";
  {
    FrameLog log(patterns);
    ASSERT_FALSE(log.openExisting());
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_NE(log.find(target, i), nullptr);
      EXPECT_EQ(log.find(target, i)->bytes, 6u);
      EXPECT_EQ(log.find(target, i)->settings, "old");
    }
    log.describe("new", "GPU");
    log.begin(job);  // and killed
  }
  FrameLog log(patterns);
  ASSERT_FALSE(log.openExisting());
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(log.find(target, i)->status, FrameStatus::Begun);
}

TEST(Fingerprint, WhatDecidesPixelsCountsAndNothingElse) {
  CaptureSettings settings;
  settings.scene = "builtin:cornell";
  const std::string plain = settingsFingerprint(settings, 4);
  EXPECT_EQ(plain.size(), 16u);
  EXPECT_EQ(settingsFingerprint(settings, 4), plain);
  EXPECT_NE(settingsFingerprint(settings, 5), plain);
  const std::function<void(CaptureSettings&)> counts[] = {
      [](CaptureSettings& s) { s.scene = "builtin:sphere"; },
      [](CaptureSettings& s) { s.environment = "missing.hdr"; },
      [](CaptureSettings& s) { s.picture.size.width += 1; },
      [](CaptureSettings& s) { s.picture.bounces += 1; },
      [](CaptureSettings& s) { s.picture.seed = 1; },
      [](CaptureSettings& s) { s.picture.tone = post::Tone::Neutral; },
      [](CaptureSettings& s) { s.picture.ev = 0.0f; },
      [](CaptureSettings& s) { s.picture.motionBlur = false; },
      [](CaptureSettings& s) { s.picture.aovs = {frame::Aov::Depth}; },
      [](CaptureSettings& s) { s.camera.name = "b"; },
      [](CaptureSettings& s) { s.camera.eye = vec3(0.0f); },
      [](CaptureSettings& s) { s.camera.target = vec3(0.0f); },
      [](CaptureSettings& s) { s.camera.up = vec3(0.0f, 0.0f, 1.0f); },
      [](CaptureSettings& s) { s.camera.yfovDegrees = 45.0f; },
      [](CaptureSettings& s) {
        s.times.rate = {24000, 1001};
      },
      [](CaptureSettings& s) { s.times.start = 0.1; },
      [](CaptureSettings& s) { s.times.shutterDegrees = 90.0; }};
  std::set<std::string> seen{plain};
  for (const auto& change : counts) {
    CaptureSettings changed = settings;
    change(changed);
    EXPECT_TRUE(seen.insert(settingsFingerprint(changed, 4)).second) << seen.size();
  }
  CaptureSettings same = settings;
  same.machine.mode = frame::Mode::Pipelined;
  same.machine.simulateDual = true;
  same.machine.gpus = "1";
  same.frames = "5-9";
  same.patterns = {"b.exr"};
  same.compression = output::Compression::None;
  same.existing = ExistingFrames::Resume;
  EXPECT_EQ(settingsFingerprint(same, 4), plain);
}

TEST_F(ManifestFiles, TheFingerprintFollowsAllFilesOfAScene) {
  const std::string uris = R"({"buffers": [{"uri": "a%20b.bin"}], "images": [{"uri": "data:,x"}, {"uri": "c.png"}]})";
  const auto size = static_cast<uint32_t>(uris.size());
  std::string glb("glTF\2\0\0\0\0\0\0\0....JSON", 20);
  glb.replace(12, 4, reinterpret_cast<const char*>(&size), 4);
  write("s.gltf", uris);
  write("s.glb", glb + uris);
  for (const char* scene : {"s.gltf", "s.glb"}) {
    CaptureSettings settings;
    settings.scene = path(scene);
    std::set<std::string> seen;
    write("a b.bin", "one");
    fs::remove(path("c.png"));
    EXPECT_TRUE(seen.insert(settingsFingerprint(settings, 1)).second);
    write("a b.bin", "two");
    EXPECT_TRUE(seen.insert(settingsFingerprint(settings, 1)).second);
    write("c.png", "three");
    EXPECT_TRUE(seen.insert(settingsFingerprint(settings, 1)).second);
    settings.load.scene = "2";
    EXPECT_TRUE(seen.insert(settingsFingerprint(settings, 1)).second);
    const std::string last = settingsFingerprint(settings, 1);
    write("other.png", "four");
    EXPECT_EQ(settingsFingerprint(settings, 1), last);
  }
}

}  // namespace
}  // namespace tandem::jobs
