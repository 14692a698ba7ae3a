// What a benchmark found, for people (text) and for programs (JSON, schema 2: assets/bench/schema-2.json).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/bench_machine.h"
#include "jobs/bench_run.h"
#include "jobs/bench_settings.h"
#include "jobs/bench_suite.h"
#include "jobs/capture_report.h"
#include "jobs/statistics.h"

namespace tandem::jobs {

/// What is measured: a mode, and for `single` also which GPU it runs on.
struct Contender {
  frame::Mode mode = frame::Mode::Single;
  bool secondGpu = false;  // single on the GPU that is the secondary of the other modes
  bool operator==(const Contender&) const = default;
  auto operator<=>(const Contender&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 sees a 0 there
  /// "sfr", "single (second GPU)".
  std::string label() const;
};

struct ModeReport {
  Contender contender;
  std::vector<uint32_t> adapters;  // one per node
  frame::RunReport run;            // as of its last run; nodes empty: it never ran
  std::vector<BenchRun> runs;
  std::vector<ProofFrame> proofs;
  std::optional<std::string> failure;  // why it was not measured, or not to its end
};

struct SceneReport {
  BenchCase wanted;
  frame::PictureSettings picture;               // with what was unset decided
  RunPlan plan;                                 // the same
  std::vector<ModeReport> modes;                // in the order asked for
  std::optional<uint64_t> raysPerFrame;         // of the proof frame
  std::vector<std::optional<double>> copyGbps;  // by adapter; nothing: not measured
  std::optional<std::string> failure;           // why there are no modes
  bool whole = false;                           // all that was asked for was done
};

struct BenchReport {
  int exit = 0;  // of the program
  MachineReport machine;
  BenchSettings settings;
  frame::PictureSettings picture;  // of cases that say nothing else
  RunPlan plan;
  uint32_t repeats = 0;
  std::vector<SceneReport> scenes;
  std::vector<std::string> kept;     // JSON of cases that an earlier run measured
  std::optional<double> samplingMs;  // between two looks at the GPUs; nothing: nobody looked
  size_t left = 0;                   // cases that were not begun
  size_t validationMessages = 0;
  std::vector<std::string> warnings;
  int interruptedBy = 0;  // signal; 0: none
  bool partial() const { return interruptedBy != 0 || left > 0; }
};

/// Over all runs of a mode together. Nothing where nothing was measured.
struct ModeSummary {
  double fps = 0.0;  // timed frames / their seconds
  Statistics frameMs;
  Statistics latencyMs;
  std::vector<PassTime> passes;      // medians
  std::vector<double> busyMsOfNode;  // mean over the frames of the sum over the node's passes
  std::vector<double> rowsOfNode;    // mean over the frames; in afr each node has
                                     // all rows of some frames
};
std::optional<ModeSummary> summarizeMode(const ModeReport& report);

/// fps of `mode` / fps of single. Nothing where one of them was not measured.
std::optional<double> speedup(const SceneReport& scene, const ModeReport& mode);

/// The report of a contender; null: it was not asked for.
const ModeReport* reportOf(const SceneReport& scene, const Contender& contender);

/// Whether all modes rendered one and the same proof frame. Nothing where fewer than two modes have one.
std::optional<bool> picturesEqual(const SceneReport& scene);

/// One sentence on whether the second GPU pays.
std::string verdict(const SceneReport& scene, const BenchReport& report);
/// One sentence on the pictures; empty where there is nothing to compare.
std::string pictureVerdict(const SceneReport& scene);

/// Tables. `coloured`: with a terminal's escape sequences.
std::string benchText(const BenchReport& report, bool coloured);
/// One JSON object, indented, ending in a line end.
std::string benchJson(const BenchReport& report);

}  // namespace tandem::jobs
