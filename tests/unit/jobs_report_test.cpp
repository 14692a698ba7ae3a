#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "jobs/capture_report.h"
#include "jobs/pixel_hash.h"
#include "jobs/progress.h"

namespace tandem::jobs {
namespace {

TEST(CaptureReport, PassesHaveTheirMedians) {
  const std::vector<PassTime> passes = medianPasses(
      {{{"trace", 0, 5.0}, {"post", 1, 1.0}}, {{"trace", 0, 100.0}, {"post", 1, 2.0}}, {{"trace", 0, 7.0}}});
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].name, "trace");
  EXPECT_EQ(passes[0].milliseconds, 7.0);
  EXPECT_EQ(passes[1].node, 1u);
  EXPECT_EQ(passes[1].milliseconds, 1.5);
  EXPECT_TRUE(medianPasses({}).empty());
}

TEST(CaptureReport, TheSamePassOnTwoNodesIsTwoPasses) {
  EXPECT_EQ(medianPasses({{{"trace", 0, 5.0}, {"trace", 1, 6.0}}}).size(), 2u);
}

CaptureReport reportOfTwoFrames() {
  CaptureReport report;
  report.planned = 3;
  CapturedFrame good;
  good.frame = 1;
  good.files = {"a.0001.exr"};
  good.linearHash = 0xabc;
  CapturedFrame bad;
  bad.frame = 2;
  bad.files = {"a.0002.exr"};
  bad.failure = "cannot write a.0002.exr";
  report.frames = {good, bad};
  report.exit = 5;
  return report;
}

TEST(CaptureReport, JsonSaysWhatFailed) {
  const auto document = nlohmann::json::parse(captureJson(reportOfTwoFrames()));
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["exit"], 5);
  EXPECT_FALSE(document["frames"][0].contains("failure"));
  EXPECT_EQ(document["frames"][0]["hash"]["linear"], "0000000000000abc");
  EXPECT_EQ(document["frames"][1]["failure"], "cannot write a.0002.exr");
}

TEST(CaptureReport, JsonTakesAnyFileName) {
  CaptureReport report = reportOfTwoFrames();
  report.frames[0].files = {"\xff\"\n.exr"};
  EXPECT_TRUE(nlohmann::json::accept(captureJson(report)));
}

TEST(CaptureReport, TextCountsWhatIsOnDisk) {
  const std::string text = captureText(reportOfTwoFrames());
  EXPECT_NE(text.find("1 of 3 frames written"), std::string::npos) << text;
  EXPECT_EQ(text.find("a.0002.exr"), std::string::npos) << text;
}

TEST(Report, ALostGpuIsNamedWithItsFrameAndItsWork) {
  CaptureReport report = reportOfTwoFrames();
  report.run.nodes.resize(2);
  report.run.losses.push_back({1, "node 1 (Some GPU)", 17, "vkQueueSubmit2 for 'frame 3 batch 1' failed"});
  const auto document = nlohmann::json::parse(captureJson(report));
  ASSERT_EQ(document["losses"].size(), 1u);
  EXPECT_EQ(document["losses"][0]["node"], 1);
  EXPECT_EQ(document["losses"][0]["frame"], 17);
  const std::string text = captureText(report);
  EXPECT_NE(text.find("lost node 1 (Some GPU) in frame 17: vkQueueSubmit2"), std::string::npos) << text;
}

TEST(PixelHash, EveryWordAndTheLengthCount) {
  std::vector<std::byte> bytes(61, std::byte{0});
  std::set<uint64_t> seen{pixelHash(bytes)};
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 7}) {
      std::vector<std::byte> changed = bytes;
      changed[i] = std::byte(1u << bit);
      EXPECT_TRUE(seen.insert(pixelHash(changed)).second) << i << " " << bit;
    }
  }
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(seen.insert(pixelHash(bytes)).second) << "a zero more";
  EXPECT_EQ(pixelHash(bytes), pixelHash(bytes));
}

TEST(PixelHash, TopBitsOfTwoWordsDoNotCancel) {
  std::vector<std::byte> bytes(32, std::byte{0}), changed = bytes;
  changed[7] = changed[15] = std::byte{0x80};
  EXPECT_NE(pixelHash(bytes), pixelHash(changed));
}

TEST(Progress, SaysHowFarAndHowLong) {
  EXPECT_EQ(progressText(0, 24, 0.0), "frame 0 of 24");
  EXPECT_EQ(progressText(6, 24, 12.0), "frame 6 of 24, 0.5 fps, 0:36 left");
  EXPECT_EQ(progressText(24, 24, 48.0), "frame 24 of 24, 0.5 fps, 0:00 left");
  EXPECT_EQ(durationText(59.6), "1:00");
  EXPECT_EQ(durationText(3723.0), "1:02:03");
}

}  // namespace
}  // namespace tandem::jobs
