// A 64-bit number for a plane of pixels, so that runs can be compared without their files. Not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tandem::jobs {

/// FNV-1a's xor and multiply over words of 8 bytes, with a rotation between, since the multiplication alone carries
/// nothing downwards. Each step is a bijection: planes that differ in one word differ in the hash. Bytes beyond the
/// last whole word count as a word with zeros.
uint64_t pixelHash(std::span<const std::byte> bytes);

/// 16 hexadecimal digits.
std::string hashText(uint64_t hash);

}  // namespace tandem::jobs
