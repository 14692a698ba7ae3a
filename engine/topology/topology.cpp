#include "topology/topology.h"

#include "topology/independent.h"
#include "topology/single.h"

namespace tandem::topology {

std::string_view linkKindName(LinkKind kind) {
  switch (kind) {
    case LinkKind::Auto:
      return "auto";
    case LinkKind::HostImport:
      return "host-import";
    case LinkKind::HostCopy:
      return "host-copy";
  }
  return "auto";
}

Expected<std::unique_ptr<Topology>> open(gpu::Instance& instance, const TopologyRequest& request) {
  TANDEM_CHECK(!request.adapters.empty(), "a topology without nodes");
  std::vector<Seat> seats;
  for (size_t node = 0; node < request.adapters.size(); ++node) {
    const gpu::Adapter& adapter = instance.adapters().at(request.adapters[node]);
    if (!adapter.usable()) {
      return refuse(ExitCode::NoUsableGpu, "GPU {} ({}) cannot be used: it {}", adapter.index, adapter.name,
                    adapter.refusals.front());
    }
    gpu::DeviceOptions options;
    options.name = fmt::format("node {} ({})", node, adapter.name);
    options.seam = request.seam;
    seats.emplace_back(std::make_shared<gpu::Device>(instance, adapter, std::move(options)), 1u);
  }
  if (seats.size() == 1) return makeSingle(std::move(seats));
  return makeIndependent(std::move(seats), request.link);
}

}  // namespace tandem::topology
