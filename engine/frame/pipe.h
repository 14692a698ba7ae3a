// A pipe: the frame's graph compiled for some nodes of a topology, and running there. The renderer has one, or in
// alternate-frame rendering one per node. Render thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "exec/executor.h"
#include "frame/frame.h"
#include "frame/renderer.h"
#include "frame/scene_source.h"

namespace tandem::frame {

/// What all pipes of a renderer share.
struct PipeParts {
  topology::Topology& topology;
  const PictureSettings& picture;
  const trace::HostScene& host;
  std::shared_ptr<SceneSource> source;
  std::shared_ptr<post::PostFrame> post;
  const std::optional<exec::SlowPass>& slowPass;
};

class Pipe {
 public:
  using Place = std::function<graph::Placement(const graph::Graph&)>;

  /// Compiles, checks memory, uploads the scene to the nodes that trace, connects. Refuses with the reason.
  static Expected<std::unique_ptr<Pipe>> make(const PipeParts& parts, const Place& place, uint32_t framesInFlight);

  bool full() const { return underWay_.size() == executor_->framesInFlight(); }
  bool idle() const { return underWay_.empty(); }
  /// Records and starts a frame whose scene has been posed already.
  void start(const FrameRequest& request, const scene::Camera& camera);
  /// Waits for the oldest frame under way.
  FrameResult finish();

  exec::Executor& executor() { return *executor_; }
  const graph::Graph& graph() const { return graph_; }
  /// What each pass moves through memory in a whole frame.
  std::vector<PassTraffic> traffic() const;
  /// Per node: whether it runs ray tracing, and so holds the scene.
  std::vector<bool> tracingNodes() const;

 private:
  Pipe(const PipeParts& parts, uint32_t framesInFlight) : parts_(parts), readbacks_(framesInFlight) {}
  Refusal build(const Place& place, uint32_t framesInFlight);
  Refusal checkMemory(const graph::Plan& plan) const;
  std::vector<exec::TransferReport> takeTransfers();

  struct UnderWay {
    uint64_t serial = 0;
    FrameRequest request;
    scene::Camera camera;
  };
  PipeParts parts_;
  FrameReadbacks readbacks_;
  graph::Graph graph_;
  std::unique_ptr<exec::Executor> executor_;
  std::deque<UnderWay> underWay_;
};

}  // namespace tandem::frame
