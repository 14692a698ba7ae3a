#include "jobs/bench_files.h"

#include <nlohmann/json.hpp>

#include "jobs/bench_csv.h"
#include "jobs/bench_document.h"
#include "jobs/bench_html.h"
#include "jobs/report_file.h"

namespace tandem::jobs {
namespace {

void writeOthers(const nlohmann::json& document, const BenchFiles& files) {
  if (!files.csv.empty()) writeReport(files.csv, benchCsv(document));
  if (!files.html.empty()) writeReport(files.html, benchHtml(document));
}

}  // namespace

void writeBenchFiles(const BenchReport& report, const BenchFiles& files) {
  if (files.json.empty() && files.csv.empty() && files.html.empty()) return;
  const std::string text = benchJson(report);
  if (!files.json.empty()) writeReport(files.json, text);
  writeOthers(nlohmann::json::parse(text), files);
}

std::optional<Refusal> convertBenchFile(const std::string& report, const BenchFiles& files) {
  const auto document = readBenchFile(report);
  if (!document) return document.refusal();
  writeOthers(*document, files);
  return std::nullopt;
}

Expected<Comparison> compareFiles(const std::string& before, const std::string& after, double failAbovePercent) {
  const auto older = readBenchFile(before);
  if (!older) return older.refusal();
  const auto newer = readBenchFile(after);
  if (!newer) return newer.refusal();
  return compareReports(*older, *newer, failAbovePercent);
}

}  // namespace tandem::jobs
