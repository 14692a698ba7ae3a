// The file that remembers probes: only for the same cards under the same drivers, whatever else lies in it.
#include "topology/probe_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace tandem::topology {
namespace {

namespace fs = std::filesystem;

class ProbeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("tandem_links_") + info->name() + std::to_string(::getpid()));
    a_ = card(1, 0x18, 580);
    b_ = card(2, 0x3b, 580);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static gpu::Adapter card(uint8_t uuid, std::optional<uint32_t> bus, uint32_t driver) {
    gpu::Adapter adapter;
    adapter.uuid[0] = uuid;
    adapter.driverVersion = driver;
    adapter.vendorId = 0x10de;
    if (bus) adapter.pci = gpu::PciAddress{0, *bus, 0, 0};
    return adapter;
  }

  ProbeCache cache() const { return ProbeCache(folder_); }
  void write(const std::string& text) const {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "links.json", std::ios::binary) << text;
  }
  std::string text() const {
    std::ifstream file(folder_ / "links.json", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path folder_;
  gpu::Adapter a_, b_;
};

KindProbe kind(LinkKind which, double there, double back, double hop = 30.0) {
  KindProbe probe;
  probe.kind = which;
  probe.path = "a way";
  probe.there = {hop, 2 * hop, there + 1, there - 1, there};
  probe.back = {hop, 2 * hop, back + 1, back - 1, back};
  return probe;
}

PairProbe pairOf(std::vector<KindProbe> kinds) {
  PairProbe pair;
  pair.bytes = 132'710'400;
  pair.kinds = std::move(kinds);
  return pair;
}

KindProbe refused(LinkKind which, const std::string& why) {
  KindProbe probe;
  probe.kind = which;
  probe.refusal = why;
  return probe;
}

TEST_F(ProbeCacheTest, WhatIsKeptComesBack) {
  const PairProbe pair =
      pairOf({refused(LinkKind::Cuda, "no libcuda \"here\""), kind(LinkKind::HostImport, 41.5, 40.25)});
  cache().store(a_, b_, pair);
  const auto found = cache().find(a_, b_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bytes, pair.bytes);
  ASSERT_EQ(found->kinds.size(), 2u);
  EXPECT_EQ(found->kinds[0].refusal, "no libcuda \"here\"");
  EXPECT_EQ(found->kinds[1].kind, LinkKind::HostImport);
  EXPECT_EQ(found->kinds[1].path, "a way");
  EXPECT_DOUBLE_EQ(found->kinds[1].there.streamGbps, 41.5);
  EXPECT_DOUBLE_EQ(found->kinds[1].there.hopMedianUs, 30.0);
  EXPECT_DOUBLE_EQ(found->kinds[1].there.hopP99Us, 60.0);
  EXPECT_DOUBLE_EQ(found->kinds[1].back.copyGbps, 41.25);
  EXPECT_DOUBLE_EQ(found->kinds[1].back.transferGbps, 39.25);
  ASSERT_NE(found->best(), nullptr);
  EXPECT_EQ(found->best()->kind, LinkKind::HostImport);
}

TEST_F(ProbeCacheTest, OnlyForTheSameCardsUnderTheSameDrivers) {
  cache().store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
  EXPECT_TRUE(cache().find(a_, b_).has_value());
  EXPECT_FALSE(cache().find(b_, a_).has_value()) << "the way round is part of the pair";
  EXPECT_FALSE(cache().find(card(1, 0x18, 581), b_).has_value()) << "another driver";
  EXPECT_FALSE(cache().find(a_, card(2, 0x3b, 581)).has_value()) << "another driver";
  EXPECT_FALSE(cache().find(a_, card(3, 0x3b, 580)).has_value()) << "another card";
  EXPECT_FALSE(cache().find(a_, card(2, 0x3c, 580)).has_value()) << "another slot";
}

TEST_F(ProbeCacheTest, WithoutAPciAddressTheOrdinalTellsThemApart) {
  gpu::Adapter first = card(7, std::nullopt, 1), second = card(7, std::nullopt, 1);
  second.index = 1;
  EXPECT_NE(ProbeCache::keyOf(first, first), ProbeCache::keyOf(first, second));
  cache().store(first, first, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
  EXPECT_TRUE(cache().find(first, first).has_value());
  EXPECT_FALSE(cache().find(first, second).has_value());
}

TEST_F(ProbeCacheTest, PairsLieBesideEachOther) {
  cache().store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
  cache().store(b_, a_, pairOf({kind(LinkKind::HostImport, 50, 50)}));
  EXPECT_EQ(cache().find(a_, b_)->best()->kind, LinkKind::HostCopy);
  EXPECT_EQ(cache().find(b_, a_)->best()->kind, LinkKind::HostImport);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1u) << "nothing half written is left";
}

TEST_F(ProbeCacheTest, AFileThatIsNotOursIsIgnoredAndRewritten) {
  for (const char* bytes : {"", "{", "[]", "\xff\xfe", R"({"schema":1})", R"({"schema":2,"pairs":{}})",
                            R"({"schema":1,"pairs":[]})", R"({"schema":"1","pairs":{}})", "null", "17"}) {
    write(bytes);
    EXPECT_FALSE(cache().find(a_, b_).has_value()) << bytes;
    cache().store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
    EXPECT_TRUE(cache().find(a_, b_).has_value()) << bytes;
  }
}

TEST_F(ProbeCacheTest, ADamagedEntryIsIgnored) {
  cache().store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
  const std::string good = text();
  const std::pair<const char*, const char*> damages[] = {{"\"host-copy\"", "\"warp-drive\""},
                                                         {"\"host-copy\"", "12"},
                                                         {"\"streamGbps\": 5.0", "\"streamGbps\": -5.0"},
                                                         {"\"streamGbps\": 5.0", "\"streamGbps\": \"fast\""},
                                                         {"\"hopP99Us\"", "\"hop\""},
                                                         {"\"there\"", "\"thither\""}};
  for (const auto& [from, to] : damages) {
    std::string damaged = good;
    ASSERT_NE(damaged.find(from), std::string::npos) << from;
    damaged.replace(damaged.find(from), std::string(from).size(), to);
    write(damaged);
    EXPECT_FALSE(cache().find(a_, b_).has_value()) << to;
  }
}

TEST_F(ProbeCacheTest, WithoutAFolderNothingIsKept) {
  const ProbeCache none{fs::path()};
  none.store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)}));
  EXPECT_FALSE(none.find(a_, b_).has_value());
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "in the way";
  const ProbeCache blocked(folder_ / "file");
  EXPECT_NO_THROW(blocked.store(a_, b_, pairOf({kind(LinkKind::HostCopy, 5, 5)})));
  EXPECT_FALSE(blocked.find(a_, b_).has_value());
}

