#include "topology/independent.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "topology/probe.h"

namespace tandem::topology {
namespace {

class Independent final : public Topology {
 public:
  Independent(std::vector<Seat> seats, LinkKind link, double linkGbps)
      : Topology(std::move(seats)), link_(link), linkGbps_(linkGbps) {}
  std::string_view kind() const override { return "independent"; }

  Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc desc) override {
    TANDEM_CHECK(from != to && from < nodes() && to < nodes(), "a link from node {} to node {} of {}", from, to,
                 nodes());
    if (desc.gigabytesPerSecondLimit == 0.0) desc.gigabytesPerSecondLimit = linkGbps_;
    if (link_ != LinkKind::Auto) return makeLinkOf(link_, device(from), device(to), std::move(desc));
    LinkKind& best = best_[{std::min(from, to), std::max(from, to)}];
    if (best == LinkKind::Auto) {
      const auto found = bestLink(device(from), device(to));
      if (!found) return found.refusal();
      best = *found;
    }
    auto made = makeLinkOf(best, device(from), device(to), desc);
    if (made || best == LinkKind::HostCopy) return made;
    log::debug("{}", made.refusal().message);
    return makeLinkOf(LinkKind::HostCopy, device(from), device(to), std::move(desc));
  }

 private:
  LinkKind link_;
  double linkGbps_;
  std::map<std::pair<uint32_t, uint32_t>, LinkKind> best_;  // of each pair of nodes; Auto: not known yet
};

}  // namespace

std::unique_ptr<Topology> makeIndependent(std::vector<Seat> seats, LinkKind link, double linkGbps) {
  return std::make_unique<Independent>(std::move(seats), link, linkGbps);
}

}  // namespace tandem::topology
