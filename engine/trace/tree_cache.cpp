#include "trace/tree_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/parallel.h"
#include "base/stopwatch.h"
#include "gpu/cache_folder.h"

namespace tandem::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "the files hold memory as it is");

constexpr char kMagic[8] = {'T', 'a', 'n', 'd', 'T', 'r', 'e', 'e'};
constexpr uint32_t kFormat = 1;
constexpr const char* kSuffix = ".tree";
constexpr size_t kPiece = size_t{4} << 20;  // bytes that one thread reads at a time

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t nodeBytes;
  uint64_t nodes;
  uint64_t entries;
  Bounds bounds;
  Hash128 payload;  // of the nodes' hash and the order's
  Hash128 self;     // of this header with `self` 0
};
static_assert(sizeof(Header) == 88);

template <class Range>
std::span<const std::byte> bytesOf(const Range& range) {
  return std::as_bytes(std::span(range));
}

Hash128 hashOf(const Header& header) {
  Header copy = header;
  copy.self = {};
  return contentHash(std::as_bytes(std::span(&copy, 1)));
}

Hash128 payloadHash(std::span<const shared::BvhNode> nodes, std::span<const uint32_t> order) {
  const Hash128 parts[2] = {contentHash(bytesOf(nodes)), contentHash(bytesOf(order))};
  return contentHash(std::as_bytes(std::span(parts)));
}

Hash128 keyOf(const MeshView& mesh) {
  struct {
    uint64_t version, triangles, vertices;
    Hash128 positions, indices;
  } const key{treeVersion(), mesh.indices.size() / 3, mesh.positions.size(), contentHash(bytesOf(mesh.positions)),
              contentHash(bytesOf(mesh.indices))};
  return contentHash(std::as_bytes(std::span(&key, 1)));
}

/// Owner of an open file.
class File {
 public:
  File(const std::filesystem::path& path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool isOpen() const { return file_ >= 0; }
  int handle() const { return file_; }
  uint64_t size() const {
    struct stat status {};
    return ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
  }
  /// All of it, by several threads. False where the file ends before or can't be read.
  bool read(uint64_t offset, std::span<std::byte> to) const {
    std::atomic<bool> whole{true};
    parallelFor(to.size(), kPiece, [&](size_t begin, size_t end) {
      while (begin < end) {
        const ssize_t count = ::pread(file_, to.data() + begin, end - begin, static_cast<off_t>(offset + begin));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) whole = false;
        if (count <= 0) return;
        begin += static_cast<size_t>(count);
      }
    });
    return whole;
  }
  bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
    return true;
  }

 private:
  int file_;
};

std::string checkHeader(const Header& header, uint64_t fileBytes, size_t triangles) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.format != kFormat) return "another format";
  if (header.nodeBytes != sizeof(shared::BvhNode) || header.self != hashOf(header)) return "a damaged header";
  if (header.entries > triangles || header.nodes > std::max<uint64_t>(header.entries, 1)) return "sizes that cannot be";
  const uint64_t expected = sizeof(Header) + header.nodes * sizeof(shared::BvhNode) + header.entries * sizeof(uint32_t);
  return fileBytes == expected ? "" : fmt::format("{} bytes instead of {}", fileBytes, expected);
}

struct Entry {
  std::filesystem::path path;
  uint64_t bytes;
  std::filesystem::file_time_type used;
};

}  // namespace

std::string faultOf(std::span<const shared::BvhNode> nodes, size_t entries, uint32_t depth) {
  if (nodes.empty()) return entries == 0 ? "" : "it has triangles and no root";
  std::vector<uint8_t> level(nodes.size(), 0);  // 0: no parent has been seen
  level[0] = 1;
  for (size_t i = 0; i < nodes.size(); i++) {
    if (level[i] == 0) return fmt::format("node {} has no parent before it", i);
    if (level[i] > depth) return fmt::format("node {} is deeper than {}", i, depth);
    for (const uint32_t child : {nodes[i].child0, nodes[i].child1}) {
      if (child & shared::kLeafBit) {
        const uint64_t count = (child & ~shared::kLeafBit) >> shared::kLeafCountShift;
        const uint64_t first = child & ((1u << shared::kLeafCountShift) - 1);
        if (count == 0 || first + count > entries) return fmt::format("node {} has a leaf out of range", i);
      } else {
        if (child <= i || child >= nodes.size() || level[child] != 0)
          return fmt::format("node {} has a child out of order", i);
        level[child] = static_cast<uint8_t>(level[i] + 1);
      }
    }
  }
  return "";
}

TreeCache TreeCache::ofUser() {
  const char* wish = std::getenv("TANDEM_TREE_CACHE");
  const std::filesystem::path folder = gpu::cacheFolder();
  if (folder.empty() || (wish != nullptr && std::string_view(wish) == "off")) return TreeCache(Place{});
  return TreeCache(Place{.folder = folder / "trees"});
}

std::filesystem::path TreeCache::fileOf(const MeshView& mesh) const {
  return place_.folder / (keyOf(mesh).text() + kSuffix);
}

