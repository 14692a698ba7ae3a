#include "topology/topology.h"

#include "base/log.h"
#include "topology/device_group.h"
#include "topology/independent.h"
#include "topology/single.h"

namespace tandem::topology {

std::string_view linkKindName(LinkKind kind) {
  switch (kind) {
    case LinkKind::Auto:
      return "auto";
    case LinkKind::Peer:
      return "peer";
    case LinkKind::Cuda:
      return "cuda";
    case LinkKind::HostImport:
      return "host-import";
    case LinkKind::HostCopy:
      return "host-copy";
  }
  return "auto";
}

std::string_view topologyKindName(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::Auto:
      return "auto";
    case TopologyKind::Single:
      return "single";
    case TopologyKind::Group:
      return "group";
    case TopologyKind::Independent:
      return "independent";
  }
  return "auto";
}

namespace {

/// A device for each node, each of them a world of its own.
std::unique_ptr<Topology> openApart(gpu::Instance& instance, const TopologyRequest& request) {
  std::vector<Seat> seats;
  for (size_t node = 0; node < request.adapters.size(); ++node) {
    const gpu::Adapter& adapter = instance.adapters().at(request.adapters[node]);
    gpu::DeviceOptions options;
    options.name = fmt::format("node {} ({})", node, adapter.name);
    options.seam = request.seam;
    options.rayTracing = request.rayTracing;
    seats.emplace_back(std::make_shared<gpu::Device>(instance, adapter, std::move(options)), 1u);
  }
  if (seats.size() == 1) return makeSingle(std::move(seats));
  return makeIndependent(std::move(seats), request.link, request.linkGbps);
}

/// Whether a linked group can have this kind of link.
bool fitsGroup(LinkKind link) { return link == LinkKind::Auto || link == LinkKind::Peer || link == LinkKind::HostCopy; }

}  // namespace

Expected<std::unique_ptr<Topology>> open(gpu::Instance& instance, const TopologyRequest& request) {
  TANDEM_CHECK(!request.adapters.empty(), "a topology without nodes");
  const bool lone = request.adapters.size() == 1;
  if (request.kind != TopologyKind::Auto && lone != (request.kind == TopologyKind::Single)) {
    return refuse(ExitCode::WrongUsage, "--topology {} and {} GPU{} do not go together: {}",
                  topologyKindName(request.kind), request.adapters.size(), lone ? "" : "s",
                  lone ? "name two with --gpus, or add --simulate-dual" : "name one with --gpus");
  }
  for (const uint32_t index : request.adapters) {
    const gpu::Adapter& adapter = instance.adapters().at(index);
    if (!adapter.usable()) {
      return refuse(ExitCode::NoUsableGpu, "GPU {} ({}) cannot be used: it {}", adapter.index, adapter.name,
                    adapter.refusals.front());
    }
    if (request.rayTracing && !adapter.rayTracing) {
      return refuse(ExitCode::NoUsableGpu,
                    "--tracer rt: GPU {} ({}) has no ray-tracing pipelines; --tracer compute "
                    "works on every GPU",
                    adapter.index, adapter.name);
    }
  }
  if (request.rayTracing && request.kind == TopologyKind::Group) {
    return refuse(ExitCode::WrongUsage,
                  "--tracer rt does not work in a linked group: --topology independent, or --tracer compute");
  }
  if (request.kind == TopologyKind::Group) return openDeviceGroup(instance, request);
  const bool mayGroup = !lone && request.kind == TopologyKind::Auto && fitsGroup(request.link) && !request.rayTracing;
  if (mayGroup && inOneGroup(instance, request.adapters)) {
    auto group = openDeviceGroup(instance, request);
    if (group) return group;
    log::debug("{}", group.refusal().message);
  }
  return openApart(instance, request);
}

}  // namespace tandem::topology