TEST(BestKind, TheFastestStreamWins) {
  const PairProbe pair = pairOf(
      {kind(LinkKind::HostImport, 50, 50, 30), kind(LinkKind::Cuda, 390, 391, 60), kind(LinkKind::HostCopy, 5, 5, 10)});
  EXPECT_EQ(pair.best()->kind, LinkKind::Cuda);
}

TEST(BestKind, TheSlowerDirectionCounts) {
  const PairProbe pair = pairOf({kind(LinkKind::Cuda, 390, 3, 30), kind(LinkKind::HostImport, 50, 50, 60)});
  EXPECT_EQ(pair.best()->kind, LinkKind::HostImport);
}

TEST(BestKind, EqualSpeedsAreDecidedByLatency) {
  const PairProbe pair = pairOf({kind(LinkKind::HostImport, 50, 50, 80), kind(LinkKind::HostCopy, 49.5, 49.5, 30)});
  EXPECT_EQ(pair.best()->kind, LinkKind::HostCopy);
}

TEST(BestKind, WhatDidNotPassIsNeverBest) {
  PairProbe pair = pairOf({kind(LinkKind::Cuda, 390, 390), kind(LinkKind::HostCopy, 5, 5)});
  pair.kinds[0].refusal = "the pattern differs at word 3";
  EXPECT_EQ(pair.best()->kind, LinkKind::HostCopy);
  pair.kinds[1].refusal = "so does this";
  EXPECT_EQ(pair.best(), nullptr);
  EXPECT_EQ(pairOf({}).best(), nullptr);
}

}  // namespace
}  // namespace tandem::topology
