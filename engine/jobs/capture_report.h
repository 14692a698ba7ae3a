// What a capture did, for people (text) and for programs (JSON, schema 1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/renderer.h"

namespace tandem::jobs {

struct CapturedFrame {
  uint32_t frame = 0;
  std::vector<std::string> files;
  bool kept = false;  // --resume: was there before; of the fields below it has the hashes
  uint64_t linearHash = 0;
  uint64_t ldrHash = 0;
  double seconds = 0.0;  // from its start to its pixels on the host; frames overlap
  float ev = 0.0f;
  std::optional<std::string> failure;  // why it was not written
};

struct PassTime {
  std::string name;
  uint32_t node = 0;
  double milliseconds = 0.0;  // median over the frames
};

struct CaptureReport {
  int exit = 0;          // of the program
  frame::RunReport run;  // nodes empty: nothing was rendered
  frame::PictureSettings picture;
  std::vector<CapturedFrame> frames;
  std::vector<PassTime> passes;
  size_t planned = 0;        // frames that were asked for
  double seconds = 0.0;      // from the first frame's start to the last file on disk
  double loadSeconds = 0.0;  // scene and renderer
  size_t validationMessages = 0;
  std::vector<std::string> warnings;
  int interruptedBy = 0;  // signal; 0: none
};

/// Medians by pass, in the order in which the passes ran. `frames`: one list of passes a frame.
std::vector<PassTime> medianPasses(const std::vector<std::vector<exec::PassReport>>& frames);

std::string captureText(const CaptureReport& report);
/// One JSON object, indented, ending in a line end.
std::string captureJson(const CaptureReport& report);

}  // namespace tandem::jobs
