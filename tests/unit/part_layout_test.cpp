// Arithmetic of sizes: where arrays lie in buffers, past 4 GiB and at a device's limit, with limits that the test
// gives.
#include "trace/part_layout.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/check.h"

namespace tandem::trace {
namespace {

constexpr uint64_t kGib = uint64_t{1} << 30;

TEST(PartLayout, PutsPartsOneAfterTheOtherAligned) {
  const std::vector<uint64_t> sizes{1, 0, 64, 65, 7};
  const PartLayout layout = layoutParts(sizes, 1024, "nodes");
  ASSERT_EQ(layout.parts.size(), 5u);
  EXPECT_EQ(layout.parts[0].offset, 0u);
  EXPECT_EQ(layout.parts[2].offset, 64u);
  EXPECT_EQ(layout.parts[3].offset, 128u);
  EXPECT_EQ(layout.parts[4].offset, 256u);
  EXPECT_EQ(layout.bufferBytes, std::vector<uint64_t>{320});
}

TEST(PartLayout, TakesAnotherBufferWhereOneWouldPassTheLimit) {
  const std::vector<uint64_t> sizes{100, 64, 64, 256, 1};
  const PartLayout layout = layoutParts(sizes, 256, "nodes");
  EXPECT_EQ(layout.bufferBytes, (std::vector<uint64_t>{256, 256, 64}));
  EXPECT_EQ(layout.parts[1].buffer, 0u);
  EXPECT_EQ(layout.parts[2].buffer, 0u);
  EXPECT_EQ(layout.parts[2].offset, 192u);
  EXPECT_EQ(layout.parts[3].buffer, 1u);
  EXPECT_EQ(layout.parts[3].offset, 0u);
  EXPECT_EQ(layout.parts[4].buffer, 2u);
}

TEST(PartLayout, HoldsAHundredMillionTrianglesInOneBuffer) {
  // 40 bytes a triangle and 64 a node: both past 32 bits.
  const std::vector<uint64_t> sizes{uint64_t{40} * 100'000'000, uint64_t{64} * 100'000'000, 5};
  const PartLayout layout = layoutParts(sizes, uint64_t{1} << 40, "triangles");
  EXPECT_EQ(layout.parts[1].offset, 4'000'000'000u);
  EXPECT_EQ(layout.parts[2].offset, 10'400'000'000u);
  EXPECT_EQ(layout.bufferBytes, std::vector<uint64_t>{10'400'000'064u});
}

TEST(PartLayout, RefusesOnePartPastTheLimitAndNamesTheBytes) {
  const std::vector<uint64_t> sizes{64, 4 * kGib + 1};
  try {
    layoutParts(sizes, 4 * kGib, "tree triangles");
    FAIL() << "not refused";
  } catch (const AdverseError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("tree triangles"), std::string::npos) << what;
    EXPECT_NE(what.find("4294967297 bytes"), std::string::npos) << what;
    EXPECT_NE(what.find("4294967296 in one buffer"), std::string::npos) << what;
  }
  const std::vector<uint64_t> wraps{std::numeric_limits<uint64_t>::max() - 3};
  EXPECT_THROW(layoutParts(wraps, kGib, "nodes"), AdverseError);
  EXPECT_TRUE(layoutParts(std::vector<uint64_t>{0, 0}, kGib, "nodes").bufferBytes.empty());
}

}  // namespace
}  // namespace tandem::trace
