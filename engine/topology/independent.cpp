#include "topology/independent.h"

#include "base/log.h"
#include "topology/link_host_copy.h"
#include "topology/link_host_import.h"

namespace tandem::topology {
namespace {

class Independent final : public Topology {
 public:
  Independent(std::vector<Seat> seats, LinkKind link) : Topology(std::move(seats)), link_(link) {}
  std::string_view kind() const override { return "independent"; }

  Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc desc) override {
    TANDEM_CHECK(from != to && from < nodes() && to < nodes(), "a link from node {} to node {} of {}", from, to,
                 nodes());
    if (link_ != LinkKind::HostCopy) {
      auto imported = makeHostImportLink(device(from), device(to), desc);
      if (imported || link_ == LinkKind::HostImport) return imported;
      log::debug("{}", imported.refusal().message);
    }
    return makeHostCopyLink(device(from), device(to), std::move(desc));
  }

 private:
  LinkKind link_;
};

}  // namespace

std::unique_ptr<Topology> makeIndependent(std::vector<Seat> seats, LinkKind link) {
  return std::make_unique<Independent>(std::move(seats), link);
}

}  // namespace tandem::topology
