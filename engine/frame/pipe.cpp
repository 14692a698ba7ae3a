#include "frame/pipe.h"

#include <algorithm>

namespace tandem::frame {
namespace {

template <class T>
std::span<const T> view(const output::Readback& readback, uint32_t slot) {
  const auto bytes = readback.bytes(slot);
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

std::vector<bool> nodesThatTrace(const graph::Graph& graph, const graph::Plan& plan, uint32_t nodes) {
  std::vector<bool> traces(nodes, false);
  for (size_t pass = 0; pass < graph.passes().size(); ++pass) {
    if (graph.passes()[pass].name != "path_trace") continue;
    for (const uint32_t node : plan.nodesOfPass[pass]) traces[node] = true;
  }
  return traces;
}

}  // namespace

Expected<std::unique_ptr<Pipe>> Pipe::make(const PipeParts& parts, const Place& place, uint32_t framesInFlight) {
  std::unique_ptr<Pipe> pipe(new Pipe(parts, framesInFlight));
  Refusal refusal = pipe->build(place, framesInFlight);
  if (!refusal.message.empty()) return refusal;
  return pipe;
}

Refusal Pipe::build(const Place& place, uint32_t framesInFlight) {
  describeFrame(graph_, parts_.picture, {parts_.source, parts_.post}, readbacks_);
  auto plan = graph::compile(graph_, place(graph_));
  if (!plan) return plan.refusal();
  if (Refusal tooMuch = checkMemory(*plan); !tooMuch.message.empty()) return tooMuch;
  const auto traces = nodesThatTrace(graph_, *plan, parts_.topology.nodes());
  for (uint32_t node = 0; node < traces.size(); ++node) {
    if (traces[node]) parts_.source->sceneOn(parts_.topology.device(node));  // uploads now, not in the first frame
  }
  auto executor = exec::Executor::make(parts_.topology, graph_, std::move(*plan), framesInFlight);
  if (!executor) return executor.refusal();
  executor_ = std::move(*executor);
  if (parts_.slowPass) {
    if (auto refusal = executor_->slowDown(*parts_.slowPass)) return *std::move(refusal);
  }
  return {};
}

Refusal Pipe::checkMemory(const graph::Plan& plan) const {
  const topology::Topology& topology = parts_.topology;
  auto needed = exec::Bindings::estimateBytes(graph_, plan, exec::kLinkSlots);
  needed.resize(topology.nodes(), 0);
  const auto traces = nodesThatTrace(graph_, plan, topology.nodes());
  for (uint32_t node = 0; node < topology.nodes(); ++node) {
    if (needed[node] == 0) continue;
    if (traces[node] && !parts_.source->has(topology.device(node)))
      needed[node] += trace::estimateGpuBytes(parts_.host);
    // Devices of one GPU share its memory: what the others need there counts too.
    uint64_t together = 0;
    for (uint32_t other = 0; other <= node; ++other) {
      if (topology.device(other).adapter().physical == topology.device(node).adapter().physical)
        together += needed[other];
    }
    const uint64_t budget = topology.device(node).memoryBudget();
    if (together > budget) {
      return refuse(ExitCode::NoUsableGpu,
                    "{} has {} MiB of memory free and this needs {} MiB: lower --size, or a smaller scene",
                    topology.device(node).name(), budget >> 20, together >> 20);
    }
  }
  return {};
}

std::vector<PassTraffic> Pipe::traffic() const {
  std::vector<PassTraffic> traffic;
  for (const graph::Pass& pass : graph_.passes()) {
    PassTraffic& own = traffic.emplace_back();
    own.name = pass.name;
    own.sceneToo = pass.name == "path_trace";
    const auto add = [&](uint32_t resource) { own.bytes += graph_.resources()[resource].bytes(); };
    for (const graph::Access& access : pass.reads) add(access.resource);
    for (const uint32_t resource : pass.previous) add(resource);
    for (const graph::Access& access : pass.writes) add(access.resource);
  }
  return traffic;
}

std::vector<bool> Pipe::tracingNodes() const {
  return nodesThatTrace(graph_, executor_->plan(), parts_.topology.nodes());
}

void Pipe::start(const FrameRequest& request, const scene::Camera& camera) {
  readbacks_.setSlot(static_cast<uint32_t>(executor_->started() % executor_->framesInFlight()), request.readback);
  underWay_.push_back({executor_->started(), request, camera});
  executor_->start();
}

/// Under the frames' own numbers. Called while the frames that they may belong to are still kept.
std::vector<exec::TransferReport> Pipe::takeTransfers() {
  std::vector<exec::TransferReport> transfers = executor_->takeTransfers();
  for (exec::TransferReport& transfer : transfers) {
    const auto frame = std::ranges::find(underWay_, transfer.frame, &UnderWay::serial);
    TANDEM_CHECK(frame != underWay_.end(), "a transfer of frame {}, which is over", transfer.frame);
    transfer.frame = frame->request.frame;
  }
  return transfers;
}

FrameResult Pipe::finish() {
  TANDEM_CHECK(!underWay_.empty(), "a pipe without a frame under way is asked to finish one");
  const UnderWay done = underWay_.front();
  FrameResult result;
  result.rowsOfNode = executor_->rowsOfNode(done.serial);
  result.passes = executor_->finish(done.serial);
  result.transfers = takeTransfers();
  underWay_.pop_front();
  result.request = done.request;
  result.camera = done.camera;
  if (!done.request.readback) return result;
  const auto slot = static_cast<uint32_t>(done.serial % executor_->framesInFlight());
  result.linear = view<shared::RadianceTexel>(readbacks_.linear, slot);
  result.ldr = view<shared::LdrTexel>(readbacks_.ldr, slot);
  result.ev = view<shared::ExposureState>(readbacks_.exposure, slot)[0].ev;
  if (wants(parts_.picture, Aov::Albedo)) result.albedo = view<shared::AlbedoTexel>(readbacks_.albedo, slot);
  if (wants(parts_.picture, Aov::Normal)) result.normal = view<shared::NormalTexel>(readbacks_.normal, slot);
  if (wants(parts_.picture, Aov::Depth)) result.depth = view<shared::DepthTexel>(readbacks_.depth, slot);
  if (wants(parts_.picture, Aov::Motion)) result.motion = view<shared::MotionTexel>(readbacks_.motion, slot);
  return result;
}

}  // namespace tandem::frame
