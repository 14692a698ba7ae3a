// The scene of a run: one copy on every device that traces, and the pose of the frame that is being recorded. Render
// thread.
#pragma once

#include <map>
#include <memory>

#include "trace/path_trace.h"

namespace tandem::frame {

class SceneSource final : public trace::TraceSource {
 public:
  explicit SceneSource(const trace::HostScene& host) : host_(host) {}

  /// Uploads where the device has none yet.
  trace::GpuScene& sceneOn(gpu::Device& device) override {
    auto& scene = scenes_[&device];
    if (!scene) scene = std::make_unique<trace::GpuScene>(device, host_);
    return *scene;
  }
  const trace::FrameScene& frame() const override { return *frame_; }
  void setFrame(trace::FrameScene frame) { frame_ = std::make_unique<trace::FrameScene>(std::move(frame)); }
  bool has(gpu::Device& device) const { return scenes_.contains(&device); }
  /// Of the device's copy; 0 where there is none.
  uint64_t bytesOn(gpu::Device& device) const {
    const auto found = scenes_.find(&device);
    return found == scenes_.end() ? 0 : found->second->bytes();
  }
  void drop(gpu::Device& device) { scenes_.erase(&device); }
  void clear() { scenes_.clear(); }

 private:
  const trace::HostScene& host_;
  std::map<gpu::Device*, std::unique_ptr<trace::GpuScene>> scenes_;
  std::unique_ptr<trace::FrameScene> frame_;
};

}  // namespace tandem::frame
