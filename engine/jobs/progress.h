// The line on a terminal that says how far a job is. Where stderr is no terminal nothing is ever written.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tandem::jobs {

class Progress {
 public:
  /// `total` frames will be done. `shown`: false where the user asked for quiet.
  Progress(size_t total, bool shown);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(size_t done);
  /// Takes the line away, so that messages stand on lines of their own.
  void clear();

 private:
  size_t total_;
  bool shown_;
  bool onScreen_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// "frame 3 of 24, 0.52 fps, 0:41 left"
std::string progressText(size_t done, size_t total, double seconds);

/// "0:41"; from an hour on "1:02:03".
std::string durationText(double seconds);

}  // namespace tandem::jobs
