// A short text for everything that decides the pixels of a frame besides its number: runs with one fingerprint make the
// same pictures, whatever the mode and the GPU.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/capture_settings.h"

namespace tandem::jobs {

/// 16 hexadecimal digits over the program's version, the settings of picture, camera and times, the number of samples,
/// and the contents of the scene's file, of the files that it names and of the environment. A file that cannot be read
/// counts as missing. The scene must have been loaded: its JSON is trusted to be parsed again.
std::string settingsFingerprint(const CaptureSettings& settings, uint32_t samples);

}  // namespace tandem::jobs
