#include "jobs/bench_files.h"

#include <nlohmann/json.hpp>

#include "jobs/bench_csv.h"
#include "jobs/bench_document.h"
#include "jobs/bench_html.h"
#include "jobs/report_file.h"

namespace tandem::jobs {
void writeBenchFiles(const BenchReport& report, const BenchFiles& files) {
  if (files.json.empty() && files.csv.empty() && files.html.empty()) return;
  const std::string text = benchJson(report);
  if (!files.json.empty()) writeReport(files.json, text);
  if (files.csv.empty() && files.html.empty()) return;
  const auto document = nlohmann::json::parse(text);
  if (!files.csv.empty()) writeReport(files.csv, benchCsv(document));
  if (!files.html.empty()) writeReport(files.html, benchHtml(document));
}

Expected<Comparison> compareFiles(const std::string& before, const std::string& after, double failAbovePercent) {
  const auto older = readBenchFile(before);
  if (!older) return older.refusal();
  const auto newer = readBenchFile(after);
  if (!newer) return newer.refusal();
  return compareReports(*older, *newer, failAbovePercent);
}

}  // namespace tandem::jobs
