// What a renderer says of itself: who ran what, rays and copies counted.
#include <algorithm>

#include "frame/renderer_impl.h"
#include "gpu/copy_speed.h"

namespace tandem::frame {

std::vector<bool> RendererImpl::tracingNodes() const {
  std::vector<bool> traces(topology_->nodes(), false);
  for (const auto& pipe : pipes_) {
    const auto own = pipe->tracingNodes();
    for (size_t node = 0; node < own.size(); ++node) traces[node] = traces[node] || own[node];
  }
  return traces;
}

uint64_t RendererImpl::takeRays() {
  uint64_t rays = 0;
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    gpu::Device& device = topology_->device(node);
    if (source_->has(device)) rays += source_->sceneOn(device).takeRays();
  }
  return rays;
}

std::vector<std::optional<double>> RendererImpl::measureCopies() {
  std::vector<std::optional<double>> gbps;
  for (uint32_t node = 0; node < topology_->nodes(); ++node)
    gbps.push_back(gpu::measureCopyGbps(topology_->device(node)));
  return gbps;
}

RunReport RendererImpl::report() {
  RunReport report;
  report.mode = modeName(mode_);
  report.topology = topology_->kind();
  report.camera = camera_.description;
  report.size = picture_.size;
  const char* traced = source_->tracer() == trace::Tracer::Rt ? "rt" : "compute";
  const std::vector<bool> traces = tracingNodes();
  for (const auto& pipe : pipes_) {
    const exec::Executor& executor = pipe->executor();
    for (size_t pass = 0; pass < pipe->graph().passes().size(); ++pass) {
      for (const uint32_t node : executor.plan().nodesOfPass[pass])
        report.nodeOfPass.emplace_back(pipe->graph().passes()[pass].name, node);
    }
    for (exec::LinkUse& use : pipe->executor().linkReports()) report.links.push_back(std::move(use));
  }
  for (uint32_t node = 0; node < topology_->nodes(); ++node) {
    const gpu::Adapter& adapter = topology_->device(node).adapter();
    const uint32_t rows = mode_ == Mode::Afr ? picture_.size.height : node < lastRows_.size() ? lastRows_[node] : 0;
    report.nodes.push_back({node, adapter.name, adapter.uuidText(), adapter.pci ? adapter.pci->text() : "",
                            adapter.driver, std::string(gpu::adapterTypeName(adapter.type)),
                            traces[node] ? traced : "none", rows, source_->bytesOn(topology_->device(node))});
    report.sceneBytes = std::max(report.sceneBytes, report.nodes.back().sceneBytes);
  }
  if (!pipes_.empty()) report.traffic = pipes_[0]->traffic();
  report.losses = losses_;
  report.historyResets = historyResets_;
  for (const auto& node : scene_->nodes) {
    for (const uint32_t mesh : node.meshes) report.sceneTriangles += scene_->meshes[mesh].indices.size() / 3;
  }
  return report;
}

}  // namespace tandem::frame
