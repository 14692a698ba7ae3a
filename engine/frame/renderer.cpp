#include <algorithm>

#include "base/log.h"
#include "frame/auto_mode.h"
#include "frame/choose_gpus.h"
#include "frame/renderer_impl.h"
#include "post/exposure.h"
#include "schedule/placement.h"

namespace tandem::frame {

Refusal RendererImpl::checkSize() const {
  if (picture_.size.pixels() > post::kMostPixels) {
    return refuse(ExitCode::WrongUsage, "--size {}x{} has {} pixels and {} are supported: choose a smaller size",
                  picture_.size.width, picture_.size.height, picture_.size.pixels(), post::kMostPixels);
  }
  const uint64_t planeBytes = picture_.size.pixels() * sizeof(shared::RadianceTexel);
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    const gpu::Adapter& adapter = topology_->device(node).adapter();
    const uint64_t groups = adapter.limits.maxComputeWorkGroupCount[1];
    if (planeBytes > adapter.maxBufferSize || picture_.size.width / 8 >= groups || picture_.size.height / 8 >= groups) {
      return refuse(
          ExitCode::WrongUsage, "--size {}x{} needs {} MiB in one buffer and {} allows {} MiB: choose a smaller size",
          picture_.size.width, picture_.size.height, planeBytes >> 20, adapter.name, adapter.maxBufferSize >> 20);
    }
  }
  return {};
}

Refusal RendererImpl::checkMode(Mode mode) const {
  if (mode == Mode::Single || topology_->nodes() > 1) return {};
  return refuse(ExitCode::WrongUsage,
                "--mode {} needs two GPUs and there is one: --mode single, or --simulate-dual to open it twice",
                modeName(mode));
}

Refusal RendererImpl::build(gpu::Instance& instance, const scene::CameraRequest& camera) {
  if (picture_.size.width == 0 || picture_.size.height == 0)
    return refuse(ExitCode::WrongUsage, "--size: width and height must be at least 1");
  if (picture_.samples == 0) return refuse(ExitCode::WrongUsage, "--samples must be at least 1");
  const auto chosenCamera = scene::chooseCamera(*scene_, camera);
  if (!chosenCamera) return chosenCamera.refusal();
  camera_ = *chosenCamera;
  const auto gpus = chooseGpus(instance.adapters(), machine_);
  if (!gpus) return gpus.refusal();
  const trace::Tracer tracer = machine_.tracer == Tracer::Rt ? trace::Tracer::Rt : trace::Tracer::Compute;
  auto opened = topology::open(instance, {.adapters = *gpus,
                                          .link = machine_.link,
                                          .seam = machine_.seam,
                                          .kind = machine_.topology,
                                          .linkGbps = machine_.linkGbps,
                                          .rayTracing = tracer == trace::Tracer::Rt});
  if (!opened) return opened.refusal();
  topology_ = std::move(*opened);
  mode_ = machine_.mode;
  if (mode_ == Mode::Auto) {
    // Software devices share one CPU: nothing is to be won, and who opened several wants to see them used.
    const bool several = topology_->nodes() > 1;
    settles_ = several && !topology_->device(0).adapter().software();
    mode_ = several && !settles_ ? Mode::Pipelined : Mode::Single;
  }
  if (Refusal no = checkMode(mode_); !no.message.empty()) return no;
  if (!machine_.shares.empty() && machine_.shares.size() != topology_->nodes()) {
    return refuse(ExitCode::WrongUsage, "--rows-share has {} numbers and there are {} GPUs: give one for each",
                  machine_.shares.size(), topology_->nodes());
  }
  if (Refusal tooBig = checkSize(); !tooBig.message.empty()) return tooBig;
  const trace::TreeCache trees = trace::TreeCache::ofUser();
  host_ = std::make_unique<trace::HostScene>(*scene_, &trees);
  source_ = std::make_shared<SceneSource>(*host_, tracer);
  return makePipes();
}

Refusal RendererImpl::addPipe(const Pipe::Place& place, uint32_t framesInFlight) {
  auto pipe = Pipe::make({*topology_, picture_, *host_, source_, post_, machine_.slowPass}, place, framesInFlight);
  if (!pipe) return pipe.refusal();
  pipes_.push_back(std::move(*pipe));
  pipeMs_.push_back(0.0);
  return {};
}

