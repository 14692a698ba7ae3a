// What one run renders and how, in the words of the command line. Plain data; checked by Renderer::make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/math.h"
#include "exec/slow_pass.h"
#include "gpu/seam.h"
#include "post/tonemap.h"
#include "scene/camera.h"
#include "topology/topology.h"

namespace tandem::frame {

/// Where passes run (README.md, "Modes").
enum class Mode {
  Auto,       // the planner's choice from measured times; single where there is one node
  Single,     // everything on the primary
  Pipelined,  // ray tracing on the primary, post on the secondary, frame N's post beside frame N+1's rays
  Sfr,        // split-frame rendering: as pipelined, and all nodes trace a share of the rows, balanced every frame
  Afr,        // alternate-frame rendering: whole frames on each node; only for graphs without temporal passes
};

std::string_view modeName(Mode mode);

/// By whose traversal rays find what they hit (`--tracer`). All nodes of a run take the same: pictures by the two may
/// differ where a ray meets an edge.
enum class Tracer {
  Auto,     // the quicker one (jobs/tracer_choice.h); what renders before that was found out takes compute
  Compute,  // our own, on every GPU
  Rt,       // the driver's ray-tracing pipelines
};

std::string_view tracerName(Tracer tracer);

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
  bool simulateDual = false;  // one GPU opened several times
  uint32_t simulatedNodes = 2;
  Mode mode = Mode::Auto;
  Tracer tracer = Tracer::Compute;
  topology::TopologyKind topology = topology::TopologyKind::Auto;
  topology::LinkKind link = topology::LinkKind::Auto;
  double linkGbps = 0.0;                   // throttles every link; 0: as fast as it goes
  std::vector<double> shares;              // sfr: share of the rows per node, for good; empty: balanced every frame
  uint32_t framesInFlight = 3;             // of one node in afr, of all in the other modes
  gpu::Seam seam;                          // tests only
  std::optional<exec::SlowPass> slowPass;  // would a benchmark notice?
};

}  // namespace tandem::frame
