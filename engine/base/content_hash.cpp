#include "base/content_hash.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <vector>

#include "base/parallel.h"

namespace tandem {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
// Odd, with bits well mixed: fractions of the golden ratio, sqrt(2), sqrt(3).
constexpr uint64_t kMultiply = 0x9e3779b97f4a7c15u, kAdd = 0x6a09e667f3bcc909u, kFinish = 0xbb67ae8584caa73bu;

uint64_t step(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kAdd, 31) * kMultiply; }

/// Every bit of the result depends on every bit of the word.
uint64_t mixed(uint64_t word) {
  word = (word ^ (word >> 32)) * kFinish;
  word = (word ^ (word >> 29)) * kMultiply;
  return word ^ (word >> 32);
}

Hash128 hashPiece(std::span<const std::byte> bytes) {
  uint64_t lanes[4] = {kMultiply, kAdd, kFinish, bytes.size()};
  size_t at = 0;
  uint64_t words[4];
  for (; at + sizeof(words) <= bytes.size(); at += sizeof(words)) {
    std::memcpy(words, bytes.data() + at, sizeof(words));
    for (int k = 0; k < 4; k++) lanes[k] = step(lanes[k], words[k]);
  }
  std::memset(words, 0, sizeof(words));
  if (at < bytes.size()) std::memcpy(words, bytes.data() + at, bytes.size() - at);
  Hash128 hash;
  for (int k = 0; k < 4; k++) {
    lanes[k] = mixed(step(lanes[k], words[k]));
    hash.words[0] = step(hash.words[0], lanes[k]);
    hash.words[1] = step(hash.words[1], lanes[3 - k] ^ kFinish);
  }
  return {{mixed(hash.words[0]), mixed(hash.words[1])}};
}

}  // namespace

std::string Hash128::text() const { return fmt::format("{:016x}{:016x}", words[0], words[1]); }

Hash128 contentHash(std::span<const std::byte> bytes) {
  if (bytes.size() <= kPiece) return hashPiece(bytes);
  std::vector<Hash128> pieces((bytes.size() + kPiece - 1) / kPiece);
  parallelFor(bytes.size(), kPiece,
              [&](size_t begin, size_t end) { pieces[begin / kPiece] = hashPiece(bytes.subspan(begin, end - begin)); });
  return contentHash(std::as_bytes(std::span(pieces)));
}

}  // namespace tandem
