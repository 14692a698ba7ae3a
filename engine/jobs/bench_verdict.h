// What limits a mode, and what a scene's modes come to, in words. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frame/settings.h"
#include "jobs/bench_analysis.h"
#include "jobs/bootstrap.h"

namespace tandem::jobs {

inline constexpr double kSaturated = 0.9;  // of the wall clock: what is busy for so long is what limits
inline constexpr double kWaits = 0.05;     // of the wall clock: a wait that is worth a word

/// The things that limit the frame rate, first what matters most: links and nodes that are busy all the time, in sfr a
/// deal of rows that lets a node wait for another; where there is none of these, what the nodes wait for.
/// `throttleGbps`: what the links were throttled to (--link-gbps); 0: not.
std::string limitOf(frame::Mode mode, const ModeTimes& times, double throttleGbps = 0.0);

/// One mode as measured, or why it was not.
struct ModeFacts {
  std::string label;  // "single", "single (second GPU)", "pipelined", "sfr", "afr"
  frame::Mode mode = frame::Mode::Single;
  std::optional<double> fps;           // none: not measured
  std::optional<Interval> speedup;     // against the first single; none: too few repeats
  std::optional<double> hiddenShare;   // of the time of its links (LinkTimes); none: nothing crossed
  std::string limit;                   // limitOf()
  std::optional<std::string> failure;  // why it was not measured, or not to its end
};

struct VerdictFacts {
  std::vector<ModeFacts> modes;        // the first single is what all are compared with
  std::optional<std::string> failure;  // why the scene was not measured at all
  bool simulatedDual = false;          // one GPU opened twice
  bool software = false;               // a device is no GPU
  bool validation = false;
};

/// One sentence: whether the second GPU pays, by how much, and why not by more. With what takes its force from it.
/// "sfr is 1.93x (1.91-1.95) single; the link is hidden; pipelined stops at 1.21x because node 1 ...".
std::string verdictOf(const VerdictFacts& facts);

}  // namespace tandem::jobs
