#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "jobs/frame_writer.h"
#include "jobs/pixel_hash.h"
#include "jobs/targets.h"
#include "jobs/whole_picture.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

class FrameFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / (std::string("tandem_frames_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  FrameJob job(uint32_t frame, std::vector<std::string> files) const {
    FrameJob made;
    made.frame = frame;
    made.files = std::move(files);
    made.size = {24, 40};
    made.linear.resize(made.size.pixels());
    made.ldr.resize(made.size.pixels(), shared::LdrTexel{0xff000000u + frame});
    return made;
  }

  void cut(const std::string& name, uintmax_t less) const {
    fs::resize_file(path(name), fs::file_size(path(name)) - less);
  }

  fs::path folder_;
};

TEST_F(FrameFiles, AllFramesAreWrittenAndHashed) {
  FrameWriter writer({output::Existing::Keep, output::Compression::Zip, 3});
  for (uint32_t frame = 12; frame > 0; --frame) {
    writer.push(job(frame, {path(std::to_string(frame) + ".exr"), path(std::to_string(frame) + ".png")}));
  }
  const std::vector<WrittenFrame> written = writer.finish();
  ASSERT_EQ(written.size(), 12u);
  for (uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(written[i].frame, i + 1);
    EXPECT_FALSE(written[i].failure);
    const std::vector<shared::LdrTexel> ldr = job(i + 1, {}).ldr;
    EXPECT_EQ(written[i].ldrHash, pixelHash(std::as_bytes(std::span(ldr))));
    for (const char* end : {".exr", ".png"}) {
      EXPECT_EQ(sizeOfWholePicture(path(std::to_string(i + 1) + end)), (Extent{24, 40}));
    }
  }
}

TEST_F(FrameFiles, AFailureIsNotedAndTheNextFrameIsWritten) {
  FrameWriter writer({output::Existing::Keep, output::Compression::Zip, 1});
  writer.push(job(1, {path("missing/1.png")}));
  writer.push(job(2, {path("2.png")}));
  const auto written = writer.finish();
  ASSERT_TRUE(written[0].failure);
  EXPECT_NE(written[0].failure->find(path("missing/1.png")), std::string::npos) << *written[0].failure;
  EXPECT_FALSE(written[1].failure);
  EXPECT_FALSE(writer.hopeless());
}

TEST_F(FrameFiles, FailuresInARowAreHopeless) {
  FrameWriter writer({output::Existing::Keep, output::Compression::Zip, 1});
  for (uint32_t frame = 0; frame < FrameWriter::kHopeless; ++frame) {
    EXPECT_FALSE(writer.hopeless());
    writer.push(job(frame, {path("missing/a.png")}));
  }
  EXPECT_EQ(writer.finish().size(), FrameWriter::kHopeless);
  EXPECT_TRUE(writer.hopeless());
}

TEST_F(FrameFiles, OnlyWholePicturesAreWhole) {
  for (const auto compression : {output::Compression::Zip, output::Compression::Piz, output::Compression::None}) {
    FrameWriter writer({output::Existing::Replace, compression, 1});
    writer.push(job(1, {path("a.exr"), path("a.png")}));
    writer.finish();
    EXPECT_EQ(sizeOfWholePicture(path("a.exr")), (Extent{24, 40}));
    cut("a.exr", 1);
    EXPECT_FALSE(sizeOfWholePicture(path("a.exr"))) << static_cast<int>(compression);
  }
  cut("a.png", fs::file_size(path("a.png")) / 2);
  EXPECT_FALSE(sizeOfWholePicture(path("a.png")));
  EXPECT_FALSE(sizeOfWholePicture(path("missing.exr")));
  std::ofstream(path("text.exr")) << "no picture";
  EXPECT_FALSE(sizeOfWholePicture(path("text.exr")));
  std::ofstream(path("empty.png")).flush();
  EXPECT_FALSE(sizeOfWholePicture(path("empty.png")));
}

TEST_F(FrameFiles, TargetsKnowWhatIsThere) {
  CaptureSettings settings;
  settings.patterns = {path("a.##.png")};
  settings.frames = "1-3";
  const auto plan = planCapture(settings);
  ASSERT_TRUE(plan) << plan.refusal().message;
  EXPECT_EQ(plan->targets[2].files, (std::vector<std::string>{path("a.03.png")}));
  EXPECT_FALSE(checkExisting(*plan, ExistingFrames::Refuse));
  std::ofstream(path("a.02.png")) << "something";
  const auto refused = checkExisting(*plan, ExistingFrames::Refuse);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("a.02.png"), std::string::npos);
  EXPECT_FALSE(checkExisting(*plan, ExistingFrames::Resume));
  EXPECT_FALSE(checkExisting(*plan, ExistingFrames::Replace));
}

TEST_F(FrameFiles, StalePartsOfThePatternAreRemovedAndNothingElse) {
  CaptureSettings settings;
  settings.patterns = {path("a.##.png"), path("take_#/b.exr")};
  settings.frames = "1-3";
  fs::create_directories(path("take_2"));
  const auto plan = planCapture(settings);
  ASSERT_TRUE(plan);
  const std::vector<std::string> stale{"a.02.png.part7", "a.99.png.part123", "a.100.png.part7", "take_2/b.exr.part1"};
  const std::vector<std::string> others{"a.02.png",       "a.02.png.part", "a.02.png.partly", "a.x.png.part7",
                                        "b.02.png.part7", "a.2.png.part7", "a.02.exr.part7",  "take_2/c.exr.part1"};
  for (const auto* list : {&stale, &others}) {
    for (const std::string& name : *list) std::ofstream(path(name)) << "x";
  }
  removeStaleParts(*plan);
  for (const std::string& name : stale) EXPECT_FALSE(fs::exists(path(name))) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(path(name))) << name;
}

}  // namespace
}  // namespace tandem::jobs
