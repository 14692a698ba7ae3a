// Milliseconds since it was made or asked last, for messages of `-v`. Not for results: those are timed by who reports.
#pragma once

#include <chrono>

namespace tandem {

class Stopwatch {
 public:
  /// Since the last call, or since it was made.
  double lap() {
    const auto now = Clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace tandem
