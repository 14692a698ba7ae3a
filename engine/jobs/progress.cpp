#include "jobs/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tandem::jobs {

std::string durationText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string progressText(size_t done, size_t total, double seconds) {
  if (done == 0 || seconds <= 0.0) return fmt::format("frame 0 of {}", total);
  const double perSecond = static_cast<double>(done) / seconds;
  return fmt::format("frame {} of {}, {:.3g} fps, {} left", done, total, perSecond,
                     durationText(static_cast<double>(total - done) / perSecond));
}

Progress::Progress(size_t total, bool shown) : total_(total), shown_(shown && ::isatty(STDERR_FILENO) == 1) {
  update(0);
}

void Progress::update(size_t done) {
  if (!shown_) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  fmt::print(stderr, "\r\x1b[K{}", progressText(done, total_, elapsed.count()));
  std::fflush(stderr);
  onScreen_ = true;
}

void Progress::clear() {
  if (!onScreen_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  onScreen_ = false;
}

}  // namespace tandem::jobs