/// One pipe over all nodes that the mode uses; in alternate-frame rendering one per node.
Refusal RendererImpl::makePipes() {
  const uint32_t nodes = topology_->nodes(), frames = machine_.framesInFlight;
  pipes_.clear();
  pipeMs_.clear();
  balancer_.reset();
  const auto on = [nodes](uint32_t node) {
    return [nodes, node](const graph::Graph& graph) { return schedule::placeSingle(graph, nodes, node); };
  };
  switch (mode_) {
    case Mode::Auto:
    case Mode::Single:
      return addPipe(on(singleNode_), frames);
    case Mode::Pipelined:
      return addPipe([nodes](const graph::Graph& graph) { return schedule::placePipelined(graph, nodes); }, frames);
    case Mode::Sfr: {
      Refusal refusal =
          addPipe([nodes](const graph::Graph& graph) { return schedule::placeSfr(graph, nodes); }, frames);
      if (!refusal.message.empty()) return refusal;
      if (machine_.shares.empty()) {
        balancer_.emplace(nodes, picture_.size.height);
      } else {
        pipes_[0]->executor().setShares(machine_.shares);
      }
      return {};
    }
    case Mode::Afr:
      break;
  }
  // A quick GPU may have all the frames that a slow one keeps waiting for their turn.
  const uint32_t slots = std::min(framesInFlight(), exec::kMostFrames);
  for (uint32_t node = 0; node < nodes; ++node) {
    if (Refusal refusal = addPipe(on(node), slots); !refusal.message.empty()) return refusal;
    if (pipes_.back()->executor().plan().temporal)
      return refuse(ExitCode::WrongUsage,
                    "--mode afr: the frame has passes that read the frame before, which another GPU has: use sfr");
  }
  return {};
}

uint32_t RendererImpl::framesInFlight() const {
  return mode_ == Mode::Afr ? machine_.framesInFlight * topology_->nodes() : machine_.framesInFlight;
}

std::optional<Refusal> RendererImpl::changeMode(Mode mode, std::optional<uint32_t> samples) {
  TANDEM_CHECK(started_.empty(), "the mode changes while {} frames are under way", started_.size());
  if (Refusal no = checkMode(mode); !no.message.empty()) return no;
  if (!pipes_.empty() && pipes_[0]->executor().plan().temporal) ++historyResets_;
  pipes_.clear();
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    if (!topology_->device(node).lost()) topology_->device(node).drain();  // gives the memory back
  }
  mode_ = mode;
  picture_.samples = samples.value_or(picture_.samples);
  if (Refusal no = makePipes(); !no.message.empty()) return no;
  const std::vector<bool> traces = tracingNodes();
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    if (!traces[node]) source_->drop(topology_->device(node));  // a node that no longer traces needs no copy
  }
  return std::nullopt;
}

/// The pipe that will have finished one more frame first; of equals the one that has had the fewest.
Pipe* RendererImpl::choosePipe() {
  Pipe* best = nullptr;
  std::pair<double, uint64_t> soonest;
  for (size_t index = 0; index < pipes_.size(); ++index) {
    exec::Executor& executor = pipes_[index]->executor();
    if (pipes_[index]->full()) continue;
    // Not measured yet: taken as quick, so that each gets a frame to be measured by.
    const std::pair end{(executor.unfinished() + 1) * std::max(pipeMs_[index], 1e-3), executor.started()};
    if (best != nullptr && end >= soonest) continue;
    best = pipes_[index].get();
    soonest = end;
  }
  return best;
}

/// Starts frames, oldest first, for as long as there is room.
void RendererImpl::startWaiting() {
  for (Started& started : started_) {
    if (started.pipe != nullptr) continue;
    Pipe* pipe = choosePipe();
    if (pipe == nullptr) return;
    const FrameRequest& request = started.request;
    trace::FrameScene scene =
        trace::makeFrameScene(*host_, camera_, request.centre, request.open, request.close, request.frame);
    scene.countRays = request.countRays;
    source_->setFrame(std::move(scene));
    post_->frame = request.frame;
    started.pipe = pipe;
    if (balancer_) pipe->executor().setShares(balancer_->nextShares());
    pipe->start(request, scene::resolveCamera(*scene_, camera_, scene::poseAt(*scene_, request.centre)));
  }
}

