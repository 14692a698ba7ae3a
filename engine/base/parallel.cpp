#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tandem {

size_t coreCount() {
  // The standard library counts all cores of the machine, allowed or not.
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return static_cast<size_t>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

void parallelFor(size_t count, size_t piece, const std::function<void(size_t begin, size_t end)>& work) {
  if (count == 0) return;
  const size_t pieces = (count + piece - 1) / piece;
  if (pieces == 1) return work(0, count);
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failureMutex;
  const auto run = [&] {
    try {
      for (size_t k = next++; k < pieces; k = next++) work(k * piece, std::min(count, (k + 1) * piece));
    } catch (...) {
      next = pieces;
      const std::lock_guard lock(failureMutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < std::min(coreCount(), pieces); i++) threads.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tandem
