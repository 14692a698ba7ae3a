// The benchmark as one page for people: verdicts first, then the machine, each scene's tables and drawings, definitions
// and settings. Holds all it needs: no script, no request; readable on a phone, in print, in the dark. Well-formed as
// XML after its first line. Pure; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tandem::jobs {

/// `document`: bench_document.h. What is null there is N/A here.
std::string benchHtml(const nlohmann::json& document);

}  // namespace tandem::jobs
