#include "jobs/bench_renderers.h"

#include <optional>

#include "base/log.h"
#include "frame/choose_gpus.h"

namespace tandem::jobs {

using frame::Mode;
using frame::Renderer;

Expected<Renderer*> BenchRenderers::take(const Contender& contender) {
  if (const auto known = renderers_.find(contender); known != renderers_.end()) return known->second.get();
  std::optional<Expected<std::unique_ptr<Renderer>>> made;
  if (together_ && !renderers_.empty()) made = makeBesideOthers(contender);
  if (!made) {
    if (!renderers_.empty()) {
      log::debug("the renderers of all modes do not fit into memory together: each run makes its own");
      together_ = false;
    }
    renderers_.clear();
    made = make(contender);
  }
  if (!*made) return made->refusal();
  return (renderers_[contender] = std::move(**made)).get();
}

Expected<std::unique_ptr<Renderer>> BenchRenderers::make(const Contender& contender) const {
  return Renderer::make(instance_, scene_, picture_, machineFor(instance_, machine_, contender), {});
}

std::optional<Expected<std::unique_ptr<Renderer>>> BenchRenderers::makeBesideOthers(const Contender& contender) const {
  try {
    auto made = make(contender);
    if (made || made.refusal().exit != ExitCode::NoUsableGpu) return made;
  } catch (const AdverseError& error) {
    log::debug("{}", error.what());
  }
  return std::nullopt;
}

frame::MachineSettings machineFor(const gpu::Instance& instance, frame::MachineSettings machine,
                                  const Contender& contender) {
  if (contender.secondGpu) {
    machine.mode = Mode::Pipelined;
    if (const auto gpus = frame::chooseGpus(instance.adapters(), machine)) machine.gpus = std::to_string((*gpus)[1]);
  }
  machine.mode = contender.mode;
  if (contender.mode != Mode::Single) return machine;
  // One node hangs together with nothing and shares with nobody, whatever was asked for the others.
  machine.topology = topology::TopologyKind::Auto;
  machine.shares.clear();
  return machine;
}

}  // namespace tandem::jobs
