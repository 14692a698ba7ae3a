// The options of `tandem capture` as they were written, and their reading.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/capture_settings.h"
#include "render_options.h"

namespace tandem::app {

/// Empty: not given.
struct CaptureWords : RenderWords {
  std::string scene;
  std::string sceneInFile;
  bool allowExternal = false;
  std::vector<std::string> patterns;
  bool overwrite = false, resume = false;
  std::string aovs, compression, mode;
  std::string camera, eye, target, up, yfov;
  std::string frames, fps, time;
  std::string json, trace;
  CLI::Option* jsonOption = nullptr;
  bool verbose = false, quiet = false;
};

/// Refuses (WrongUsage) what cannot be read, and options that contradict each other.
Expected<jobs::CaptureSettings> readWords(const CaptureWords& words);

}  // namespace tandem::app
