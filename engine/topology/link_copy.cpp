#include "topology/link_copy.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/check.h"

namespace tandem::topology {
namespace {

constexpr uint64_t kBytesWorthAThread = uint64_t{4} << 20;  // 0.7 ms of one core; a thread starts in less than 0.1 ms
constexpr uint32_t kMostThreads = 8;
constexpr size_t kPage = 4096;

}  // namespace

uint32_t copyThreads(uint64_t bytes, uint32_t cores) {
  if (cores < 4) return 1;
  const auto worth = static_cast<uint32_t>(std::min<uint64_t>(bytes / kBytesWorthAThread, kMostThreads));
  return std::max(1u, std::min(worth, cores / 2));
}

void copyOnThreads(std::span<std::byte> to, std::span<const std::byte> from, uint32_t threads) {
  TANDEM_CHECK(from.size() >= to.size() && threads > 0, "{} bytes are copied from {} by {} threads", to.size(),
               from.size(), threads);
  if (to.empty()) return;
  // Whole pages each, so that no two threads write one.
  const size_t pages = (to.size() + kPage - 1) / kPage;
  const size_t piece = (pages + threads - 1) / threads * kPage;
  std::vector<std::jthread> helpers;
  for (size_t begin = piece; begin < to.size(); begin += piece) {
    const size_t bytes = std::min(piece, to.size() - begin);
    helpers.emplace_back([=] { std::memcpy(to.data() + begin, from.data() + begin, bytes); });
  }
  std::memcpy(to.data(), from.data(), std::min(piece, to.size()));
}

}  // namespace tandem::topology
