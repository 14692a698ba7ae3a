// One run of `tandem bench`, in the words of its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/settings.h"
#include "jobs/frame_time.h"

namespace tandem::jobs {

/// What renting a machine costs an hour, in any currency.
struct Price {
  double one = 0.0;  // with one GPU
  double two = 0.0;
};

/// Where something is unset, software devices get a number that they manage in seconds: their times say nothing anyway.
struct BenchSettings {
  std::vector<std::string> scenes;  // empty, and no suite: builtin:terrain and the courtyard
  std::string suite;                // quick, standard, full or a file (jobs/bench_suite.h);
                                    // empty: none
  std::string environment;          // a .hdr; empty: what the scene brings, a sky for files
  frame::PictureSettings picture;   // size, samples and bounces are set by the next three
  std::optional<Extent> size;
  std::optional<uint32_t> samples;
  std::optional<uint32_t> bounces;  // for every case, whatever its suite says
  frame::MachineSettings machine;   // its mode is set by `modes`
  FrameTimes times;                 // of the scene's animation and camera
  std::vector<frame::Mode> modes;   // empty: all that this machine can run
  std::optional<uint32_t> frames;   // timed frames of a run
  std::optional<double> seconds;    // or its length; wins over the default of `frames`
  std::optional<uint32_t> repeats;  // runs of each mode
  bool readback = false;            // copy every finished picture to the host, as capture does
  bool sampling = true;             // watch the GPUs' power and clocks meanwhile
  std::optional<Price> pricePerHour;
  std::optional<double> minutes;  // no case is begun after that long
  std::string earlier;            // a report's JSON, whose whole cases are kept
                                  // (`--resume`); empty: none
  bool validation = false;        // for tests: times mean even less
  std::string commandLine;        // for the report
};

}  // namespace tandem::jobs
