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

/// Four lanes of multiply and rotate, in the manner of xxHash (Collet 2012), over pieces of 1 MiB side by side on all
/// cores; the pieces' hashes are hashed in their order. The same on every run, for any number of cores.
Hash128 contentHash(std::span<const std::byte> bytes);

}  // namespace tandem
