#include "jobs/bench.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "jobs/bench_resume.h"
#include "jobs/bench_scene.h"
#include "jobs/interrupt.h"
#include "jobs/open_instance.h"

namespace tandem::jobs {
namespace {

using frame::Mode;
using Clock = std::chrono::steady_clock;

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
const Defaults kOnSoftware{{320, 180}, 1, 4, 2, {2, 10.0, 2, 10.0}};

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
  std::optional<Refusal> decideCases();
  void decideNumbers(const Defaults& defaults);
  SceneReport sceneFor(const BenchCase& wanted) const;
  void warn(std::string text);
  void startWatching();
  void stopWatching();
  void measureCases();
  bool outOfTime() const;
  bool nothingMeasured() const;
  void conclude();

  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<gpu::Instance> instance_;
  std::vector<Contender> contenders_;
  std::vector<BenchCase> cases_;
  std::unique_ptr<GpuWatch> watch_;
  std::optional<Refusal> firstRefusal_;  // of a scene or a mode
  bool failed_ = false;                  // the machine did, while it rendered
  BenchReport report_;
};

void Bench::warn(std::string text) {
  log::warn("{}", text);
  report_.warnings.push_back(std::move(text));
}

/// The modes in their order; after `single` the same on the second GPU, where there are two.
std::optional<Refusal> Bench::decideModes() {
  frame::MachineSettings& machine = report_.settings.machine;
  std::vector<Mode> modes = report_.settings.modes;
  const auto choose = [&](Mode mode) {
    return frame::chooseGpus(instance_->adapters(), machineFor(*instance_, machine, {mode, false}));
  };
  if (modes.empty()) {
    if (const auto gpus = choose(Mode::Single); !gpus) return gpus.refusal();
    modes = {Mode::Single};
    if (machine.topology != topology::TopologyKind::Single && choose(Mode::Pipelined)) {
      modes.insert(modes.end(), {Mode::Pipelined, Mode::Sfr, Mode::Afr});
    } else {
      warn("only mode single is measured: the others need two GPUs, or one opened twice by --simulate-dual");
    }
  }
  bool several = false;
  for (const Mode mode : modes) {
    const auto gpus = choose(mode);
    if (!gpus) return gpus.refusal();
    several = several || gpus->size() > 1;
  }
  for (const Mode mode : modes) {
    contenders_.push_back({mode, false});
    if (mode == Mode::Single && several && !machine.simulateDual) contenders_.push_back({mode, true});
  }
  return std::nullopt;
}

void Bench::decideNumbers(const Defaults& defaults) {
  const BenchSettings& settings = report_.settings;
  report_.picture = settings.picture;
  report_.picture.size = settings.size.value_or(defaults.size);
  report_.picture.samples = settings.samples.value_or(defaults.samples);
  report_.picture.bounces = settings.bounces.value_or(report_.picture.bounces);
  report_.repeats = settings.repeats.value_or(defaults.repeats);
  RunPlan& plan = report_.plan;
  plan.seconds = settings.seconds.value_or(0.0);
  plan.frames = settings.seconds ? 0 : settings.frames.value_or(defaults.frames);
  plan.warmUp = defaults.warmUp;
  plan.times = settings.times;
  plan.readback = settings.readback;
}

std::optional<Refusal> Bench::decideCases() {
  BenchSettings& settings = report_.settings;
  for (const std::string& scene : settings.scenes) cases_.emplace_back().scene = scene;
  if (!settings.suite.empty()) {
    auto file = findSuite(settings.suite);
    if (!file) return file.refusal();
    auto suite = readSuite(*file);
    if (!suite) return suite.refusal();
    if (!settings.repeats) settings.repeats = suite->repeats;
    if (!settings.frames && !settings.seconds) {
      settings.frames = suite->frames;
      settings.seconds = suite->seconds;
    }
    cases_ = std::move(suite->cases);
  }
  if (cases_.empty()) {
    cases_.emplace_back().scene = "builtin:terrain";
    if (const auto courtyard = findCourtyard()) {
      cases_.emplace_back().scene = *courtyard;
    } else {
      warn("assets/scenes/courtyard.glb is not beside the program: builtin:terrain alone is measured");
    }
  }
  for (BenchCase& wanted : cases_) {
    if (wanted.name.empty()) wanted.name = wanted.load = wanted.scene;
  }
  return std::nullopt;
}

std::optional<Refusal> Bench::decide() {
  auto instance = openInstance(report_.settings.validation);
  if (!instance) return instance.refusal();
  instance_ = std::move(*instance);
  report_.machine = describeMachine(instance_->adapters());
  if (auto refusal = decideModes()) return refusal;
  const auto gpus =
      frame::chooseGpus(instance_->adapters(), machineFor(*instance_, report_.settings.machine, contenders_.front()));
  if (!gpus) return gpus.refusal();
  const bool software =
      std::ranges::all_of(*gpus, [&](uint32_t index) { return instance_->adapters()[index].software(); });
  if (auto refusal = decideCases()) return refusal;
  decideNumbers(software ? kOnSoftware : kOnGpu);
  if (report_.settings.earlier.empty()) return std::nullopt;
  auto kept = keepWholeCases(report_.settings.earlier, report_, cases_);
  if (!kept) return kept.refusal();
  report_.kept = std::move(*kept);
  return std::nullopt;
}

/// What the command line says counts for every case; what it leaves open is the suite's.
SceneReport Bench::sceneFor(const BenchCase& wanted) const {
  const BenchSettings& settings = report_.settings;
  SceneReport scene;
  scene.wanted = wanted;
  scene.picture = report_.picture;
  scene.plan = report_.plan;
  if (!settings.size) scene.picture.size = wanted.size.value_or(report_.picture.size);
  if (!settings.samples) scene.picture.samples = wanted.samples.value_or(report_.picture.samples);
  if (!settings.bounces) scene.picture.bounces = wanted.bounces.value_or(report_.picture.bounces);
  if (wanted.shutterDegrees) scene.plan.times.shutterDegrees = *wanted.shutterDegrees;
  return scene;
}

void Bench::startWatching() {
  std::vector<std::unique_ptr<GpuProbe>> probes;
  for (const gpu::Adapter& adapter : instance_->adapters()) probes.push_back(makeProbe(adapter));
  watch_ = std::make_unique<GpuWatch>(std::move(probes));
  for (size_t index = 0; index < watch_->size(); ++index) {
    report_.machine.facts[index].watcher = watch_->watcher(index);
    report_.machine.facts[index].before = watch_->state(index);
  }
  if (!report_.settings.sampling) return;
  report_.samplingMs = static_cast<double>(watch_->interval().count());
  watch_->start();
}

void Bench::stopWatching() {
  watch_->stop();
  for (size_t index = 0; index < watch_->size(); ++index) report_.machine.facts[index].after = watch_->state(index);
}

bool Bench::outOfTime() const {
  const std::chrono::duration<double> passed = Clock::now() - begin_;
  return report_.settings.minutes && passed.count() > 60.0 * *report_.settings.minutes;
}

void Bench::measureCases() {
  const BenchTools tools{*instance_,      report_.settings,
                         report_.repeats, report_.settings.sampling ? watch_.get() : nullptr,
                         contenders_,     report_.warnings};
  for (const BenchCase& wanted : cases_) {
    if (InterruptGuard::signal() != 0 || (outOfTime() && !report_.scenes.empty())) {
      ++report_.left;
      continue;
    }
    BenchScene scene(tools, sceneFor(wanted));
    report_.scenes.push_back(scene.run());
    failed_ = failed_ || scene.failed();
    if (!firstRefusal_) firstRefusal_ = scene.refusal();
  }
}

bool Bench::nothingMeasured() const {
  return report_.kept.empty() && std::ranges::all_of(report_.scenes, [](const SceneReport& scene) {
           return std::ranges::all_of(scene.modes, [](const ModeReport& mode) { return mode.runs.empty(); });
         });
}

/// Says what went wrong, and decides how the program ends.
void Bench::conclude() {
  bool differ = false;
  for (const SceneReport& scene : report_.scenes) {
    if (scene.failure) log::error("{}: {}", scene.wanted.name, *scene.failure);
    for (const ModeReport& mode : scene.modes) {
      if (mode.failure) log::error("{}, {}: {}", scene.wanted.name, mode.contender.label(), *mode.failure);
    }
    if (picturesEqual(scene).value_or(true)) continue;
    differ = true;
    log::error("{}: {}", scene.wanted.name, pictureVerdict(scene));
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
  if (report_.interruptedBy == 0 && report_.left > 0)
    log::info("time is up: {} cases are left; the same command with --resume goes on", report_.left);
}

Expected<BenchReport> Bench::run() {
  const InterruptGuard interrupt;
  if (auto refusal = decide()) return *std::move(refusal);
  startWatching();
  measureCases();
  stopWatching();
  report_.interruptedBy = InterruptGuard::signal();
  if (firstRefusal_ && !failed_ && report_.interruptedBy == 0 && nothingMeasured()) return *std::move(firstRefusal_);
  report_.validationMessages = instance_->messages().count();
  conclude();
  return std::move(report_);
}

}  // namespace

Expected<BenchReport> bench(const BenchSettings& settings) { return Bench(settings).run(); }

}  // namespace tandem::jobs
