// The benchmark's report as files, and two of them compared.
#pragma once

#include <optional>
#include <string>

#include "base/check.h"
#include "jobs/bench_compare.h"
#include "jobs/bench_report.h"

namespace tandem::jobs {

/// Paths; empty: not wanted.
struct BenchFiles {
  std::string json, csv, html;
};

/// Throws AdverseError where one cannot be written; each appears whole or not at all.
void writeBenchFiles(const BenchReport& report, const BenchFiles& files);

/// Makes the other files of a report's JSON (`files.json` is not written). Refuses (UnusableInput) what is no report.
std::optional<Refusal> convertBenchFile(const std::string& report, const BenchFiles& files);

/// Reads and compares two reports. Refuses (UnusableInput) what cannot be read, and as compareReports.
Expected<Comparison> compareFiles(const std::string& before, const std::string& after, double failAbovePercent);

}  // namespace tandem::jobs
