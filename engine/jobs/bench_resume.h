// `tandem bench --resume`: going on with a report that was left before its end.
#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/bench_report.h"

namespace tandem::jobs {

/// The cases of an earlier report (its JSON) that were measured whole, as JSON each, in its order; they are taken out
/// of `cases`. Refuses, naming the first difference, what was measured with another program, machine or settings than
/// `now`, or is no report.
Expected<std::vector<std::string>> keepWholeCases(const std::string& earlier, const BenchReport& now,
                                                  std::vector<BenchCase>& cases);

}  // namespace tandem::jobs