Expected<MeshTree> TreeCache::read(const std::filesystem::path& path, const MeshView& mesh) {
  const auto no = [](std::string why) { return Refusal{ExitCode::Failed, std::move(why)}; };
  const File file(path, O_RDONLY);
  if (!file.isOpen()) return no(errno == ENOENT || errno == ENOTDIR ? "" : std::strerror(errno));
  Header header{};
  if (!file.read(0, std::as_writable_bytes(std::span(&header, 1)))) return no("it ends within its header");
  const size_t triangles = mesh.indices.size() / 3;
  if (std::string fault = checkHeader(header, file.size(), triangles); !fault.empty()) return no(std::move(fault));
  MeshTree tree;
  if (header.nodes > 0) tree.bounds = header.bounds;  // else empty: nothing may lead to a tree without a root
  tree.nodes.resize(header.nodes);
  RawVector<uint32_t> order(header.entries);
  if (!file.read(sizeof(Header), std::as_writable_bytes(std::span(tree.nodes))) ||
      !file.read(sizeof(Header) + bytesOf(tree.nodes).size(), std::as_writable_bytes(std::span(order))))
    return no("it could not be read to its end");
  if (payloadHash(tree.nodes, order) != header.payload) return no("its contents have changed since it was written");
  if (std::string fault = faultOf(tree.nodes, order.size(), kMeshTreeDepth); !fault.empty())
    return no(std::move(fault));
  for (const uint32_t primitive : order) {
    if (primitive >= triangles) return no("it names a triangle that the mesh has not");
  }
  tree.triangles = gatherTriangles(mesh.positions, mesh.indices, order);
  ::futimens(file.handle(), nullptr);  // used now: not the next to go
  return tree;
}

MeshTree TreeCache::treeOf(const MeshView& mesh) const {
  if (place_.folder.empty() || mesh.indices.size() / 3 < place_.leastTriangles)
    return buildMeshTree(mesh.positions, mesh.indices);
  Stopwatch watch;
  const std::filesystem::path file = fileOf(mesh);
  const double hashed = watch.lap();
  Expected<MeshTree> kept = read(file, mesh);
  if (kept) {
    log::debug("a tree of {} triangles: hashed in {:.0f} ms, read in {:.0f} ms", mesh.indices.size() / 3, hashed,
               watch.lap());
    return std::move(*kept);
  }
  if (!kept.refusal().message.empty())
    log::warn("{} is no whole tree ({}): it is built anew", file.string(), kept.refusal().message);
  watch.lap();
  MeshTree tree = buildMeshTree(mesh.positions, mesh.indices);
  const double built = watch.lap();
  write(file, tree);
  log::debug("a tree of {} triangles: hashed in {:.0f} ms, built in {:.0f} ms, written in {:.0f} ms",
             mesh.indices.size() / 3, hashed, built, watch.lap());
  return tree;
}

void TreeCache::write(const std::filesystem::path& path, const MeshTree& tree) const {
  RawVector<uint32_t> order(tree.triangles.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = tree.triangles[i].primitive;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format = kFormat;
  header.nodeBytes = sizeof(shared::BvhNode);
  header.nodes = tree.nodes.size();
  header.entries = order.size();
  header.bounds = tree.bounds;
  header.payload = payloadHash(tree.nodes, order);
  header.self = hashOf(header);
  if (sizeof(Header) + bytesOf(tree.nodes).size() + bytesOf(order).size() > place_.mostBytes) return;
  std::error_code error;
  std::filesystem::create_directories(place_.folder, error);
  static std::atomic<uint32_t> serial{0};
  const std::filesystem::path part = fmt::format("{}.part{}-{}", path.string(), ::getpid(), serial++);
  const bool written = [&] {
    const File file(part, O_WRONLY | O_CREAT | O_TRUNC);
    return file.isOpen() && file.write(std::as_bytes(std::span(&header, 1))) && file.write(bytesOf(tree.nodes)) &&
           file.write(bytesOf(order));
  }();
  // No fsync: what a crash leaves torn is found by its hash.
  if (!written || ::rename(part.c_str(), path.c_str()) != 0) {
    log::warn("the tree of {} triangles was not kept in {} ({}): it will be built again next time", order.size(),
              place_.folder.string(), std::strerror(errno));
    std::filesystem::remove(part, error);
    return;
  }
  evict();
}

/// Files that other processes remove meanwhile are no fault. What a killed process left half written goes after an
/// hour.
void TreeCache::evict() const {
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& file : std::filesystem::directory_iterator(place_.folder, error)) {
    std::error_code gone;
    const Entry entry{file.path(), file.file_size(gone), file.last_write_time(gone)};
    if (gone) continue;
    if (entry.path.extension() == kSuffix) {
      entries.push_back(entry);
      total += entry.bytes;
    } else if (entry.path.extension().string().starts_with(".part") && now - entry.used > std::chrono::hours(1)) {
      std::filesystem::remove(entry.path, gone);
    }
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (size_t i = 0; i < entries.size() && total > place_.mostBytes; i++) {
    std::filesystem::remove(entries[i].path, error);
    total -= entries[i].bytes;
  }
}

}  // namespace tandem::trace
