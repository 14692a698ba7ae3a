// The renderer behind frame/renderer.h: topology, pipes, mode and the frames under way. Shared by the sources of this
// folder that implement it; nobody else includes it.
#pragma once

#include <deque>

#include "frame/pipe.h"
#include "frame/renderer.h"
#include "schedule/balancer.h"

namespace tandem::frame {

class RendererImpl final : public Renderer {
 public:
  RendererImpl(std::shared_ptr<const scene::Scene> scene, const PictureSettings& picture,
               const MachineSettings& machine)
      : scene_(std::move(scene)), picture_(picture), machine_(machine) {}
  ~RendererImpl() override {
    pipes_.clear();
    if (source_) source_->clear();
  }

  /// Everything that can be refused. Returns a refusal with an empty message when all is well.
  Refusal build(gpu::Instance& instance, const scene::CameraRequest& camera);

  uint32_t framesInFlight() const override;
  void start(const FrameRequest& request) override;
  FrameResult finish() override;
  std::optional<Refusal> changeMode(Mode mode, std::optional<uint32_t> samples) override;
  Mode mode() const override { return mode_; }
  RunReport report() override;
  std::vector<std::optional<double>> measureCopies() override;

 private:
  struct Started {
    FrameRequest request;
    Pipe* pipe = nullptr;  // null: waits until a pipe has room
  };
  Refusal checkSize() const;
  Refusal checkMode(Mode mode) const;
  Refusal makePipes();
  std::vector<bool> tracingNodes() const;
  Refusal addPipe(const Pipe::Place& place, uint32_t framesInFlight);
  Pipe* choosePipe();
  void startWaiting();
  void recover(const gpu::DeviceError& error);
  void learn(const Pipe* pipe, const FrameResult& result);
  void balance(const FrameResult& result);
  uint64_t takeRays();

  std::shared_ptr<const scene::Scene> scene_;
  PictureSettings picture_;
  MachineSettings machine_;
  Mode mode_ = Mode::Single;
  uint32_t singleNode_ = 0;  // that which `single` runs on
  scene::CameraChoice camera_;
  std::unique_ptr<topology::Topology> topology_;
  std::unique_ptr<trace::HostScene> host_;
  std::shared_ptr<SceneSource> source_;
  std::shared_ptr<post::PostFrame> post_ = std::make_shared<post::PostFrame>();
  std::vector<std::unique_ptr<Pipe>> pipes_;
  std::vector<double> pipeMs_;                  // of a frame, per pipe, damped
  std::optional<schedule::Balancer> balancer_;  // of sfr without forced shares
  bool settles_ = false;                        // the first frame decides the mode
  std::deque<Started> started_;
  std::vector<uint32_t> lastRows_;
  std::vector<LossReport> losses_;
  uint32_t historyResets_ = 0;
};

}  // namespace tandem::frame
