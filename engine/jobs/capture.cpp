#include "jobs/capture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <glm/gtc/matrix_transform.hpp>
#include <thread>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "jobs/fingerprint.h"
#include "jobs/frame_log.h"
#include "jobs/frame_writer.h"
#include "jobs/interrupt.h"
#include "jobs/load_scene.h"
#include "jobs/open_instance.h"
#include "jobs/progress.h"
#include "jobs/report_file.h"
#include "jobs/targets.h"
#include "jobs/trace_file.h"
#include "jobs/version.h"

namespace tandem::jobs {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr uint32_t kSamplesOnSoftware = 4;
constexpr uint32_t kSamplesOnGpu = 64;

Expected<uint32_t> samplesFor(const CaptureSettings& settings, const gpu::Instance& instance) {
  if (settings.samples) return *settings.samples;
  const auto gpus = frame::chooseGpus(instance.adapters(), settings.machine);
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
  CaptureLoop(const CaptureSettings& settings, frame::Renderer& renderer, FrameLog& log, CaptureReport& report,
              TraceFile& trace)
      : settings_(settings), renderer_(renderer), log_(log), report_(report), trace_(trace) {}

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
  FrameLog& log_;
  CaptureReport& report_;
  TraceFile& trace_;
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
  FrameWriter writer({existing, settings_.compression, threads, &log_});
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
  FrameJob job = makeJob(*oldest.target, result);
  job.seconds = frame.seconds;
  report_.frames.push_back(std::move(frame));
  passes_.push_back(result.passes);
  if (!settings_.trace.empty()) trace_.add(result);
  writer.push(std::move(job));
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
    if (!settings_.trace.empty()) trace_.add(frame);
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

/// "NVIDIA H200 + NVIDIA H200": the GPUs by node.
std::string deviceText(const frame::RunReport& run) {
  std::string text;
  for (const frame::NodeReport& node : run.nodes) text += (text.empty() ? "" : " + ") + node.adapter;
  return text;
}

/// One capture between its checks and its end.
class Capture {
 public:
  explicit Capture(const CaptureSettings& settings) : settings_(settings) { report_.picture = settings.picture; }
  Expected<CaptureReport> run();

 private:
  std::optional<Refusal> load();
  std::optional<Refusal> decideFrames();
  std::optional<Refusal> render();

  const CaptureSettings& settings_;
  const Clock::time_point begin_ = Clock::now();
  CapturePlan plan_;
  std::optional<FrameLog> log_;
  std::string fingerprint_;
  scene::Scene scene_;
  std::unique_ptr<gpu::Instance> instance_;
  CaptureReport report_;
  TraceFile trace_;
};

std::optional<Refusal> Capture::load() {
  auto loaded = loadScene(settings_.scene, settings_.load, settings_.environment);
  if (!loaded) return loaded.refusal();
  scene_ = std::move(loaded->scene);
  report_.warnings = std::move(loaded->warnings);
  for (const std::string& warning : report_.warnings) log::warn("{}", warning);
  if (const auto camera = scene::chooseCamera(scene_, settings_.camera); !camera) return camera.refusal();
  auto instance = openInstance(settings_.validation);
  if (!instance) return instance.refusal();
  instance_ = std::move(*instance);
  const auto samples = samplesFor(settings_, *instance_);
  if (!samples) return samples.refusal();
  report_.picture.samples = *samples;
  return std::nullopt;
}

std::optional<Refusal> Capture::decideFrames() {
  fingerprint_ = settingsFingerprint(settings_, report_.picture.samples);
  if (settings_.existing == ExistingFrames::Resume) keepWholeFrames(plan_, *log_, fingerprint_, settings_.picture.size);
  report_.planned = plan_.targets.size();
  for (const Target& target : plan_.targets) {
    if (!target.kept) continue;
    const ManifestEntry* entry = log_->find(target, 0);
    CapturedFrame kept;
    kept.frame = target.frame;
    kept.files = target.files;
    kept.kept = true;
    kept.linearHash = entry->linearHash;
    kept.ldrHash = entry->ldrHash;
    report_.frames.push_back(std::move(kept));
  }
  return prepareFolders(plan_);
}

/// Opens the devices, renders and closes them again.
std::optional<Refusal> Capture::render() {
  {
    auto renderer = frame::Renderer::make(*instance_, std::make_shared<const scene::Scene>(std::move(scene_)),
                                          report_.picture, settings_.machine, settings_.camera);
    if (!renderer) return renderer.refusal();
    report_.loadSeconds = secondsSince(begin_);
    log_->describe(fingerprint_, deviceText((*renderer)->report()));
    if (auto refusal = log_->create()) return refusal;
    removeStaleParts(plan_);
    CaptureLoop(settings_, **renderer, *log_, report_, trace_).run(plan_.targets);
    report_.run = (*renderer)->report();
  }
  // Counted when all devices are gone: layers report what was never freed.
  report_.validationMessages = instance_->messages().count();
  return std::nullopt;
}

Expected<CaptureReport> Capture::run() {
  const InterruptGuard interrupt;
  auto plan = planCapture(settings_);
  if (!plan) return plan.refusal();
  plan_ = std::move(*plan);
  // Before anything else is looked at: while another capture writes these frames, whatever is there means nothing.
  log_.emplace(plan_.patterns);
  if (auto refusal = log_->openExisting()) return *std::move(refusal);
  if (auto refusal = checkExisting(plan_, settings_.existing)) return *std::move(refusal);
  if (auto refusal = prepareReport(settings_.trace)) return *std::move(refusal);
  if (auto refusal = load()) return *std::move(refusal);
  if (auto refusal = decideFrames()) return *std::move(refusal);
  if (report_.frames.size() == report_.planned) {
    removeStaleParts(plan_);
  } else if (InterruptGuard::signal() == 0) {
    if (auto refusal = render()) return *std::move(refusal);
  }
  if (!settings_.trace.empty()) writeReport(settings_.trace, trace_.text(report_.run.nodes));
  report_.interruptedBy = InterruptGuard::signal();
  conclude(report_);
  return std::move(report_);
}

}  // namespace

Expected<CaptureReport> capture(const CaptureSettings& settings) { return Capture(settings).run(); }

}  // namespace tandem::jobs
