#include "jobs/bench_run.h"

#include <chrono>
#include <deque>
#include <set>

#include "jobs/interrupt.h"
#include "jobs/pixel_hash.h"
#include "jobs/statistics.h"

namespace tandem::jobs {
namespace {

using Clock = std::chrono::steady_clock;

double secondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

uint64_t nanoseconds(Clock::time_point time) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

/// Runs of fixed length go through these frames again and again: a mode that renders more of them must not see another
/// part of the scene.
constexpr size_t kPathFrames = 120;

class Measurement {
 public:
  Measurement(frame::Renderer& renderer, const RunPlan& plan, GpuWatch* watch)
      : renderer_(renderer), plan_(plan), watch_(watch) {}
  BenchRun run();

 private:
  struct UnderWay {
    bool timed = false;
    Clock::time_point begin;
  };
  void start();
  void finishOldest();
  void noteWarmUp(double seconds);
  void noteTimed(const UnderWay& frame, Clock::time_point now);
  bool warm() const;
  bool enough() const;

  frame::Renderer& renderer_;
  const RunPlan& plan_;
  GpuWatch* watch_;
  BenchRun run_;
  std::deque<UnderWay> underWay_;
  std::vector<double> warmUpMs_;
  uint32_t next_ = 0;      // frames started in this phase
  bool timing_ = false;    // new frames are timed ones
  bool stopping_ = false;  // no new frames; those under way count no more
  Clock::time_point lastEnd_ = Clock::now();
};

BenchRun Measurement::run() {
  while (true) {
    if (InterruptGuard::signal() != 0) stopping_ = true;
    if (!stopping_ && underWay_.size() < renderer_.framesInFlight()) {
      start();
    } else if (!underWay_.empty()) {
      finishOldest();
    } else {
      break;
    }
  }
  run_.complete = enough();
  if (watch_ != nullptr && !run_.frameMs.empty()) {
    const uint64_t endNs = run_.frames[run_.frameMs.size() - 1].endNs;
    for (size_t gpu = 0; gpu < watch_->size(); ++gpu) run_.gpus.push_back(watch_->use(gpu, run_.beginNs, endNs));
  }
  return std::move(run_);
}

/// Warm-up goes through the same frames. Those after the last timed one keep the pipeline full and are thrown away.
void Measurement::start() {
  const size_t period = plan_.frames > 0 ? plan_.frames : kPathFrames;
  const auto number = static_cast<uint32_t>(next_ % period) + 1;
  ++next_;
  frame::FrameRequest request = requestFor(number, plan_.times);
  request.readback = plan_.readback;
  underWay_.push_back({timing_, Clock::now()});
  renderer_.start(request);
}

void Measurement::finishOldest() {
  const UnderWay frame = underWay_.front();
  underWay_.pop_front();
  frame::FrameResult result = renderer_.finish();
  const Clock::time_point now = Clock::now();
  if (frame.timed) {
    run_.frames.push_back(
        {std::move(result.passes), std::move(result.transfers), std::move(result.rowsOfNode), nanoseconds(now)});
  }
  if (!stopping_ && frame.timed) noteTimed(frame, now);
  if (!stopping_ && !frame.timed) noteWarmUp(secondsBetween(lastEnd_, now));
  lastEnd_ = now;
}

/// Frames that were started before the warm-up was over end in it.
void Measurement::noteWarmUp(double seconds) {
  run_.warmUpFrames += 1;
  run_.warmUpSeconds += seconds;
  warmUpMs_.push_back(1e3 * seconds);
  if (timing_ || !warm()) return;
  timing_ = true;
  next_ = 0;
  run_.settled = settled(warmUpMs_);
}

void Measurement::noteTimed(const UnderWay& frame, Clock::time_point now) {
  if (run_.frameMs.empty()) run_.beginNs = nanoseconds(lastEnd_);
  run_.frameMs.push_back(1e3 * secondsBetween(lastEnd_, now));
  run_.latencyMs.push_back(1e3 * secondsBetween(frame.begin, now));
  run_.seconds += secondsBetween(lastEnd_, now);
  stopping_ = enough();
}

bool Measurement::warm() const {
  const WarmUpLimits& limits = plan_.warmUp;
  if (run_.warmUpFrames >= limits.mostFrames || run_.warmUpSeconds >= limits.mostSeconds) return true;
  const bool longEnough = run_.warmUpFrames >= limits.leastFrames || run_.warmUpSeconds >= limits.leastSeconds;
  return longEnough && settled(warmUpMs_);
}

bool Measurement::enough() const {
  if (run_.frameMs.empty()) return false;
  return plan_.frames > 0 ? run_.frameMs.size() >= plan_.frames : run_.seconds >= plan_.seconds;
}

}  // namespace

BenchRun measure(frame::Renderer& renderer, const RunPlan& plan, GpuWatch* watch) {
  return Measurement(renderer, plan, watch).run();
}

uint64_t countRays(frame::Renderer& renderer, const FrameTimes& times) {
  frame::FrameRequest request = requestFor(kProofFrame, times);
  request.readback = false;
  request.countRays = true;
  renderer.start(request);
  return renderer.finish().rays.value();
}

std::vector<ProofFrame> prove(frame::Renderer& renderer, const FrameTimes& times) {
  const uint32_t count = renderer.framesInFlight();
  for (uint32_t i = 0; i < count; ++i) renderer.start(requestFor(kProofFrame, times));
  std::vector<ProofFrame> proofs;
  for (uint32_t i = 0; i < count; ++i) {
    const frame::FrameResult result = renderer.finish();
    std::set<uint32_t> nodes;
    for (const exec::PassReport& pass : result.passes) nodes.insert(pass.node);
    proofs.push_back({kProofFrame,
                      pixelHash(std::as_bytes(result.linear)),
                      pixelHash(std::as_bytes(result.ldr)),
                      {nodes.begin(), nodes.end()}});
  }
  return proofs;
}

}  // namespace tandem::jobs
