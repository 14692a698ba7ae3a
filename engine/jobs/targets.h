// Which frames a run renders and which files they become, decided before anything is rendered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/capture_settings.h"
#include "output/sequence.h"

namespace tandem::jobs {

class FrameLog;

/// One frame and the files it becomes, one for each -o.
struct Target {
  uint32_t frame = 0;
  std::vector<std::string> files;
  bool kept = false;  // --resume: all files are there, whole, and as this run would make them
};

struct CapturePlan {
  std::vector<output::OutputPattern> patterns;  // one for each -o
  std::vector<Target> targets;
};

/// Reads --frames and -o. Refuses (WrongUsage) what output/sequence.h refuses, and two -o that name one file.
Expected<CapturePlan> planCapture(const CaptureSettings& settings);

/// Looks at what is there and changes nothing. Refuses (WrongUsage) a folder in the way, and an existing file without
/// --overwrite or --resume.
std::optional<Refusal> checkExisting(const CapturePlan& plan, ExistingFrames existing);

/// --resume: sets Target::kept. Frames that are there but will be rendered again are said, with their number.
/// `settings`: as of fingerprint.h.
void keepWholeFrames(CapturePlan& plan, const FrameLog& log, const std::string& settings, Extent size);

/// Makes missing folders and tries whether files can be made in them. Refuses as output/whole_file.h.
std::optional<Refusal> prepareFolders(const CapturePlan& plan);

/// Removes the partial files that killed runs have left of these patterns' frames. To be called under their locks.
void removeStaleParts(const CapturePlan& plan);

}  // namespace tandem::jobs
