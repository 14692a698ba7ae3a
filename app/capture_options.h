// The options of `tandem capture` as they were written, and their reading.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "jobs/capture_settings.h"

namespace tandem::app {

/// Empty: not given.
struct CaptureWords {
  std::string scene;
  std::string sceneInFile;
  bool allowExternal = false;
  std::vector<std::string> patterns;
  bool overwrite = false, resume = false;
  std::string size, samples, bounces, seed, environment, exposure, tonemap, aovs, compression;
  std::string camera, eye, target, up, yfov;
  std::string frames, fps, time, motionBlur, shutter;
  std::string gpus, mode, topology, link, tracer;
  bool simulateDual = false, validation = false;
  std::string json;
  CLI::Option* jsonOption = nullptr;
  bool verbose = false, quiet = false;
};

/// Refuses (WrongUsage) what cannot be read, and options that contradict each other.
Expected<jobs::CaptureSettings> readWords(const CaptureWords& words);

/// builtin:NAME, or a name that ends in .gltf or .glb.
bool looksLikeScene(const std::string& word);

}  // namespace tandem::app
