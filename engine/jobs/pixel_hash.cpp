#include "jobs/pixel_hash.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tandem::jobs {

uint64_t pixelHash(std::span<const std::byte> bytes) {
  constexpr uint64_t kOffset = 0xcbf29ce484222325u;  // FNV-1a, 64 bit
  constexpr uint64_t kPrime = 0x00000100000001b3u;
  uint64_t hash = (kOffset ^ bytes.size()) * kPrime;
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t count = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), count);
    hash = std::rotl((hash ^ word) * kPrime, 29);
    bytes = bytes.subspan(count);
  }
  return hash ^ (hash >> 32);
}

std::string hashText(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace tandem::jobs
