#include "jobs/bench.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "jobs/bench_renderers.h"
#include "jobs/interrupt.h"
#include "jobs/load_scene.h"
#include "jobs/open_instance.h"

namespace tandem::jobs {
namespace {

using frame::Mode;

/// What is unset becomes this.
struct Defaults {
  Extent size;
  uint32_t samples = 0;
  uint32_t frames = 0;
  uint32_t repeats = 0;
  WarmUpLimits warmUp;
};
const Defaults kOnGpu{{3840, 2160}, 4, 120, 5, {}};
/// Their clocks do not rise, and what they make is not a measurement.
const Defaults kOnSoftware{{320, 180}, 1, 4, 2, {2, 0.0, 2, 10.0}};

std::string modeList(const std::vector<ModeReport>& modes) {
  std::string text;
  for (const ModeReport& mode : modes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", frame::modeName(mode.mode));
  return text;
}

/// Both in the bundle and in a build folder of the source tree.
std::optional<std::string> findCourtyard() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {program, program.parent_path()}) {
    const fs::path file = folder / "assets" / "scenes" / "courtyard.glb";
    if (fs::exists(file, error)) return file.string();
  }
  return std::nullopt;
}

/// One benchmark between its checks and its end.
class Bench {
 public:
  explicit Bench(const BenchSettings& settings) { report_.settings = settings; }
  Expected<BenchReport> run();

 private:
  std::optional<Refusal> decide();
  std::optional<Refusal> decideModes();
  void decideNumbers(const Defaults& defaults);
  void decideScenes();
  SceneReport measureScene(const std::string& name);
  void measureModes(SceneReport& scene, BenchRenderers& renderers);
  void measureOnce(ModeReport& mode, BenchRenderers& renderers, uint32_t repeat);
  bool nothingMeasured() const;
  void conclude();

