// One run of `tandem bench`, in the words of its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/settings.h"
#include "jobs/frame_time.h"

namespace tandem::jobs {

/// Where something is unset, software devices get a number that they manage in seconds: their times say nothing anyway.
struct BenchSettings {
  std::vector<std::string> scenes;  // empty: builtin:terrain and the courtyard
  std::string environment;          // a .hdr; empty: what the scene brings, a sky for files
  frame::PictureSettings picture;   // size and samples are set by the next two
  std::optional<Extent> size;
  std::optional<uint32_t> samples;
  frame::MachineSettings machine;   // its mode is set by `modes`
  FrameTimes times;                 // of the scene's animation and camera
  std::vector<frame::Mode> modes;   // empty: all that this machine can run
  std::optional<uint32_t> frames;   // timed frames of a run
  std::optional<double> seconds;    // or its length; wins over the default of `frames`
  std::optional<uint32_t> repeats;  // runs of each mode
  bool readback = false;            // copy every finished picture to the host, as capture does
  bool validation = false;          // for tests: times mean even less
  std::string commandLine;          // for the report
};

}  // namespace tandem::jobs
