// Copies of host memory that one core cannot do fast enough: about 6 GB/s a core, less than a bus carries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::topology {

/// How many threads should copy this many bytes: one where the start of threads costs more than it wins, or where fewer
/// than four cores are there for all that runs.
uint32_t copyThreads(uint64_t bytes, uint32_t cores);

/// Fills `to` from the start of `from`, which must not be shorter, split over `threads` (the caller's is one of them).
void copyOnThreads(std::span<std::byte> to, std::span<const std::byte> from, uint32_t threads);

}  // namespace tandem::topology