  std::unique_ptr<gpu::Instance> instance_;
  std::vector<Mode> modes_;
  std::optional<Refusal> firstRefusal_;  // of a scene or a mode
  bool failed_ = false;                  // the machine did, while it rendered
  BenchReport report_;
};

std::optional<Refusal> Bench::decideModes() {
  frame::MachineSettings& machine = report_.settings.machine;
  modes_ = report_.settings.modes;
  const auto choose = [&](Mode mode) { return frame::chooseGpus(instance_->adapters(), machineFor(machine, mode)); };
  for (const Mode mode : modes_) {
    if (const auto gpus = choose(mode); !gpus) return gpus.refusal();
  }
  if (!modes_.empty()) return std::nullopt;
  if (const auto gpus = choose(Mode::Single); !gpus) return gpus.refusal();
  modes_ = {Mode::Single};
  const auto both = choose(Mode::Pipelined);
  if (machine.topology != topology::TopologyKind::Single && both) {
    modes_.insert(modes_.end(), {Mode::Pipelined, Mode::Sfr, Mode::Afr});
  } else {
    report_.warnings.push_back(
        "only mode single is measured: the others need two GPUs, or one opened twice by --simulate-dual");
    log::warn("{}", report_.warnings.back());
  }
  return std::nullopt;
}

void Bench::decideNumbers(const Defaults& defaults) {
  const BenchSettings& settings = report_.settings;
  report_.picture = settings.picture;
  report_.picture.size = settings.size.value_or(defaults.size);
  report_.picture.samples = settings.samples.value_or(defaults.samples);
  report_.repeats = settings.repeats.value_or(defaults.repeats);
  RunPlan& plan = report_.plan;
  plan.seconds = settings.seconds.value_or(0.0);
  plan.frames = settings.seconds ? 0 : settings.frames.value_or(defaults.frames);
  plan.warmUp = defaults.warmUp;
  plan.times = settings.times;
  plan.readback = settings.readback;
}

void Bench::decideScenes() {
  std::vector<std::string>& scenes = report_.settings.scenes;
  if (!scenes.empty()) return;
  scenes = {"builtin:terrain"};
  if (const auto courtyard = findCourtyard()) {
    scenes.push_back(*courtyard);
  } else {
    report_.warnings.push_back(
        "assets/scenes/courtyard.glb is not beside the program: builtin:terrain alone is measured");
    log::warn("{}", report_.warnings.back());
  }
}

std::optional<Refusal> Bench::decide() {
  auto instance = openInstance(report_.settings.validation);
  if (!instance) return instance.refusal();
  instance_ = std::move(*instance);
  report_.machine = describeMachine(instance_->adapters());
  if (auto refusal = decideModes()) return refusal;
  const auto gpus = frame::chooseGpus(instance_->adapters(), machineFor(report_.settings.machine, modes_.front()));
  if (!gpus) return gpus.refusal();
  const bool software =
      std::ranges::all_of(*gpus, [&](uint32_t index) { return instance_->adapters()[index].software(); });
  decideNumbers(software ? kOnSoftware : kOnGpu);
  decideScenes();
  return std::nullopt;
}

/// Warm-up, timed frames, and the first time the proof frames.
void Bench::measureOnce(ModeReport& mode, BenchRenderers& renderers, uint32_t repeat) {
  const auto renderer = renderers.take(mode.mode);
  if (!renderer) {
    mode.failure = renderer.refusal().message;
    if (!firstRefusal_) firstRefusal_ = renderer.refusal();
    return;
  }
  BenchRun run = measure(**renderer, report_.plan);
  mode.run = (*renderer)->report();
  if (!mode.run.losses.empty()) throw AdverseError("a GPU was lost: " + mode.run.losses.front().what);
  const std::string_view asked = frame::modeName(mode.mode);
  if (mode.run.mode != asked) throw adverse("mode {} was asked for, and {} ran", asked, mode.run.mode);
  run.repeat = repeat;
  if (!run.frameMs.empty()) mode.runs.push_back(std::move(run));
  if (mode.proofs.empty() && InterruptGuard::signal() == 0) mode.proofs = prove(**renderer, report_.plan.times);
}

void Bench::measureModes(SceneReport& scene, BenchRenderers& renderers) {
  for (uint32_t repeat = 1; repeat <= report_.repeats; ++repeat) {
    for (ModeReport& mode : scene.modes) {
      if (InterruptGuard::signal() != 0) return;
      if (mode.failure) continue;
      try {
        measureOnce(mode, renderers, repeat);
      } catch (const AdverseError& error) {
        mode.failure = error.what();
        failed_ = true;
        renderers.drop(mode.mode);
      }
      log::debug("{}: run {} of {} of {} is done", scene.scene, repeat, report_.repeats, frame::modeName(mode.mode));
    }
  }
}

SceneReport Bench::measureScene(const std::string& name) {
  SceneReport scene;
  scene.scene = name;
  auto loaded = loadScene(name, {}, report_.settings.environment);
  if (!loaded) {
    scene.failure = loaded.refusal().message;
    if (!firstRefusal_) firstRefusal_ = loaded.refusal();
    return scene;
  }
  for (const std::string& warning : loaded->warnings) {
    log::warn("{}", warning);
    report_.warnings.push_back(warning);
  }
  for (const Mode mode : modes_) scene.modes.emplace_back().mode = mode;
  log::info("{}: {} runs of {}", name, report_.repeats, modeList(scene.modes));
  BenchRenderers renderers(*instance_, std::make_shared<const scene::Scene>(std::move(loaded->scene)), report_.picture,
                           report_.settings.machine);
  measureModes(scene, renderers);
  return scene;
}

bool Bench::nothingMeasured() const {
  return std::ranges::all_of(report_.scenes, [](const SceneReport& scene) {
    return std::ranges::all_of(scene.modes, [](const ModeReport& mode) { return mode.runs.empty(); });
  });
}

/// Says what went wrong, and decides how the program ends.
void Bench::conclude() {
  bool differ = false;
  for (const SceneReport& scene : report_.scenes) {
    if (scene.failure) log::error("{}: {}", scene.scene, *scene.failure);
    for (const ModeReport& mode : scene.modes) {
      if (mode.failure) log::error("{}, {}: {}", scene.scene, frame::modeName(mode.mode), *mode.failure);
    }
    if (picturesEqual(scene).value_or(true)) continue;
    differ = true;
    log::error("{}: {}", scene.scene, pictureVerdict(scene));
  }
  if (report_.validationMessages > 0)
    log::error("the Vulkan validation layers had {} messages", report_.validationMessages);
  if (report_.interruptedBy != 0) {
    log::warn("interrupted: the report has what was measured until then");
    report_.exit = 128 + report_.interruptedBy;
  } else if (differ || failed_ || report_.validationMessages > 0) {
    report_.exit = static_cast<int>(ExitCode::Failed);
  } else if (firstRefusal_) {
    report_.exit = static_cast<int>(ExitCode::SomeFramesFailed);
  }
}

Expected<BenchReport> Bench::run() {
  const InterruptGuard interrupt;
  if (auto refusal = decide()) return *std::move(refusal);
  for (const std::string& name : report_.settings.scenes) {
    if (InterruptGuard::signal() != 0) break;
    report_.scenes.push_back(measureScene(name));
  }
  report_.interruptedBy = InterruptGuard::signal();
  if (firstRefusal_ && !failed_ && report_.interruptedBy == 0 && nothingMeasured()) return *std::move(firstRefusal_);
  report_.validationMessages = instance_->messages().count();
  conclude();
  return std::move(report_);
}

}  // namespace

Expected<BenchReport> bench(const BenchSettings& settings) { return Bench(settings).run(); }

}  // namespace tandem::jobs
