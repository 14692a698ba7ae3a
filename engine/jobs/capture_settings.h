// One run of `tandem capture`, in the words of its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/settings.h"
#include "jobs/frame_time.h"
#include "output/image_writer.h"
#include "scene/camera.h"
#include "scene/gltf.h"

namespace tandem::jobs {

/// What happens to pictures that are there already.
enum class ExistingFrames {
  Refuse,   // the run does not begin
  Replace,  // --overwrite
  Resume,   // --resume: frames that are whole and were made as this run would are kept
};

struct CaptureSettings {
  std::string scene;                  // a .gltf, a .glb, or builtin:NAME
  scene::LoadOptions load;            // of files
  std::string environment;            // a .hdr; empty: what the scene brings, a sky for files
  std::vector<std::string> patterns;  // -o, one or more
  std::string frames = "1";           // output/sequence.h
  frame::PictureSettings picture;     // samples are set by `samples`
  std::optional<uint32_t> samples;    // unset: 4 where only software devices render, 64 otherwise
  frame::MachineSettings machine;
  scene::CameraRequest camera;
  FrameTimes times;
  output::Compression compression = output::Compression::Zip;
  ExistingFrames existing = ExistingFrames::Refuse;
  std::string trace;  // a file for jobs/trace_file.h; empty: none
  bool validation = false;
  bool quiet = false;  // no progress line
};

}  // namespace tandem::jobs
