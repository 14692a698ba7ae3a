// The style sheet of the benchmark's page. Colours: Okabe and Ito, Color Universal Design, 2008, told apart by people
// with any colour vision; lines of modes have dashes and names as well.
#pragma once

#include <string_view>

namespace tandem::jobs {

extern const std::string_view kBenchStyle;

}  // namespace tandem::jobs
