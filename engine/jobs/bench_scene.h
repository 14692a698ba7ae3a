// One case of a benchmark: a scene in all modes, in turn.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpu/instance.h"
#include "jobs/bench_renderers.h"
#include "jobs/bench_report.h"

namespace tandem::jobs {

/// What cases share. Everything outlives the measurement.
struct BenchTools {
  gpu::Instance& instance;
  const BenchSettings& settings;
  uint32_t repeats = 1;
  GpuWatch* watch = nullptr;  // null: nobody watches
  const std::vector<Contender>& contenders;
  std::vector<std::string>& warnings;  // grows
};

/// Measures one case and ends early, at a frame's boundary, on SIGINT and SIGTERM. What failed is in the report. Render
/// thread.
class BenchScene {
 public:
  /// `scene`: the case as wanted, with picture and plan decided.
  BenchScene(const BenchTools& tools, SceneReport scene) : tools_(tools), scene_(std::move(scene)) {}

  SceneReport run();
  /// The first thing that was refused.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  /// Whether the machine failed meanwhile.
  bool failed() const { return failed_; }

 private:
  void measureModes();
  void measureOnce(ModeReport& mode, uint32_t repeat);
  void measureOutsideTime(ModeReport& mode, frame::Renderer& renderer);
  void note(const Refusal& refusal);

  const BenchTools& tools_;
  SceneReport scene_;
  std::optional<BenchRenderers> renderers_;
  std::optional<Refusal> refusal_;
  bool failed_ = false;
};

}  // namespace tandem::jobs
