// Work on all cores, for loading and building. The threads live as long as the call: some tens of microseconds each, so
// pieces should take longer. Thread-safe; may be called from within itself (each call has threads of its own).
#pragma once

#include <cstddef>
#include <functional>

namespace tandem {

/// Cores that this process may use (its affinity counts), at least 1.
size_t coreCount();

/// Calls `work(begin, end)` once for every piece of [0, count), `piece` items each but for the last; in any order, side
/// by side, on the calling thread too. One piece: on the calling thread alone. Returns when all have run; rethrows what
/// one of them threw, and then not all may have run. Pieces do not depend on the number of cores.
void parallelFor(size_t count, size_t piece, const std::function<void(size_t begin, size_t end)>& work);

}  // namespace tandem
