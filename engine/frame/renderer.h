// The renderer: owns topology, graph and executor for one scene, and turns frame numbers into finished pictures. Used
// by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "exec/executor.h"
#include "frame/settings.h"
#include "gpu/instance.h"
#include "scene/animation.h"
#include "scene/camera.h"
#include "scene/scene.h"
#include "shaders/shared/planes.h"

namespace tandem::frame {

/// One frame to render. Times in seconds of the scene; the shutter is open from `open` to `close`, `centre` is what the
/// picture shows.
struct FrameRequest {
  uint32_t frame = 0;  // number; with scene, settings and seed it decides every pixel
  double centre = 0.0;
  double open = 0.0;
  double close = 0.0;
  bool readback = true;    // false: the finished planes stay on the device (benchmarks)
  bool countRays = false;  // slower; only for a frame that is under way alone
};

/// A finished frame. The spans point into host-visible memory and are valid until the next start(); empty without
/// readback.
struct FrameResult {
  FrameRequest request;
  scene::Camera camera;
  std::span<const shared::RadianceTexel> linear;  // after motion blur, before exposure and tone mapping
  std::span<const shared::LdrTexel> ldr;
  std::span<const shared::AlbedoTexel> albedo;  // each AOV empty unless asked for
  std::span<const shared::NormalTexel> normal;
  std::span<const shared::DepthTexel> depth;
  std::span<const shared::MotionTexel> motion;
  float ev = 0.0f;  // the exposure that tone mapping used
  std::vector<exec::PassReport> passes;
  std::vector<exec::TransferReport> transfers;  // since the frame before; `frame` is a request's number
  std::vector<uint32_t> rowsOfNode;             // rows that each node traced
  std::optional<uint64_t> rays;                 // closest-hit and shadow rays, where they were counted
};

struct NodeReport {
  uint32_t node = 0;
  std::string adapter;
  std::string uuid;
  std::string pci;
  std::string driver;
  std::string type;
  std::string tracer;       // "compute", "rt", or "none" where the node traces nothing
  uint32_t rows = 0;        // rows that the node traced in the last frame
  uint64_t sceneBytes = 0;  // device memory of the node's copy of the scene; 0: it has none
};

/// A GPU that was lost on the way, and without which the run went on.
struct LossReport {
  uint32_t node = 0;
  std::string gpu;
  uint32_t frame = 0;  // the oldest frame then under way; it and those after it were rendered again
  std::string what;    // names the call and the work
};

/// The planes that a pass reads and writes, whole: the least that it moves through memory.
struct PassTraffic {
  std::string name;
  uint64_t bytes = 0;
  bool sceneToo = false;  // and the scene on top, as much as its rays need
};

/// What ran where, for people and for --json.
struct RunReport {
  std::string mode;  // the mode that ran
  std::string topology;
  std::string camera;
  Extent size;
  std::vector<NodeReport> nodes;
  std::vector<std::pair<std::string, uint32_t>> nodeOfPass;
  std::vector<PassTraffic> traffic;
  std::vector<exec::LinkUse> links;
  std::vector<LossReport> losses;
  uint32_t historyResets = 0;   // by losses and changes of mode, of graphs with temporal passes
  uint64_t sceneTriangles = 0;  // of all instances
  uint64_t sceneBytes = 0;      // on a node that traces
};

class Renderer {
 public:
  /// Opens devices, uploads the scene, compiles and connects. Refuses with the reason: no GPU, unknown camera, too
  /// little memory (with the numbers), a size past the device's limits, a mode that needs two nodes.
  static Expected<std::unique_ptr<Renderer>> make(gpu::Instance& instance, std::shared_ptr<const scene::Scene> scene,
                                                  const PictureSettings& picture, const MachineSettings& machine,
                                                  const scene::CameraRequest& camera);
  virtual ~Renderer() = default;

  /// How many frames may be started before the first must be finished.
  virtual uint32_t framesInFlight() const = 0;
  virtual void start(const FrameRequest& request) = 0;
  /// Waits for the oldest frame under way: frames come out in the order of start() in every mode. Where a GPU is lost
  /// and another is left, the frames under way are rendered again there and the run goes on with it alone.
  virtual FrameResult finish() = 0;
  /// Changes to another mode. Only while no frame is under way. A refusal leaves no frame to be rendered.
  /// `samples`: paths per pixel from then on; unset: as before.
  virtual std::optional<Refusal> changeMode(Mode mode, std::optional<uint32_t> samples = std::nullopt) = 0;
  virtual Mode mode() const = 0;
  /// Only while no frame is under way.
  virtual RunReport report() = 0;
  /// 1e9 bytes a second that each node's GPU reads and writes while it copies within its memory (both count). Nothing
  /// where it has no timestamps. Only while no frame is under way.
  virtual std::vector<std::optional<double>> measureCopies() = 0;
};

}  // namespace tandem::frame
