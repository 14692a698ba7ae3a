// A suite of the benchmark: scenes with their settings, kept in a file. assets/bench/ holds quick, standard and full.
//
// The file is one JSON object. Fields: `name`, `description`, `cases`, and what holds for all cases, each of them
// optional: `repeats` (1 to 1000), `frames` (1 to 1,000,000) or `seconds` (above 0, at most 3600). A case is an object,
// too: `name` and `scene`, and, optional, `size` ([WIDTH, HEIGHT], pixels), `samples`, `bounces`, `shutterDegrees` (0
// to 360), `scaling`, `series`, `modes`. Anything else is refused: a misspelled field would measure something else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/math.h"
#include "frame/settings.h"

namespace tandem::jobs {

/// What is unset is as `tandem bench` has it without a suite.
struct BenchCase {
  std::string name;   // unique in its suite
  std::string scene;  // as the file has it: builtin:NAME, or a file's path as seen from assets/
  std::string load;   // the same for jobs/load_scene.h: builtin:NAME, or the path from here. The file may be missing
  std::optional<Extent> size;
  std::optional<uint32_t> samples;
  std::optional<uint32_t> bounces;
  std::optional<double> shutterDegrees;
  std::string scaling;             // "", "strong" (all modes do the same work) or "weak" (two GPUs get twice the work)
  std::string series;              // cases of one series make one plot; "": in none
  std::vector<frame::Mode> modes;  // never auto; empty: all that the machine can run
};

struct BenchSuite {
  std::string name;
  std::string description;  // also says what the suite means by strong and weak scaling
  std::vector<BenchCase> cases;
  std::optional<uint32_t> repeats;
  std::optional<uint32_t> frames;  // at most one of these two
  std::optional<double> seconds;
};

/// Reads a suite. Scenes that are files are looked for in the folder above the suite's own (assets/ above
/// assets/bench/), unless their path is absolute; whether they are there is seen when they are loaded. Refuses
/// (UnusableInput) the first thing that is wrong, by file and field: "assets/bench/quick.json: cases[2].size: ...".
/// Thread-safe.
Expected<BenchSuite> readSuite(const std::filesystem::path& file);

/// The file of a suite: `name` is quick, standard or full, which lie in assets/bench/ beside the program or beside its
/// folder, or a path that ends in .json. Refuses other names (WrongUsage) and files that are not there (UnusableInput).
Expected<std::filesystem::path> findSuite(const std::string& name);

/// The same, with the folders in which assets/ is looked for, the first one first.
Expected<std::filesystem::path> findSuite(const std::string& name, std::span<const std::filesystem::path> folders);

}  // namespace tandem::jobs
