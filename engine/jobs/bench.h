// The benchmark: one GPU against two, in every mode, on the same frames.
#pragma once

#include "base/check.h"
#include "jobs/bench_report.h"
#include "jobs/bench_settings.h"

namespace tandem::jobs {

/// Measures every mode of every scene, the modes in turn (A B A B), and compares their pictures. Refuses before the
/// first frame what nothing can be measured with: no GPU, modes that need two, a scene that cannot be loaded where it
/// is the only one. Scenes and modes that fail among others are in the report, with the reason, and
/// BenchReport::exit says how the program ends. Ends early, at a frame's boundary, on SIGINT and SIGTERM with what was
/// measured so far. Render thread.
Expected<BenchReport> bench(const BenchSettings& settings);

}  // namespace tandem::jobs
