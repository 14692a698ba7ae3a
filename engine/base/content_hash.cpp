#include "base/content_hash.h"

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tandem {

std::string Hash128::text() const { return fmt::format("{:016x}{:016x}", words[0], words[1]); }

Hash128 contentHash(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {{hash.high64, hash.low64}};
}

}  // namespace tandem
