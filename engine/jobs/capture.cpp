#include "jobs/capture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <glm/gtc/matrix_transform.hpp>
#include <thread>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "jobs/frame_writer.h"
#include "jobs/interrupt.h"
#include "jobs/load_scene.h"
#include "jobs/open_instance.h"
#include "jobs/progress.h"
#include "jobs/targets.h"
#include "jobs/version.h"

namespace tandem::jobs {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr uint32_t kSamplesOnSoftware = 4;
constexpr uint32_t kSamplesOnGpu = 64;

Expected<uint32_t> defaultSamples(const gpu::Instance& instance, const frame::MachineSettings& machine) {
  const auto gpus = frame::chooseGpus(instance.adapters(), machine);
  if (!gpus) return gpus.refusal();
  const bool software =
      std::ranges::all_of(*gpus, [&](uint32_t index) { return instance.adapters()[index].software(); });
  return software ? kSamplesOnSoftware : kSamplesOnGpu;
}

output::ExrCamera exrCamera(const scene::Camera& camera, Extent size) {
  // Near and far only scale depth, which the file's matrices are not used for.
  constexpr float kNear = 0.01f, kFar = 1000.0f;
  const float aspect = static_cast<float>(size.width) / static_cast<float>(size.height);
  output::ExrCamera result;
  result.worldToView = glm::lookAtRH(camera.eye, camera.eye + camera.forward, camera.up);
  if (camera.orthographic) {
    const float halfWidth = camera.halfHeight * aspect;
    result.viewToClip = glm::orthoRH_ZO(-halfWidth, halfWidth, -camera.halfHeight, camera.halfHeight, kNear, kFar);
  } else {
    result.viewToClip = glm::perspectiveRH_ZO(2.0f * std::atan(camera.tanHalfYfov), aspect, kNear, kFar);
  }
  return result;
}

template <class T>
std::vector<T> copyOf(std::span<const T> pixels) {
  return {pixels.begin(), pixels.end()};
}

/// The loop over frames, and what it gathers.
class CaptureLoop {
 public:
  CaptureLoop(const CaptureSettings& settings, frame::Renderer& renderer, CaptureReport& report)
      : settings_(settings), renderer_(renderer), report_(report) {}

  void run(const std::vector<Target>& targets);

 private:
  struct UnderWay {
    const Target* target = nullptr;
    Clock::time_point begin;
  };
  void start(const Target& target);
  void finishOldest(FrameWriter& writer);
  FrameJob makeJob(const Target& target, const frame::FrameResult& result) const;
  void noteWritten(std::vector<WrittenFrame> written);

  const CaptureSettings& settings_;
  frame::Renderer& renderer_;
  CaptureReport& report_;
  std::deque<UnderWay> underWay_;
  std::vector<std::vector<exec::PassReport>> passes_;
};

void CaptureLoop::run(const std::vector<Target>& targets) {
  const Clock::time_point begin = Clock::now();
  std::vector<const Target*> todo;
  for (const Target& target : targets) {
    if (!target.kept) todo.push_back(&target);
  }
  // One EXR costs one core; half of the cores stay with the renderer, and each thread holds a frame in memory.
  const uint32_t threads = std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u);
  const auto existing =
      settings_.existing == ExistingFrames::Refuse ? output::Existing::Keep : output::Existing::Replace;
  FrameWriter writer({existing, settings_.compression, threads});
  Progress progress(todo.size(), !settings_.quiet);
  size_t next = 0;
  while (true) {
    const bool more = next < todo.size() && InterruptGuard::signal() == 0 && !writer.hopeless();
    if (more && underWay_.size() < renderer_.framesInFlight()) {
      start(*todo[next++]);
    } else if (!underWay_.empty()) {
      finishOldest(writer);
      progress.update(next - underWay_.size());
    } else {
      break;
    }
  }
  noteWritten(writer.finish());
  report_.seconds = secondsSince(begin);
  report_.passes = medianPasses(passes_);
}

void CaptureLoop::start(const Target& target) {
  renderer_.start(requestFor(target.frame, settings_.times));
  underWay_.push_back({&target, Clock::now()});
}

void CaptureLoop::finishOldest(FrameWriter& writer) {
  const UnderWay oldest = underWay_.front();
  underWay_.pop_front();
  const frame::FrameResult result = renderer_.finish();
  CapturedFrame frame;
  frame.frame = oldest.target->frame;
  frame.files = oldest.target->files;
  frame.seconds = secondsSince(oldest.begin);
  frame.ev = result.ev;
  report_.frames.push_back(std::move(frame));
  passes_.push_back(result.passes);
  writer.push(makeJob(*oldest.target, result));
}

