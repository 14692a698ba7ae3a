#include "topology/single.h"

namespace tandem::topology {
namespace {

class Single final : public Topology {
 public:
  explicit Single(std::vector<Seat> seats) : Topology(std::move(seats)) {}
  std::string_view kind() const override { return "single"; }
  Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc) override {
    throw BrokenPromise(fmt::format("a link from node {} to node {} in a topology of one node", from, to));
  }
};

}  // namespace

std::unique_ptr<Topology> makeSingle(std::vector<Seat> seats) { return std::make_unique<Single>(std::move(seats)); }

}  // namespace tandem::topology
