// Trees kept on disk: found again as they were, and never believed further than they were checked.
#include "trace/tree_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "base/parallel.h"

namespace tandem::trace {
namespace {

namespace fs = std::filesystem;

/// A mesh of triangles thrown into a cube.
struct Soup {
  std::vector<vec3> positions;
  std::vector<uint32_t> indices;
  explicit Soup(uint32_t triangles, uint32_t seed = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> place(-5.0f, 5.0f);
    for (uint32_t i = 0; i < 3 * triangles; i++) {
      const float x = place(random), y = place(random);
      positions.push_back({x, y, place(random)});
      indices.push_back(i);
    }
  }
  MeshView view() const { return {positions, indices}; }
};

bool sameBits(const MeshTree& a, const MeshTree& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
  };
  return same(a.nodes, b.nodes) && same(a.triangles, b.triangles) && a.bounds.min == b.bounds.min &&
         a.bounds.max == b.bounds.max;
}

class TreeCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("trees" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  TreeCache cache(uint64_t mostBytes = uint64_t{1} << 30) const {
    return TreeCache({.folder = folder_, .mostBytes = mostBytes, .leastTriangles = 10});
  }
  size_t files() const {
    return fs::exists(folder_) ? size_t(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())) : 0;
  }
  static std::vector<char> contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void overwrite(const fs::path& file, const std::vector<char>& bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  }

  const Soup soup_{500};
  const MeshTree built_ = buildMeshTree(soup_.positions, soup_.indices);
  fs::path folder_;
};

TEST_F(TreeCacheTest, GivesBackWhatItKept) {
  EXPECT_TRUE(sameBits(cache().treeOf(soup_.view()), built_));
  ASSERT_TRUE(fs::exists(cache().fileOf(soup_.view())));
  const Expected<MeshTree> kept = TreeCache::read(cache().fileOf(soup_.view()), soup_.view());
  ASSERT_TRUE(kept) << kept.refusal().message;
  EXPECT_TRUE(sameBits(*kept, built_));
  EXPECT_TRUE(sameBits(cache().treeOf(soup_.view()), built_));
  EXPECT_EQ(files(), 1u);
}

TEST_F(TreeCacheTest, IsReadNotBuiltTheSecondTime) {
  // Under this mesh's name lies another mesh's tree: sound, and not what would be built.
  const Soup other(500, 2);
  cache().treeOf(other.view());
  fs::rename(cache().fileOf(other.view()), cache().fileOf(soup_.view()));
  EXPECT_FALSE(sameBits(cache().treeOf(soup_.view()), built_));
}

TEST_F(TreeCacheTest, TellsMeshesApartByEveryBit) {
  Soup other = soup_;
  const fs::path file = cache().fileOf(soup_.view());
  other.positions[700].y = std::nextafter(other.positions[700].y, 10.0f);
  EXPECT_NE(cache().fileOf(other.view()), file);
  other = soup_;
  std::swap(other.indices[3], other.indices[4]);
  EXPECT_NE(cache().fileOf(other.view()), file);
  other = soup_;
  other.indices.resize(other.indices.size() - 3);
  EXPECT_NE(cache().fileOf(other.view()), file);
  EXPECT_EQ(cache().fileOf(Soup(500).view()), file);
}

TEST_F(TreeCacheTest, RebuildsFromAnyDamage) {
  cache().treeOf(soup_.view());
  const fs::path file = cache().fileOf(soup_.view());
  const std::vector<char> good = contents(file);
  std::mt19937 random(3);
  for (size_t round = 0; round < 300; round++) {
    std::vector<char> bad = good;
    bad[round < 88 ? round : random() % bad.size()] ^= char(1u << random() % 8);
    overwrite(file, bad);
    ASSERT_FALSE(TreeCache::read(file, soup_.view())) << "round " << round;
  }
  for (const size_t length : {size_t{0}, size_t{40}, size_t{88}, good.size() / 2, good.size() - 1}) {
    overwrite(file, {good.begin(), good.begin() + std::ptrdiff_t(length)});
    const Expected<MeshTree> none = TreeCache::read(file, soup_.view());
    ASSERT_FALSE(none) << length;
    EXPECT_FALSE(none.refusal().message.empty());
  }
  std::vector<char> longer = good;
  longer.push_back(0);
  overwrite(file, longer);
  EXPECT_FALSE(TreeCache::read(file, soup_.view()));
  EXPECT_TRUE(sameBits(cache().treeOf(soup_.view()), built_));
  EXPECT_EQ(contents(file), good);  // whole again
}

TEST_F(TreeCacheTest, FindsReferencesThatWouldLeaveTheArrays) {
  const auto entries = uint32_t(built_.triangles.size());
  EXPECT_EQ(faultOf(built_.nodes, entries, kMeshTreeDepth), "");
  EXPECT_EQ(faultOf({}, 0, kMeshTreeDepth), "");
  EXPECT_NE(faultOf({}, 5, kMeshTreeDepth), "");
  const auto broken = [&](auto change) {
    RawVector<shared::BvhNode> nodes = built_.nodes;
    change(nodes);
    return faultOf(nodes, entries, kMeshTreeDepth);
  };
  ASSERT_FALSE(built_.nodes[0].child1 & shared::kLeafBit);
  EXPECT_NE(broken([](auto& n) { n[0].child0 = 0; }), "");                   // round in circles
  EXPECT_NE(broken([](auto& n) { n[5].child0 = 3; }), "");                   // back to an ancestor
  EXPECT_NE(broken([](auto& n) { n[0].child0 = n[0].child1; }), "");         // two ways to one place
  EXPECT_NE(broken([](auto& n) { n[0].child0 = uint32_t(n.size()); }), "");  // beyond the nodes
  EXPECT_NE(broken([](auto& n) { n[0].child0 = shared::kLeafBit; }), "");    // the sign of the walk's end
  EXPECT_NE(broken([&](auto& n) {
              n[0].child1 = shared::kLeafBit | 1u << shared::kLeafCountShift | entries;  // beyond the triangles
            }),
            "");
  EXPECT_NE(broken([&](auto& n) { n[0].child1 = shared::kLeafBit | 2u << shared::kLeafCountShift | (entries - 1); }),
            "");
  EXPECT_NE(faultOf(built_.nodes, entries, 3), "");  // deeper than the stack
}