FrameJob CaptureLoop::makeJob(const Target& target, const frame::FrameResult& result) const {
  FrameJob job;
  job.frame = target.frame;
  job.files = target.files;
  job.size = settings_.picture.size;
  job.linear = copyOf(result.linear);
  job.ldr = copyOf(result.ldr);
  job.albedo = copyOf(result.albedo);
  job.normal = copyOf(result.normal);
  job.depth = copyOf(result.depth);
  job.motion = copyOf(result.motion);
  job.metadata.frame = target.frame;
  job.metadata.exposureEv = result.ev;
  job.metadata.framesPerSecondNumerator = static_cast<int>(settings_.times.rate.numerator);
  job.metadata.framesPerSecondDenominator = static_cast<int>(settings_.times.rate.denominator);
  job.metadata.shutterSeconds = static_cast<float>(settings_.times.shutterSeconds());
  job.metadata.camera = exrCamera(result.camera, job.size);
  job.metadata.software = fmt::format("Tandem {}", kVersion);
  job.metadata.more = {{"tandem.scene", settings_.scene},
                       {"tandem.samples", std::to_string(report_.picture.samples)},
                       {"tandem.bounces", std::to_string(report_.picture.bounces)},
                       {"tandem.seed", std::to_string(report_.picture.seed)}};
  return job;
}

void CaptureLoop::noteWritten(std::vector<WrittenFrame> written) {
  for (WrittenFrame& frame : written) {
    const auto entry = std::ranges::find_if(
        report_.frames, [&](const CapturedFrame& captured) { return captured.frame == frame.frame && !captured.kept; });
    TANDEM_CHECK(entry != report_.frames.end(), "frame {} was written and never rendered", frame.frame);
    entry->linearHash = frame.linearHash;
    entry->ldrHash = frame.ldrHash;
    entry->failure = std::move(frame.failure);
  }
  std::ranges::sort(report_.frames, {}, &CapturedFrame::frame);
}

/// Says what went wrong, and decides how the program ends.
void conclude(CaptureReport& report) {
  size_t onDisk = 0, failed = 0;
  for (const CapturedFrame& frame : report.frames) {
    (frame.failure ? failed : onDisk) += 1;
    if (frame.failure) log::error("frame {}: {}", frame.frame, *frame.failure);
  }
  const size_t missing = report.planned - onDisk;
  if (report.interruptedBy != 0) {
    log::warn("interrupted: {} of {} frames are on disk{}", onDisk, report.planned,
              missing > 0 ? "; the same command with --resume renders the rest" : "");
    report.exit = 128 + report.interruptedBy;
  } else if (failed > 0) {
    if (missing > failed)
      log::error("stopped after {} failures in a row, {} frames were not rendered", FrameWriter::kHopeless,
                 missing - failed);
    report.exit = static_cast<int>(onDisk > 0 ? ExitCode::SomeFramesFailed : ExitCode::Failed);
  } else if (report.validationMessages > 0) {
    log::error("the Vulkan validation layers had {} messages", report.validationMessages);
    report.exit = static_cast<int>(ExitCode::Failed);
  }
}

/// Opens the devices, renders and closes them again. A refusal, or nothing.
std::optional<Refusal> render(const CaptureSettings& settings, scene::Scene scene, const std::vector<Target>& targets,
                              Clock::time_point begin, CaptureReport& report) {
  auto instance = openInstance(settings.validation);
  if (!instance) return instance.refusal();
  const auto samples =
      settings.samples ? Expected<uint32_t>(*settings.samples) : defaultSamples(**instance, settings.machine);
  if (!samples) return samples.refusal();
  report.picture.samples = *samples;
  {
    auto renderer = frame::Renderer::make(**instance, std::make_shared<const scene::Scene>(std::move(scene)),
                                          report.picture, settings.machine, settings.camera);
    if (!renderer) return renderer.refusal();
    report.loadSeconds = secondsSince(begin);
    CaptureLoop(settings, **renderer, report).run(targets);
    report.run = (*renderer)->report();
  }
  // Counted when all devices are gone: layers report what was never freed.
  report.validationMessages = (*instance)->messages().count();
  return std::nullopt;
}

}  // namespace

Expected<CaptureReport> capture(const CaptureSettings& settings) {
  const Clock::time_point begin = Clock::now();
  const InterruptGuard interrupt;
  const auto targets = planTargets(settings);
  if (!targets) return targets.refusal();
  auto loaded = loadScene(settings.scene, settings.environment);
  if (!loaded) return loaded.refusal();
  for (const std::string& warning : loaded->warnings) log::warn("{}", warning);
  if (auto refusal = prepareFolders(*targets)) return *std::move(refusal);

  CaptureReport report;
  report.picture = settings.picture;
  report.planned = targets->size();
  report.warnings = std::move(loaded->warnings);
  for (const Target& target : *targets) {
    if (!target.kept) continue;
    CapturedFrame kept;
    kept.frame = target.frame;
    kept.files = target.files;
    kept.kept = true;
    report.frames.push_back(std::move(kept));
  }
  if (report.frames.size() < targets->size() && InterruptGuard::signal() == 0) {
    if (auto refusal = render(settings, std::move(loaded->scene), *targets, begin, report)) return *std::move(refusal);
  }
  report.interruptedBy = InterruptGuard::signal();
  conclude(report);
  return report;
}

}  // namespace tandem::jobs