void RendererImpl::start(const FrameRequest& request) {
  if (settles_) {
    settles_ = false;
    const gpu::Adapter& first = topology_->device(0).adapter();
    bool alike = true;
    for (uint32_t node = 1; node < topology_->nodes(); ++node)
      alike = alike && topology_->device(node).adapter().name == first.name;
    if (const auto no = settleMode(*this, request, picture_.samples, alike)) throw adverse("{}", no->message);
  }
  started_.push_back({request, nullptr});
  try {
    startWaiting();
  } catch (const gpu::DeviceError& error) {
    recover(error);
  }
}

FrameResult RendererImpl::finish() {
  TANDEM_CHECK(!started_.empty(), "finish() without a frame under way");
  while (true) {
    try {
      startWaiting();
      Pipe* pipe = started_.front().pipe;
      FrameResult result = pipe->finish();
      started_.pop_front();
      learn(pipe, result);
      if (result.request.countRays) result.rays = takeRays();
      return result;
    } catch (const gpu::DeviceError& error) {
      recover(error);
    }
  }
}

void RendererImpl::learn(const Pipe* pipe, const FrameResult& result) {
  lastRows_ = result.rowsOfNode;
  const auto index = static_cast<size_t>(
      std::ranges::find(pipes_, pipe, [](const auto& owned) { return owned.get(); }) - pipes_.begin());
  double ms = 0.0;
  for (const exec::PassReport& pass : result.passes) ms += pass.milliseconds;
  pipeMs_[index] = pipeMs_[index] == 0.0 ? ms : pipeMs_[index] + 0.25 * (ms - pipeMs_[index]);
  // A pipe that gets no frames is not measured: it is thought quicker and quicker, until it gets one.
  for (size_t other = 0; other < pipes_.size(); ++other) {
    if (pipes_[other]->idle()) pipeMs_[other] *= 0.9;
  }
  if (balancer_) balance(result);
}

void RendererImpl::balance(const FrameResult& result) {
  std::vector<schedule::NodeLoad> loads(topology_->nodes());
  for (uint32_t node = 0; node < loads.size(); ++node) loads[node].rows = result.rowsOfNode[node];
  for (const exec::PassReport& pass : result.passes)
    (pass.name == "path_trace" ? loads[pass.node].traceMs : loads[pass.node].otherMs) += pass.milliseconds;
  for (const exec::TransferReport& transfer : result.transfers) {
    if (transfer.frame == result.request.frame)
      loads[transfer.from].transferMs = static_cast<double>(transfer.event.endNs - transfer.event.beginNs) * 1e-6;
  }
  balancer_->report(loads);
}

/// Goes on without the GPU that failed: all frames under way start again on one that is left. Called from a catch;
/// throws the error on where none is left.
void RendererImpl::recover(const gpu::DeviceError& error) {
  std::vector<uint32_t> left;
  std::optional<uint32_t> failed;
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    const gpu::Device& device = topology_->device(node);
    const bool before = std::ranges::any_of(losses_, [&](const LossReport& loss) { return loss.node == node; });
    if (&device == error.device()) {
      failed = node;
    } else if (!before && !device.lost()) {
      left.push_back(node);
    }
  }
  if (!failed || left.empty()) throw;
  const uint32_t frame = started_.front().request.frame;
  losses_.push_back({*failed, topology_->device(*failed).name(), frame, error.what()});
  log::warn("{} failed in frame {}: {}; going on with {} alone", topology_->device(*failed).name(), frame, error.what(),
            topology_->device(left[0]).name());
  if (!pipes_.empty() && pipes_[0]->executor().plan().temporal) ++historyResets_;
  pipes_.clear();
  source_->drop(topology_->device(*failed));
  topology_->device(left[0]).drain();
  mode_ = Mode::Single;
  singleNode_ = left[0];
  for (Started& started : started_) started.pipe = nullptr;
  if (const Refusal no = makePipes(); !no.message.empty())
    throw adverse("{}; nor can {} go on alone: {}", error.what(), topology_->device(left[0]).name(), no.message);
  startWaiting();
}

Expected<std::unique_ptr<Renderer>> Renderer::make(gpu::Instance& instance, std::shared_ptr<const scene::Scene> scene,
                                                   const PictureSettings& picture, const MachineSettings& machine,
                                                   const scene::CameraRequest& camera) {
  auto renderer = std::make_unique<RendererImpl>(std::move(scene), picture, machine);
  Refusal refusal = renderer->build(instance, camera);
  if (!refusal.message.empty()) return refusal;
  return std::unique_ptr<Renderer>(std::move(renderer));
}

}  // namespace tandem::frame
