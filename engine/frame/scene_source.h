// The scene of a run: one copy on every device that traces, and the pose of the frame that is being recorded. Render
// thread.
#pragma once

#include <map>
#include <memory>

#include "trace/path_trace.h"

namespace tandem::frame {

class SceneSource final : public trace::TraceSource {
 public:
  SceneSource(const trace::HostScene& host, trace::Tracer tracer) : host_(host), tracer_(tracer) {}

  /// Uploads where the device has none yet.
  trace::GpuScene& sceneOn(gpu::Device& device) override {
    const auto found = scenes_.find(&device);
    if (found != scenes_.end()) return *found->second;
    auto scene = std::make_unique<trace::GpuScene>(device, host_, tracer_);  // may throw: kept only when it is whole
    return *scenes_.emplace(&device, std::move(scene)).first->second;
  }
  const trace::FrameScene& frame() const override { return *frame_; }
  void setFrame(trace::FrameScene frame) { frame_ = std::make_unique<trace::FrameScene>(std::move(frame)); }
  bool has(gpu::Device& device) const { return scenes_.contains(&device); }
  /// Of the device's copy; 0 where there is none.
  uint64_t bytesOn(gpu::Device& device) const {
    const auto found = scenes_.find(&device);
    return found == scenes_.end() ? 0 : found->second->bytes();
  }
  trace::Tracer tracer() const { return tracer_; }
  void drop(gpu::Device& device) { scenes_.erase(&device); }
  void clear() { scenes_.clear(); }

 private:
  const trace::HostScene& host_;
  trace::Tracer tracer_;
  std::map<gpu::Device*, std::unique_ptr<trace::GpuScene>> scenes_;
  std::unique_ptr<trace::FrameScene> frame_;
};

}  // namespace tandem::frame
