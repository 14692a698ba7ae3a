#include "topology/independent.h"

#include "base/log.h"
#include "topology/link_cuda.h"
#include "topology/link_host_copy.h"
#include "topology/link_host_import.h"

namespace tandem::topology {
namespace {

Expected<std::unique_ptr<Link>> make(LinkKind kind, gpu::Device& from, gpu::Device& to, LinkDesc desc) {
  switch (kind) {
    case LinkKind::Cuda:
      return makeCudaLink(from, to, std::move(desc));
    case LinkKind::HostImport:
      return makeHostImportLink(from, to, std::move(desc));
    case LinkKind::HostCopy:
      return makeHostCopyLink(from, to, std::move(desc));
    default:
      return refuse(ExitCode::NoUsableGpu,
                    "{}: {} and {} are not in one linked group; --link host-import or host-copy works",
                    linkKindName(kind), from.name(), to.name());
  }
}

class Independent final : public Topology {
 public:
  Independent(std::vector<Seat> seats, LinkKind link, double linkGbps)
      : Topology(std::move(seats)), link_(link), linkGbps_(linkGbps) {}
  std::string_view kind() const override { return "independent"; }

  /// Auto: in the order of expected speed; the last kind works everywhere.
  Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc desc) override {
    TANDEM_CHECK(from != to && from < nodes() && to < nodes(), "a link from node {} to node {} of {}", from, to,
                 nodes());
    if (desc.gigabytesPerSecondLimit == 0.0) desc.gigabytesPerSecondLimit = linkGbps_;
    if (link_ != LinkKind::Auto) return make(link_, device(from), device(to), std::move(desc));
    for (const LinkKind kind : {LinkKind::Cuda, LinkKind::HostImport}) {
      auto made = make(kind, device(from), device(to), desc);
      if (made) return made;
      log::debug("{}", made.refusal().message);
    }
    return make(LinkKind::HostCopy, device(from), device(to), std::move(desc));
  }

 private:
  LinkKind link_;
  double linkGbps_;
};

}  // namespace

std::unique_ptr<Topology> makeIndependent(std::vector<Seat> seats, LinkKind link, double linkGbps) {
  return std::make_unique<Independent>(std::move(seats), link, linkGbps);
}

}  // namespace tandem::topology
