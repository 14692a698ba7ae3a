#include "jobs/bench_scene.h"

#include <algorithm>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "jobs/interrupt.h"
#include "jobs/load_scene.h"
#include "jobs/tracer_choice.h"

namespace tandem::jobs {
namespace {

std::string labels(const std::vector<Contender>& contenders) {
  std::string text;
  for (const Contender& contender : contenders) text += (text.empty() ? "" : ", ") + contender.label();
  return text;
}

}  // namespace

void BenchScene::note(const Refusal& refusal) {
  if (!refusal_) refusal_ = refusal;
}

/// The proof frames, the rays, and how fast the GPUs copy: once a mode, or once a scene.
void BenchScene::measureOutsideTime(ModeReport& mode, frame::Renderer& renderer) {
  if (mode.proofs.empty()) mode.proofs = prove(renderer, scene_.plan.times);
  if (!scene_.raysPerFrame) scene_.raysPerFrame = countRays(renderer, scene_.plan.times);
  scene_.copyGbps.resize(tools_.instance.adapters().size());
  const bool known =
      std::ranges::all_of(mode.adapters, [&](uint32_t index) { return scene_.copyGbps[index].has_value(); });
  if (known) return;
  const auto measured = renderer.measureCopies();
  for (size_t node = 0; node < measured.size(); ++node) scene_.copyGbps[mode.adapters[node]] = measured[node];
}

/// Warm-up, timed frames, and the first time the proof frames.
void BenchScene::measureOnce(ModeReport& mode, uint32_t repeat) {
  const auto renderer = renderers_->take(mode.contender);
  if (!renderer) {
    mode.failure = renderer.refusal().message;
    note(renderer.refusal());
    return;
  }
  BenchRun run = measure(**renderer, scene_.plan, tools_.watch);
  mode.run = (*renderer)->report();
  if (!mode.run.losses.empty()) throw AdverseError("a GPU was lost: " + mode.run.losses.front().what);
  const std::string_view asked = frame::modeName(mode.contender.mode);
  if (mode.run.mode != asked) throw adverse("mode {} was asked for, and {} ran", asked, mode.run.mode);
  run.repeat = repeat;
  if (!run.frameMs.empty()) mode.runs.push_back(std::move(run));
  if (InterruptGuard::signal() == 0) measureOutsideTime(mode, **renderer);
}

void BenchScene::measureModes() {
  for (uint32_t repeat = 1; repeat <= tools_.repeats; ++repeat) {
    for (ModeReport& mode : scene_.modes) {
      if (InterruptGuard::signal() != 0) return;
      if (mode.failure) continue;
      try {
        measureOnce(mode, repeat);
      } catch (const AdverseError& error) {
        mode.failure = error.what();
        failed_ = true;
        renderers_->drop(mode.contender);
      }
      log::debug("{}: run {} of {} of {} is done", scene_.wanted.name, repeat, tools_.repeats, mode.contender.label());
    }
  }
  scene_.whole = true;
}

SceneReport BenchScene::run() {
  auto loaded = loadScene(scene_.wanted.load, {}, tools_.settings.environment);
  if (!loaded) {
    scene_.failure = loaded.refusal().message;
    note(loaded.refusal());
    return std::move(scene_);
  }
  for (const std::string& warning : loaded->warnings) {
    log::warn("{}", warning);
    tools_.warnings.push_back(warning);
  }
  const auto loadedScene = std::make_shared<const scene::Scene>(std::move(loaded->scene));
  frame::MachineSettings machine = tools_.settings.machine;
  const auto tracer = chooseTracer(tools_.instance, loadedScene, scene_.picture, machine);
  if (!tracer) {
    scene_.failure = tracer.refusal().message;
    note(tracer.refusal());
    return std::move(scene_);
  }
  machine.tracer = *tracer;
  const std::vector<frame::Mode>& only = scene_.wanted.modes;
  std::vector<Contender> contenders;
  for (const Contender& contender : tools_.contenders) {
    if (only.empty() || std::ranges::find(only, contender.mode) != only.end()) contenders.push_back(contender);
  }
  for (const Contender& contender : contenders) {
    ModeReport& mode = scene_.modes.emplace_back();
    mode.contender = contender;
    const auto gpus = frame::chooseGpus(tools_.instance.adapters(), machineFor(tools_.instance, machine, contender));
    if (gpus) mode.adapters = *gpus;
  }
  log::info("{}: {} runs of {}, traced by {}", scene_.wanted.name, tools_.repeats, labels(contenders),
            frame::tracerName(machine.tracer));
  renderers_.emplace(tools_.instance, loadedScene, scene_.picture, machine);
  measureModes();
  renderers_.reset();
  return std::move(scene_);
}

}  // namespace tandem::jobs
