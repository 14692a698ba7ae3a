// The renderers of a benchmark, one a contender.
#pragma once

#include <map>
#include <memory>

#include "frame/renderer.h"
#include "jobs/bench_report.h"

namespace tandem::jobs {

/// All are kept while they fit into the GPUs' memory together; otherwise one at a time, made anew for each run.
class BenchRenderers {
 public:
  BenchRenderers(gpu::Instance& instance, std::shared_ptr<const scene::Scene> scene, frame::PictureSettings picture,
                 frame::MachineSettings machine)
      : instance_(instance), scene_(std::move(scene)), picture_(std::move(picture)), machine_(std::move(machine)) {}

  /// Valid until the next take() or drop(). Refuses and throws as Renderer::make.
  Expected<frame::Renderer*> take(const Contender& contender);
  void drop(const Contender& contender) { renderers_.erase(contender); }

 private:
  Expected<std::unique_ptr<frame::Renderer>> make(const Contender& contender) const;
  /// The same, or nothing where it does not fit beside the others.
  std::optional<Expected<std::unique_ptr<frame::Renderer>>> makeBesideOthers(const Contender& contender) const;

  gpu::Instance& instance_;
  std::shared_ptr<const scene::Scene> scene_;
  frame::PictureSettings picture_;
  frame::MachineSettings machine_;
  std::map<Contender, std::unique_ptr<frame::Renderer>> renderers_;
  bool together_ = true;
};

/// The machine as it is opened for one contender.
frame::MachineSettings machineFor(const gpu::Instance& instance, frame::MachineSettings machine,
                                  const Contender& contender);

}  // namespace tandem::jobs