TEST_F(TreeCacheTest, StaysWithinItsSizeAndDropsWhatIsOldest) {
  cache().treeOf(soup_.view());
  const uint64_t one = fs::file_size(cache().fileOf(soup_.view()));
  const TreeCache small = cache(3 * one + one / 2);
  std::vector<fs::path> kept;
  for (uint32_t i = 0; i < 3; i++) {
    const Soup soup(500, 10 + i);
    kept.push_back(small.fileOf(soup.view()));
    small.treeOf(soup.view());
    fs::last_write_time(kept.back(), fs::file_time_type::clock::now() - std::chrono::minutes(30 - i));
  }
  const Soup first(500, 10);
  small.treeOf(first.view());  // used again: now the youngest
  const Soup last(500, 20);
  small.treeOf(last.view());
  EXPECT_TRUE(fs::exists(kept[0]));
  EXPECT_FALSE(fs::exists(kept[1]));
  EXPECT_TRUE(fs::exists(small.fileOf(last.view())));
  EXPECT_LE(files(), 3u);
  // What is too large by itself is not kept, and costs the others nothing.
  const size_t before = files();
  EXPECT_TRUE(sameBits(cache(one / 2).treeOf(soup_.view()), built_));
  EXPECT_LE(files(), before);
}

TEST_F(TreeCacheTest, ClearsAwayWhatAKilledProcessLeft) {
  fs::create_directories(folder_);
  const fs::path old = folder_ / "a.tree.part1-0", young = folder_ / "b.tree.part2-0";
  overwrite(old, {'x'});
  overwrite(young, {'x'});
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache().treeOf(soup_.view());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(TreeCacheTest, LeavesSmallTreesAndNoFolderAlone) {
  EXPECT_TRUE(sameBits(TreeCache({.folder = folder_, .leastTriangles = 501}).treeOf(soup_.view()), built_));
  EXPECT_TRUE(sameBits(TreeCache({.folder = {}, .leastTriangles = 1}).treeOf(soup_.view()), built_));
  EXPECT_EQ(files(), 0u);
}

TEST_F(TreeCacheTest, AFullDiskOrAForbiddenFolderIsNoFailure) {
  // A limit on the size of files is what a test can have of a full disk: write() fails in the middle.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  EXPECT_TRUE(sameBits(cache().treeOf(soup_.view()), built_));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(files(), 0u);
  const TreeCache nowhere({.folder = "/proc/no/such/folder", .leastTriangles = 10});
  EXPECT_TRUE(sameBits(nowhere.treeOf(soup_.view()), built_));
}

TEST_F(TreeCacheTest, SeveralAtOnceDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      // Tight, so that they evict each other's files while these are read.
      const TreeCache own = cache(60'000);
      for (uint32_t k = 0; k < 20; k++) {
        const Soup soup(200, 100 + (i + k) % 6);
        wrong += !sameBits(own.treeOf(soup.view()), buildMeshTree(soup.positions, soup.indices));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(TreeCacheTest, TheUserCanTurnItOff) {
  ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  ::setenv("TANDEM_TREE_CACHE", "off", 1);
  const Soup large(60'000);
  EXPECT_TRUE(TreeCache::ofUser().fileOf(large.view()).parent_path().empty());
  ::unsetenv("TANDEM_TREE_CACHE");
  EXPECT_EQ(TreeCache::ofUser().fileOf(large.view()).parent_path(), folder_ / "tandem" / "trees");
}

TEST(ContentHash, DependsOnEveryByteAndOnTheLength) {
  // Past one piece, so that pieces are put together, too.
  std::vector<std::byte> bytes((size_t{2} << 20) + 13);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = std::byte(i * 31 >> 3);
  const Hash128 hash = contentHash(bytes);
  EXPECT_EQ(contentHash(bytes), hash);
  for (const size_t at : {size_t{0}, size_t{31}, size_t{1} << 20, bytes.size() - 1}) {
    bytes[at] ^= std::byte{1};
    EXPECT_NE(contentHash(bytes), hash) << at;
    bytes[at] ^= std::byte{1};
  }
  EXPECT_NE(contentHash(std::span(bytes).first(bytes.size() - 1)), hash);
  const std::vector<std::byte> zeros(64);
  EXPECT_NE(contentHash(std::span(zeros).first(1)), contentHash(std::span(zeros).first(2)));
  EXPECT_NE(contentHash(std::span(zeros).first(32)), contentHash(std::span(zeros).first(64)));
  EXPECT_EQ(hash.text().size(), 32u);
}

TEST(ParallelFor, DoesEveryPieceOnceAndPassesFailuresOn) {
  std::vector<std::atomic<int>> seen(1003);
  parallelFor(seen.size(), 10, [&](size_t begin, size_t end) {
    EXPECT_LE(end - begin, 10u);
    for (size_t i = begin; i < end; i++) seen[i]++;
  });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  parallelFor(0, 10, [](size_t, size_t) { FAIL(); });
  EXPECT_THROW(parallelFor(100, 1,
                           [](size_t begin, size_t) {
                             if (begin == 57) throw adverse("no");
                           }),
               AdverseError);
}

}  // namespace
}  // namespace tandem::trace
