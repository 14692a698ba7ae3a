// A fingerprint of bytes, for naming what was made from them and for finding damage. Not for secrets: who wants two
// contents of one hash can make them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tandem {

struct Hash128 {
  uint64_t words[2] = {0, 0};
  auto operator<=>(const Hash128&) const = default;
  /// 32 hexadecimal digits.
  std::string text() const;
};

/// XXH3, 128 bits. The same on every run and machine.
Hash128 contentHash(std::span<const std::byte> bytes);

}  // namespace tandem
