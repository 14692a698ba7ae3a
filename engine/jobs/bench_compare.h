// Two reports of the benchmark, before and after a change of the program, the driver or the machine: what became
// slower, how sure that is, and which pass, link or share of rows it came from. Pure; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/bootstrap.h"

namespace tandem::jobs {

/// fps(after) / fps(before) of runs that were not measured together, each list with an interval of its own
/// (fpsInterval): the limits of the ratio are put together from those of the two, on the scale of logarithms, by the
/// method of variance estimates recovery (Zou and Donner, Construction of confidence limits about effect measures: a
/// general approach, Statistics in Medicine 27, 2008). ratioInterval would draw repeat i of both together,
/// which only runs that were measured in turn may be. Nothing where one of them has no interval.
std::optional<Interval> changeInterval(std::span<const std::vector<double>> before,
                                       std::span<const std::vector<double>> after);

struct Comparison {
  std::string text;  // for people; ends in a line end
  /// Failed where a mode became slower by more than asked for, its interval without 1, or was measured before and fails
  /// now. Done otherwise.
  ExitCode exit = ExitCode::Done;
};

/// Compares the modes that both documents (bench_document.h) have of scenes that both have, by the names of their
/// cases. `failAbovePercent`: of frames per second lost; 5: from 100 fps to less than 95. Refuses documents of another
/// kind or schema and without common scene (UnusableInput), and percentages that mean nothing (WrongUsage). What makes
/// a comparison doubtful (another machine, driver or setting, software devices, an interrupted run) stands on top of
/// the text as a warning.
Expected<Comparison> compareReports(const nlohmann::json& before, const nlohmann::json& after, double failAbovePercent);

}  // namespace tandem::jobs
