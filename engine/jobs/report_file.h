// `--json FILE`: a report in a file of its own, replaced where it exists.
#pragma once

#include <optional>
#include <string>

#include "base/check.h"

namespace tandem::jobs {

/// Before the work: can `path` be written? Refuses as output/whole_file.h. An empty path is always fine.
std::optional<Refusal> prepareReport(const std::string& path);

/// Throws AdverseError; the file appears whole or not at all.
void writeReport(const std::string& path, const std::string& text);

}  // namespace tandem::jobs
