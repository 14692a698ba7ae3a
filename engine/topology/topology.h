// The only interface to how many GPUs there are and how they hang together. A topology has nodes (a device with its
// queues) and connects them by links. Passes and shaders never see it; exec/ runs plans on it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gpu/instance.h"
#include "topology/link.h"
#include "topology/seat.h"

namespace tandem::topology {

enum class LinkKind { Auto, Peer, Cuda, HostImport, HostCopy };

std::string_view linkKindName(LinkKind kind);

/// How nodes hang together. `Auto`: one node alone is single; several in one linked group are that group, all others
/// are independent.
enum class TopologyKind { Auto, Single, Group, Independent };

std::string_view topologyKindName(TopologyKind kind);  // "auto", "single", "group", "independent"

/// One node per entry of `adapters`; the same adapter twice opens it twice (`--simulate-dual`): two devices of one GPU.
struct TopologyRequest {
  std::vector<uint32_t> adapters;
  LinkKind link = LinkKind::Auto;
  gpu::Seam seam;
  TopologyKind kind = TopologyKind::Auto;
  double linkGbps = 0.0;    // throttles every link whose description names no limit of its own; 0: none
  bool rayTracing = false;  // devices with ray-tracing pipelines; refused where one has none, and in a group
};

class Topology {
 public:
  virtual ~Topology() = default;
  virtual std::string_view kind() const = 0;  // "single", "group", "independent"

  uint32_t nodes() const { return static_cast<uint32_t>(seats_.size()); }
  gpu::Device& device(uint32_t node) const { return seats_.at(node).device(); }

  /// A link from one node to another. Refused, with the reasons, where no kind of link that was asked for can exist.
  virtual Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc desc) = 0;

 protected:
  explicit Topology(std::vector<Seat> seats) : seats_(std::move(seats)) {}

 private:
  std::vector<Seat> seats_;
};

/// Opens the topology that was asked for, or the one that fits. Refused, with the reason, where it cannot be.
Expected<std::unique_ptr<Topology>> open(gpu::Instance& instance, const TopologyRequest& request);

}  // namespace tandem::topology
