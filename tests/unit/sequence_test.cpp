#include "output/sequence.h"

#include <gtest/gtest.h>

namespace tandem::output {
namespace {

using Frames = std::vector<uint32_t>;

Frames framesOf(std::string_view text) {
  const Expected<Frames> frames = parseFrames(text);
  if (!frames) ADD_FAILURE() << frames.refusal().message;
  return frames ? *frames : Frames{};
}

/// The message of a refusal, which must be one of wrong usage.
template <class T>
std::string refused(const Expected<T>& answer) {
  if (answer) {
    ADD_FAILURE() << "was not refused";
    return "";
  }
  EXPECT_EQ(answer.refusal().exit, ExitCode::WrongUsage);
  return answer.refusal().message;
}

bool says(const std::string& message, std::string_view words) { return message.find(words) != std::string::npos; }

TEST(Frames, SingleRangeStepAndList) {
  EXPECT_EQ(framesOf("7"), (Frames{7}));
  EXPECT_EQ(framesOf("0"), (Frames{0}));
  EXPECT_EQ(framesOf("0012"), (Frames{12}));
  EXPECT_EQ(framesOf("3-6"), (Frames{3, 4, 5, 6}));
  EXPECT_EQ(framesOf("5-5"), (Frames{5}));
  EXPECT_EQ(framesOf("1-10x4"), (Frames{1, 5, 9}));
  EXPECT_EQ(framesOf("1-9x4"), (Frames{1, 5, 9}));
  EXPECT_EQ(framesOf("1-3x100"), (Frames{1}));
  EXPECT_EQ(framesOf("1,4,7-9"), (Frames{1, 4, 7, 8, 9}));
  EXPECT_EQ(framesOf(" 1, 4 "), (Frames{1, 4}));
}

TEST(Frames, ListsAreAscendingAndEachFrameComesOnce) { EXPECT_EQ(framesOf("9,1-3,2-4,9"), (Frames{1, 2, 3, 4, 9})); }

TEST(Frames, NonsenseIsRefused) {
  for (const char* text : {"",  ",",   "1,",    ",1",  "1,,2", "a",    "1-",    "-",       "1-x2", "1-5x", "1-5x-1",
                           "x", "1x3", "1-2-3", "1.5", "1 2",  "0x10", "1-5y2", "one-two", "1;2",  "١-٢",  "all"}) {
    EXPECT_TRUE(says(refused(parseFrames(text)), "--frames")) << text;
  }
}

TEST(Frames, ForeignGrammarsAreAnsweredWithOurs) {
  const std::pair<const char*, const char*> cases[] = {
      {"1:100", "1-100"},     {"1..100", "1-100"},    {"1...100", "1-100"},   {"1..=100", "1-100"},
      {"1-100:5", "1-100x5"}, {"1:100:5", "1-100x5"}, {"1-100/5", "1-100x5"}, {"1-100@5", "1-100x5"},
      {"1–100", "1-100"},     {"1 - 100", "1-100"},   {"1 to 100", "1-100"},  {"1-100 step 5", "1-100x5"},
      {"1-100X5", "1-100x5"}, {"3,1:100", "1-100"}};
  for (const auto& [foreign, ours] : cases) {
    EXPECT_TRUE(says(refused(parseFrames(foreign)), std::string("is written ") + ours + " here")) << foreign;
    EXPECT_TRUE(parseFrames(ours)) << ours;
  }
}

TEST(Frames, StepZeroReversedAndNegativeAreRefusedWithTheRemedy) {
  EXPECT_TRUE(says(refused(parseFrames("1-9x0")), "step of 0"));
  EXPECT_TRUE(says(refused(parseFrames("24-1")), "write 1-24"));
  EXPECT_TRUE(says(refused(parseFrames("-3-5")), "numbered from 0"));
}

TEST(Frames, AMillionIsTheLimit) {
  EXPECT_EQ(framesOf("1-1000000").size(), 1'000'000u);
  EXPECT_EQ(framesOf("0-99999999x100").size(), 1'000'000u);
  EXPECT_TRUE(says(refused(parseFrames("1-1000001")), "1000000 frames"));
  EXPECT_TRUE(says(refused(parseFrames("1-600000,600001-1200000")), "1000000 frames"));
  EXPECT_TRUE(says(refused(parseFrames("0-99999999")), "1000000 frames"));
  EXPECT_TRUE(says(refused(parseFrames("100000000")), "99999999"));
  EXPECT_TRUE(says(refused(parseFrames("1-99999999999999999999")), "99999999"));
}

std::string nameOf(std::string_view text, uint32_t frame, size_t frames = 2) {
  const Expected<OutputPattern> pattern = parsePattern(text, frames);
  if (!pattern) ADD_FAILURE() << pattern.refusal().message;
  return pattern ? expandPattern(*pattern, frame) : "";
}

TEST(Pattern, HashesAndPercent) {
  EXPECT_EQ(nameOf("out/a.####.exr", 7), "out/a.0007.exr");
  EXPECT_EQ(nameOf("out/a.####.exr", 12345), "out/a.12345.exr");
  EXPECT_EQ(nameOf("#.png", 7), "7.png");
  EXPECT_EQ(nameOf("f######.png", 42), "f000042.png");
  EXPECT_EQ(nameOf("a%04d.exr", 7), "a0007.exr");
  EXPECT_EQ(nameOf("a%d.exr", 7), "a7.exr");
  EXPECT_EQ(nameOf("a%08d.exr", 0), "a00000000.exr");
  EXPECT_EQ(nameOf("take_####/beauty.exr", 3), "take_0003/beauty.exr");
  EXPECT_EQ(nameOf("50%/a.##.PNG", 3), "50%/a.03.PNG");
}

TEST(Pattern, OneFrameNeedsNoPlaceholder) {
  EXPECT_EQ(nameOf("out/a.exr", 7, 1), "out/a.exr");
  EXPECT_EQ(nameOf("out/a.####.exr", 7, 1), "out/a.0007.exr");
  EXPECT_TRUE(says(refused(parsePattern("out/a.exr", 24)), "####"));
}

TEST(Pattern, WrongPlaceholdersAreRefused) {
  for (const char* text : {"a%4d.exr", "a%s.exr", "a%x.exr", "a%04i.exr", "a%0000004d.exr", "##_##.exr", "#_%d.exr",
                           "a#####################.exr", "a%099d.exr"}) {
    EXPECT_TRUE(says(refused(parsePattern(text, 2)), text)) << text;
  }
}

TEST(Pattern, FormatsByExtension) {
  EXPECT_EQ(*formatOf("a.exr"), Format::Exr);
  EXPECT_EQ(*formatOf("dir.png/a.EXR"), Format::Exr);
  EXPECT_EQ(*formatOf("a.png"), Format::Png);
  for (const char* path : {"a", "", ".exr", "dir/.png", "a.jpg", "a.exr.bak", "dir.exr/a", "aexr", "a.", "a.exr/"}) {
    const std::string message = refused(formatOf(path));
    EXPECT_TRUE(says(message, ".exr") && says(message, ".png")) << path;
  }
}

}  // namespace
}  // namespace tandem::output
