// What one run renders and how, in the words of the command line. Plain data; checked by Renderer::make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/math.h"
#include "gpu/seam.h"
#include "post/tonemap.h"
#include "scene/camera.h"
#include "topology/topology.h"

namespace tandem::frame {

/// Where passes run (README.md, "Modes").
enum class Mode {
  Auto,       // pipelined where there are two nodes, single otherwise
  Single,     // everything on the primary
  Pipelined,  // ray tracing on the primary, post on the secondary, frame N's post beside frame N+1's rays
};

std::string_view modeName(Mode mode);

/// Planes that may be written beside the picture (`--aov`).
enum class Aov { Albedo, Normal, Depth, Motion };

std::string_view aovName(Aov aov);

/// The picture.
struct PictureSettings {
  Extent size{3840, 2160};
  uint32_t samples = 4;
  uint32_t bounces = 4;
  uint32_t seed = 0;
  post::Tone tone = post::Tone::Aces;
  std::optional<float> ev;  // unset: automatic, from the frame's own histogram
  bool motionBlur = true;
  std::vector<Aov> aovs;
};

/// The machine.
struct MachineSettings {
  std::string gpus = "auto";  // auto | A[,B]: index, UUID prefix, PCI address or name
  bool simulateDual = false;  // one GPU opened twice
  Mode mode = Mode::Auto;
  topology::LinkKind link = topology::LinkKind::Auto;
  uint32_t framesInFlight = 2;
  gpu::Seam seam;  // tests only
};

}  // namespace tandem::frame
