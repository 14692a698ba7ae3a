// The options of `tandem bench` as they were written, and their reading.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/bench_settings.h"
#include "render_options.h"

namespace tandem::app {

/// Empty: not given.
struct BenchWords : RenderWords {
  std::vector<std::string> scenes;
  std::string modes, frames, seconds, repeats, readback, json;
  bool verbose = false, quiet = false;
};

/// Refuses (WrongUsage) what cannot be read, and options that contradict each other.
Expected<jobs::BenchSettings> readBenchWords(const BenchWords& words);

}  // namespace tandem::app
