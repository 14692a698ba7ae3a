// Offline capture: a range of frames of one scene to EXR and PNG files.
#pragma once

#include "base/check.h"
#include "jobs/capture_report.h"
#include "jobs/capture_settings.h"

namespace tandem::jobs {

/// Checks everything first (frames, names, files, scene, folders, devices, memory), then renders. Refuses before the
/// first frame, and (WrongUsage) while another capture writes the same frames; files that fail to be written are in the
/// report, and CaptureReport::exit says how the program ends. Throws AdverseError where the machine fails while
/// rendering; what is finished by then is on disk and in the manifest (manifest.h). Ends early, at a frame's boundary,
/// on SIGINT and SIGTERM. Killed at any point it leaves whole files and perhaps partial ones under other names, which
/// the next run of the same frames removes.
Expected<CaptureReport> capture(const CaptureSettings& settings);

}  // namespace tandem::jobs
