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
  std::string suite, modes, frames, seconds, repeats, readback, sampling, price, minutes, slowPass;
  std::string json, csv, html, from, failAbove;
  std::vector<std::string> compare;  // two files, or none
  bool resume = false, verbose = false, quiet = false;
};

/// Refuses (WrongUsage) what cannot be read, and options that contradict each other. With --resume reads the earlier
/// report; refuses (UnusableInput) where there is none.
Expected<jobs::BenchSettings> readBenchWords(const BenchWords& words);

/// --fail-above: percent, 5 where nothing is given. Refuses (WrongUsage).
Expected<double> readFailAbove(const BenchWords& words);

}  // namespace tandem::app
