#include "jobs/bench_renderers.h"

#include <optional>

#include "base/log.h"

namespace tandem::jobs {

using frame::Mode;
using frame::Renderer;

Expected<Renderer*> BenchRenderers::take(Mode mode) {
  if (const auto known = renderers_.find(mode); known != renderers_.end()) return known->second.get();
  std::optional<Expected<std::unique_ptr<Renderer>>> made;
  if (together_ && !renderers_.empty()) made = makeBesideOthers(mode);
  if (!made) {
    if (!renderers_.empty()) {
      log::debug("the renderers of all modes do not fit into memory together: each run makes its own");
      together_ = false;
    }
    renderers_.clear();
    made = make(mode);
  }
  if (!*made) return made->refusal();
  return (renderers_[mode] = std::move(**made)).get();
}

Expected<std::unique_ptr<Renderer>> BenchRenderers::make(Mode mode) const {
  return Renderer::make(instance_, scene_, picture_, machineFor(machine_, mode), {});
}

std::optional<Expected<std::unique_ptr<Renderer>>> BenchRenderers::makeBesideOthers(Mode mode) const {
  try {
    auto made = make(mode);
    if (made || made.refusal().exit != ExitCode::NoUsableGpu) return made;
  } catch (const AdverseError& error) {
    log::debug("{}", error.what());
  }
  return std::nullopt;
}

frame::MachineSettings machineFor(frame::MachineSettings machine, Mode mode) {
  machine.mode = mode;
  // One node hangs together with nothing, whatever was asked for the others.
  if (mode == Mode::Single) machine.topology = topology::TopologyKind::Auto;
  return machine;
}

}  // namespace tandem::jobs
