#include <gtest/gtest.h>

#include "jobs/frame_time.h"

namespace tandem::jobs {
namespace {

FrameRate rate(std::string_view text) {
  const auto parsed = parseFrameRate(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : FrameRate{};
}

TEST(FrameTime, RatesAreReadExactly) {
  const std::tuple<std::string_view, uint32_t, uint32_t> cases[] = {{"24", 24, 1},         {"24000/1001", 24000, 1001},
                                                                    {"23.976", 2997, 125}, {"50/2", 25, 1},
                                                                    {"0.5", 1, 2},         {"29.97", 2997, 100}};
  for (const auto& [text, numerator, denominator] : cases) {
    EXPECT_EQ(rate(text).numerator, numerator) << text;
    EXPECT_EQ(rate(text).denominator, denominator) << text;
  }
}

TEST(FrameTime, NonsenseIsNoRate) {
  for (const std::string_view text :
       {"", "0", "0/5", "24/0", "-24", "24/", "/2", "24fps", "1e3", "1.2.3", "24/1/1", "12345678", "nan"}) {
    const auto parsed = parseFrameRate(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.refusal().exit, ExitCode::WrongUsage);
  }
}

TEST(FrameTime, FrameOneIsAtTheStart) {
  const auto first = requestFor(1, {rate("24"), 0.0, 180.0});
  EXPECT_EQ(first.frame, 1u);
  EXPECT_EQ(first.centre, 0.0);
  EXPECT_EQ(first.open, -1.0 / 96);  // a half of half a frame
  EXPECT_EQ(first.close, 1.0 / 96);
  EXPECT_EQ(requestFor(25, {rate("24"), 2.5, 180.0}).centre, 3.5);
  EXPECT_EQ(requestFor(0, {rate("24"), 0.0, 180.0}).centre, -1.0 / 24);
}

TEST(FrameTime, ManyFramesDoNotDrift) {
  // 1001 s at 24000/1001 fps are 24000 frames, exactly; a hundred times that too.
  const FrameTimes times{rate("24000/1001"), 0.0, 180.0};
  EXPECT_EQ(requestFor(24001, times).centre, 1001.0);
  EXPECT_EQ(requestFor(2400001, times).centre, 100100.0);
  EXPECT_EQ(requestFor(2, times).centre, 1001.0 / 24000);
}

TEST(FrameTime, ShuttersMeetWhereTheyAreAlwaysOpen) {
  const FrameTimes times{rate("30000/1001"), 0.25, 360.0};
  for (uint32_t frame = 1; frame < 500; ++frame)
    EXPECT_EQ(requestFor(frame, times).close, requestFor(frame + 1, times).open);
  EXPECT_DOUBLE_EQ(times.shutterSeconds(), 1001.0 / 30000);
}

TEST(FrameTime, AClosedShutterHasOneInstant) {
  const auto request = requestFor(7, {rate("24"), 0.0, 0.0});
  EXPECT_EQ(request.open, request.centre);
  EXPECT_EQ(request.close, request.centre);
}

}  // namespace
}  // namespace tandem::jobs
