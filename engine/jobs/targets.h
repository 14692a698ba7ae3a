// Which frames a run renders and which files they become, decided before anything is rendered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/capture_settings.h"

namespace tandem::jobs {

/// One frame and the files it becomes, one for each -o.
struct Target {
  uint32_t frame = 0;
  std::vector<std::string> files;
  bool kept = false;  // --resume: all files are there and whole
};

/// Reads --frames and -o, and looks at what is there; changes nothing on disk. Refuses (WrongUsage) what
/// output/sequence.h refuses, two -o that name one file, an existing file without --overwrite or --resume, and with
/// --resume a whole picture of another size.
Expected<std::vector<Target>> planTargets(const CaptureSettings& settings);

/// Makes missing folders and tries whether files can be made in them. Refuses as output/whole_file.h.
std::optional<Refusal> prepareFolders(const std::vector<Target>& targets);

}  // namespace tandem::jobs
