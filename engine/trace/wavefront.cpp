#include "trace/wavefront.h"

#include <algorithm>

#include "base/check.h"
#include "gpu/device.h"
#include "shaders/shared/wavefront.h"

namespace tandem::trace {

namespace {

using shared::kGroupWidth;

/// Threads in a work group. On an H200 large groups win 2 % where one tree is all there is to walk, and lose 13 % where
/// the walk goes in and out of instances.
uint32_t groupThreads(const gpu::Device& device, const HostScene& host) {
  const bool large = (host.features() & shared::kFeatureSingleTree) != 0 &&
                     device.adapter().limits.maxComputeWorkGroupInvocations >= 256;
  return large ? 256 : 64;
}

constexpr uint64_t kVectors = 9, kVectorBytes = 16;                              // arrays of WaveState, and of what
constexpr uint64_t kSlotBytes = kVectors * kVectorBytes + 4 * sizeof(uint32_t);  // with the tail and the three queues
/// No more memory than this, in pieces of whole groups of rows: each piece costs the waits between its stages again.
constexpr uint64_t kLargestState = uint64_t{1536} << 20;

uint64_t bytesOfRows(uint32_t width, uint32_t threads, uint32_t rows) {
  const uint64_t groups = uint64_t{gpu::groupsFor(width, kGroupWidth)} * gpu::groupsFor(rows, threads / kGroupWidth);
  return groups * threads * kSlotBytes;
}

/// What the states may take: of what is free now, half at most, unless they have it already.
uint64_t stateBudget(const gpu::Device& device, const GpuScene& scene, const PathTraceSettings& settings,
                     uint64_t wanted) {
  if (settings.stateBytes > 0) return settings.stateBytes;
  const uint64_t suits = std::min({wanted, kLargestState, device.adapter().deviceLocalBytes() / 12});
  if (scene.scratchBytes() >= suits) return suits;
  return std::clamp(device.memoryBudget() / 2, scene.scratchBytes(), suits);
}

/// Rows that one round of stages traces.
uint32_t rowsPerRound(const gpu::Device& device, const GpuScene& scene, const WavefrontJob& job, uint32_t threads) {
  const uint32_t width = job.settings.size.width, groupRows = threads / kGroupWidth;
  const uint64_t budget = stateBudget(device, scene, job.settings, bytesOfRows(width, threads, job.rows));
  const uint64_t groups = std::max<uint64_t>(budget / bytesOfRows(width, threads, groupRows), 1);
  return static_cast<uint32_t>(std::min<uint64_t>(groups * groupRows, job.rows));
}

shared::WaveState layOut(uint64_t address, uint32_t slots, uint64_t params) {
  shared::WaveState state{};
  state.path = params;
  state.slots = slots;
  uint64_t next = address;
  const auto take = [&](uint64_t bytes) {
    const uint64_t at = next;
    next += bytes * slots;
    return at;
  };
  for (uint64_t* vectors : {&state.hits, &state.origins, &state.directions, &state.throughputs, &state.lightDirections,
                            &state.lightValues, &state.radiance, &state.sums, &state.firsts})
    *vectors = take(kVectorBytes);
  state.hitTails = take(sizeof(float));
  state.shadowQueue = take(sizeof(uint32_t));
  state.nextQueues = take(2 * sizeof(uint32_t));
  state.counters = next;
  TANDEM_CHECK(next - address == kSlotBytes * slots, "{} bytes a slot, not {}", (next - address) / slots, kSlotBytes);
  return state;
}

/// One round: the stages of all samples over some rows.
class Round {
 public:
  Round(gpu::Commands& commands, const GpuScene& scene, const WavefrontJob& job, uint64_t state, uint32_t first,
        uint32_t end)
      : commands_(commands),
        scene_(scene),
        job_(job),
        push_{state, first, end, 0, 0},
        threads_(groupThreads(commands.device(), scene.host())),
        groups_{gpu::groupsFor(job.settings.size.width, kGroupWidth),
                gpu::groupsFor(end - first, threads_ / kGroupWidth), 1} {}

  void record() {
    for (push_.sampleIndex = 0; push_.sampleIndex < job_.settings.samples; push_.sampleIndex++) recordSample();
    stage("trace/wave_resolve");
    commands_.barrier();
  }

 private:
  void recordSample() {
    push_.depth = 0;
    stage("trace/wave_primary");
    commands_.barrier();
    for (; push_.depth <= job_.settings.bounces; push_.depth++) {
      stage("trace/wave_shade");
      commands_.barrier();
      stage("trace/wave_shadow");
      if (push_.depth < job_.settings.bounces) stage("trace/wave_extend");
      commands_.barrier();
    }
  }

  void stage(std::string_view shader) {
    const gpu::Specialization specialization{scene_.host().features(), static_cast<uint32_t>(job_.settings.strategy),
                                             threads_, job_.countRays ? 1u : 0u, push_.depth == 0 ? 1u : 0u};
    commands_.dispatch(shader, push_, groups_, &scene_.textures(), specialization);
  }

  gpu::Commands& commands_;
  const GpuScene& scene_;
  const WavefrontJob& job_;
  shared::WavePush push_;
  uint32_t threads_;
  gpu::Groups groups_;
};

}  // namespace

bool tracesInStages(const gpu::Device& device) {
  return !device.adapter().software() && device.adapter().subgroupBallot;
}

void recordWavefront(gpu::Commands& commands, GpuScene& scene, const WavefrontJob& job) {
  const uint32_t threads = groupThreads(commands.device(), scene.host());
  const uint32_t rows = rowsPerRound(commands.device(), scene, job, threads);
  const uint64_t bytes = bytesOfRows(job.settings.size.width, threads, rows);
  const uint64_t counters = shared::kWaveQueues * (uint64_t{job.settings.bounces} + 1) * sizeof(uint32_t);
  const gpu::Buffer& scratch = scene.scratch(bytes + counters);
  const uint64_t state =
      commands.upload(layOut(scratch.address(), static_cast<uint32_t>(bytes / kSlotBytes), job.params));
  for (uint32_t first = 0; first < job.rows; first += rows) {
    Round(commands, scene, job, state, first, std::min(first + rows, job.rows)).record();
  }
}

}  // namespace tandem::trace
