#include "frame/renderer.h"

#include <cstring>
#include <deque>
#include <map>

#include "base/log.h"
#include "frame/choose_gpus.h"
#include "frame/frame.h"
#include "post/exposure.h"
#include "schedule/placement.h"
#include "trace/frame_scene.h"
#include "trace/gpu_scene.h"

namespace tandem::frame {
namespace {

/// Scene copies by device, and the frame that is being recorded.
class SceneSource final : public trace::TraceSource {
 public:
  explicit SceneSource(const trace::HostScene& host) : host_(host) {}
  trace::GpuScene& sceneOn(gpu::Device& device) override {
    auto& scene = scenes_[&device];
    if (!scene) scene = std::make_unique<trace::GpuScene>(device, host_);
    return *scene;
  }
  const trace::FrameScene& frame() const override { return *frame_; }
  void setFrame(trace::FrameScene frame) { frame_ = std::make_unique<trace::FrameScene>(std::move(frame)); }
  void clear() { scenes_.clear(); }

 private:
  const trace::HostScene& host_;
  std::map<gpu::Device*, std::unique_ptr<trace::GpuScene>> scenes_;
  std::unique_ptr<trace::FrameScene> frame_;
};

template <class T>
std::span<const T> view(const output::Readback& readback, uint32_t slot) {
  const auto bytes = readback.bytes(slot);
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Nodes that run ray tracing, and so hold the scene.
std::vector<bool> tracingNodes(const graph::Graph& graph, const graph::Plan& plan, uint32_t nodes) {
  std::vector<bool> traces(nodes, false);
  for (size_t pass = 0; pass < graph.passes().size(); ++pass) {
    if (graph.passes()[pass].name == "path_trace" && plan.nodeOfPass[pass] != UINT32_MAX)
      traces[plan.nodeOfPass[pass]] = true;
  }
  return traces;
}

class RendererImpl final : public Renderer {
 public:
  RendererImpl(std::shared_ptr<const scene::Scene> scene, const PictureSettings& picture,
               const MachineSettings& machine)
      : scene_(std::move(scene)), picture_(picture), machine_(machine), readbacks_(machine.framesInFlight) {}
  ~RendererImpl() override {
    executor_.reset();
    if (source_) source_->clear();
  }

  /// Everything that can be refused. Returns a refusal with an empty message when all is well.
  Refusal build(gpu::Instance& instance, const scene::CameraRequest& camera);

  uint32_t framesInFlight() const override { return machine_.framesInFlight; }
  void start(const FrameRequest& request) override;
  FrameResult finish() override;
  RunReport report() override;

 private:
  Refusal checkSize() const;
  Refusal checkMemory(const graph::Plan& plan) const;

  std::shared_ptr<const scene::Scene> scene_;
  PictureSettings picture_;
  MachineSettings machine_;
  Mode mode_ = Mode::Single;
  scene::CameraChoice camera_;
  std::unique_ptr<topology::Topology> topology_;
  std::unique_ptr<trace::HostScene> host_;
  std::shared_ptr<SceneSource> source_;
  std::shared_ptr<post::PostFrame> post_ = std::make_shared<post::PostFrame>();
  FrameReadbacks readbacks_;
  graph::Graph graph_;
  std::unique_ptr<exec::Executor> executor_;
  struct Started {
    uint64_t serial;
    FrameRequest request;
    scene::Camera camera;
  };
  std::deque<Started> started_;
};

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

Refusal RendererImpl::checkMemory(const graph::Plan& plan) const {
  auto needed = exec::Bindings::estimateBytes(graph_, plan, exec::kLinkSlots);
  needed.resize(topology_->nodes(), 0);
  const auto traces = tracingNodes(graph_, plan, topology_->nodes());
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    if (traces[node]) needed[node] += trace::estimateGpuBytes(*host_);
    // Devices of one GPU share its memory: what the others need there counts too.
    uint64_t together = 0;
    for (uint32_t other = 0; other <= node; ++other) {
      if (topology_->device(other).adapter().physical == topology_->device(node).adapter().physical)
        together += needed[other];
    }
    const uint64_t budget = topology_->device(node).memoryBudget();
    if (together > budget) {
      return refuse(ExitCode::NoUsableGpu,
                    "{} has {} MiB of memory free and this needs {} MiB: lower --size, or a smaller scene",
                    topology_->device(node).name(), budget >> 20, together >> 20);
    }
  }
  return {};
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
  auto opened = topology::open(instance, {*gpus, machine_.link, machine_.seam});
  if (!opened) return opened.refusal();
  topology_ = std::move(*opened);
  mode_ = topology_->nodes() > 1 ? Mode::Pipelined : Mode::Single;
  if (const Refusal tooBig = checkSize(); !tooBig.message.empty()) return tooBig;

  host_ = std::make_unique<trace::HostScene>(*scene_);
  source_ = std::make_shared<SceneSource>(*host_);
  describeFrame(graph_, picture_, {source_, post_}, readbacks_);
  auto plan =
      graph::compile(graph_, mode_ == Mode::Single ? schedule::placeSingle() : schedule::placePipelined(graph_));
  if (!plan) return plan.refusal();
  if (const Refusal tooMuch = checkMemory(*plan); !tooMuch.message.empty()) return tooMuch;
  const auto traces = tracingNodes(graph_, *plan, topology_->nodes());
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    if (traces[node]) source_->sceneOn(topology_->device(node));  // uploads now, not in the first frame
  }
  auto executor = exec::Executor::make(*topology_, graph_, std::move(*plan), machine_.framesInFlight);
  if (!executor) return executor.refusal();
  executor_ = std::move(*executor);
  return {};
}

void RendererImpl::start(const FrameRequest& request) {
  trace::FrameScene frame =
      trace::makeFrameScene(*host_, camera_, request.centre, request.open, request.close, request.frame);
  const scene::Camera camera = scene::resolveCamera(*scene_, camera_, scene::poseAt(*scene_, request.centre));
  source_->setFrame(std::move(frame));
  post_->frame = request.frame;
  readbacks_.setSlot(static_cast<uint32_t>(executor_->started() % machine_.framesInFlight));
  started_.push_back({executor_->start(), request, camera});
}

FrameResult RendererImpl::finish() {
  TANDEM_CHECK(!started_.empty(), "finish() without a frame under way");
  const Started done = started_.front();
  started_.pop_front();
  FrameResult result;
  result.passes = executor_->finish(done.serial);
  result.request = done.request;
  result.camera = done.camera;
  const auto slot = static_cast<uint32_t>(done.serial % machine_.framesInFlight);
  result.linear = view<shared::RadianceTexel>(readbacks_.linear, slot);
  result.ldr = view<shared::LdrTexel>(readbacks_.ldr, slot);
  result.ev = view<shared::ExposureState>(readbacks_.exposure, slot)[0].ev;
  if (wants(picture_, Aov::Albedo)) result.albedo = view<shared::AlbedoTexel>(readbacks_.albedo, slot);
  if (wants(picture_, Aov::Normal)) result.normal = view<shared::NormalTexel>(readbacks_.normal, slot);
  if (wants(picture_, Aov::Depth)) result.depth = view<shared::DepthTexel>(readbacks_.depth, slot);
  if (wants(picture_, Aov::Motion)) result.motion = view<shared::MotionTexel>(readbacks_.motion, slot);
  return result;
}

RunReport RendererImpl::report() {
  RunReport report;
  report.mode = modeName(mode_);
  report.topology = topology_->kind();
  report.camera = camera_.description;
  report.size = picture_.size;
  const auto traces = tracingNodes(graph_, executor_->plan(), topology_->nodes());
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    const gpu::Adapter& adapter = topology_->device(node).adapter();
    report.nodes.push_back({node, adapter.name, adapter.uuidText(), adapter.pci ? adapter.pci->text() : "",
                            adapter.driver, std::string(gpu::adapterTypeName(adapter.type)),
                            traces[node] ? "compute" : "none", traces[node] ? picture_.size.height : 0});
    if (traces[node]) report.sceneBytes = source_->sceneOn(topology_->device(node)).bytes();
  }
  for (size_t pass = 0; pass < graph_.passes().size(); ++pass) {
    const uint32_t node = executor_->plan().nodeOfPass[pass];
    if (node != UINT32_MAX) report.nodeOfPass.emplace_back(graph_.passes()[pass].name, node);
  }
  report.links = executor_->linkReports();
  for (const auto& node : scene_->nodes) {
    for (const uint32_t mesh : node.meshes) report.sceneTriangles += scene_->meshes[mesh].indices.size() / 3;
  }
  return report;
}

}  // namespace

Expected<std::unique_ptr<Renderer>> Renderer::make(gpu::Instance& instance, std::shared_ptr<const scene::Scene> scene,
                                                   const PictureSettings& picture, const MachineSettings& machine,
                                                   const scene::CameraRequest& camera) {
  auto renderer = std::make_unique<RendererImpl>(std::move(scene), picture, machine);
  Refusal refusal = renderer->build(instance, camera);
  if (!refusal.message.empty()) return refusal;
  return std::unique_ptr<Renderer>(std::move(renderer));
}

}  // namespace tandem::frame
