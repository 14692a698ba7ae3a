// The version of Tandem: that of project() in CMakeLists.txt; a test of the command line holds the two together.
#pragma once

namespace tandem::jobs {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace tandem::jobs
