// SIGINT and SIGTERM while a job runs: the first asks it to end at the next frame's boundary, the second ends the
// program at once.
#pragma once

namespace tandem::jobs {

/// One at a time; the handlers of before come back with its end.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that asked us to end; 0: none. Any thread.
  static int signal();
};

}  // namespace tandem::jobs
