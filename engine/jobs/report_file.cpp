#include "jobs/report_file.h"

#include <span>

#include "output/whole_file.h"

namespace tandem::jobs {

std::optional<Refusal> prepareReport(const std::string& path) {
  return path.empty() ? std::nullopt : output::prepareTarget(path, output::Existing::Replace);
}

void writeReport(const std::string& path, const std::string& text) {
  output::writeWholeFile(path, std::as_bytes(std::span(text)), output::Existing::Replace);
}

}  // namespace tandem::jobs
