// The benchmark's frames as a table for other programs: one line a timed frame, in the order measured.
// Headers are PresentMon's where it has one of that meaning (PresentMon 2.3's MsBetweenPresents and
// DisplayLatency, 1.x's TimeInSeconds), so that programs that draw its files draw these. Nothing is presented
// offscreen: a frame's end is when the host had it.
//   Application        "tandem"
//   Scene, Mode        name of the case; label of the mode
//   Repeat, Frame      from 1; Frame within its run
//   TimeInSeconds      end of the frame, from the start of the run's first timed frame
//   MsBetweenPresents  from the end of the frame before to the end of this one
//   DisplayLatency     from the frame's start to its end, ms
//   RowsNode0, ...     rows that the node traced
// Quoted as RFC 4180; lines end in \n. What was not measured is N/A. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tandem::jobs {

/// `document`: bench_document.h.
std::string benchCsv(const nlohmann::json& document);

}  // namespace tandem::jobs
