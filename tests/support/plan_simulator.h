// A simulator of nodes for tests of plans without a GPU: each has memory of its own. What several nodes make by rows
// has parts: a reader sees the content only where all parts hold it. Early batches overtake whatever waits on their
// node.
#pragma once

#include "support/plan_cases.h"

namespace tandem::graph::test {

struct Faults {
  std::optional<uint32_t> lateTransfer;  // arrives only after the batch that takes it, if anything lets it
  bool startEarly = false;               // a frame starts without waiting for the end of the one whose slots it takes
  bool noRings = false;                  // what early batches make has one copy
};

/// Runs a plan on nodes of separate memory, several frames in flight, in a random one of the orders that the plan
/// allows.
class Simulator {
 public:
  Simulator(const Case& c, const Plan& plan, uint64_t seed, Faults faults = {})
      : case_(c), graph_(c.graph), plan_(plan), faults_(faults), rng_(seed), nodes_(c.placement.nodes) {
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].receivedPrevious.assign(graph_.resources().size(), kPoison);
      for (uint32_t r = 0; r < graph_.resources().size(); ++r) {
        const Copies empty(copiesOf(n, r), hasTwo(n, r) ? 0 : kPoison);
        nodes_[n].content.push_back(std::vector<Copies>(partsOf(r), empty));
      }
    }
    for (uint32_t b = 0; b < plan_.batches.size(); ++b) nodes_[plan_.batches[b].node].batches.push_back(b);
    for (const LinkNeed& link : plan_.links)
      links_.push_back({Slots(link.itemBytes.size()), Slots(link.itemBytes.size())});
    finished_.assign(plan_.batches.size(), 0);
    arrived_.assign(plan_.transfers.size(), 0);
    effects_.assign(c.frames, std::vector<uint64_t>(graph_.passes().size(), 0));
  }

  /// Nothing if the plan stands still before its end.
  std::optional<Effects> run() {
    for (;;) {
      std::vector<uint32_t> ready;  // batches, then transfers
      for (uint32_t b = 0; b < plan_.batches.size(); ++b) {
        if (batchReady(b)) ready.push_back(b);
      }
      for (uint32_t t = 0; t < plan_.transfers.size(); ++t) {
        if (transferReady(t)) ready.push_back(static_cast<uint32_t>(plan_.batches.size()) + t);
      }
      if (ready.empty()) break;
      const uint32_t event = ready[below(rng_, ready.size())];
      if (event < plan_.batches.size()) {
        runBatch(event);
      } else {
        arrive(event - static_cast<uint32_t>(plan_.batches.size()));
      }
    }
    for (uint32_t frames : finished_) {
      if (frames != case_.frames) return std::nullopt;
    }
    return effects_;
  }

 private:
  using Copies = std::vector<uint64_t>;  // they take turns by frame
  struct Node {
    std::vector<uint32_t> batches;
    std::vector<std::vector<Copies>> content;  // [resource][part]
    std::vector<uint64_t> receivedPrevious;
  };
  struct Slots {
    explicit Slots(size_t items) : content(items) {
      for (auto& ring : content) ring.fill(kPoison);
    }
    std::vector<std::array<uint64_t, kRing>> content;
  };
  struct Link {
    Slots source, target;
  };
  struct View {
    Simulator& sim;
    uint32_t node, part, frame;  // part: of what the pass makes
    uint64_t current(uint32_t r) const {
      for (uint32_t p = 1; p < sim.partsOf(r); ++p) {
        if (sim.at(node, r, p, frame) != sim.at(node, r, 0, frame)) return kPoison;
      }
      return sim.at(node, r, 0, frame);
    }
    uint64_t previous(uint32_t r) const {
      return sim.plan_.homeOfResource[r] == node ? sim.at(node, r, 0, frame + 1) : sim.nodes_[node].receivedPrevious[r];
    }
    void set(uint32_t r, uint64_t value) { sim.at(node, r, part, frame) = value; }
  };

  uint32_t partsOf(uint32_t r) const {
    const uint32_t maker = graph_.sharedMaker(r);
    return maker == UINT32_MAX ? 1 : static_cast<uint32_t>(plan_.nodesOfPass[maker].size());
  }
  bool hasTwo(uint32_t node, uint32_t r) const { return plan_.hasHistory[r] && plan_.homeOfResource[r] == node; }
  uint32_t copiesOf(uint32_t node, uint32_t r) const {
    if (hasTwo(node, r)) return 2;
    return !faults_.noRings && needsRing(graph_, plan_, node, r) ? kRing : 1;
  }
  /// Content of frame `frame`; with two of them that of the frame before is also that of the frame after.
  uint64_t& at(uint32_t node, uint32_t r, uint32_t part, uint32_t frame) {
    Copies& copies = nodes_[node].content[r][part];
    return copies[frame % copies.size()];
  }

  /// One node's batches run in their order, frame after frame; but an early one waits only for early ones.
  bool batchReady(uint32_t b) const {
    const uint32_t frame = finished_[b];
    if (frame == case_.frames) return false;
    const uint32_t oldest = *std::min_element(finished_.begin(), finished_.end());
    if (!faults_.startEarly && frame >= oldest + kRing) return false;
    for (uint32_t other : nodes_[plan_.batches[b].node].batches) {
      if (plan_.batches[b].early && !plan_.batches[other].early) continue;
      if (finished_[other] < (other < b ? frame + 1 : frame)) return false;
    }
    return std::ranges::all_of(plan_.batches[b].receives, [&](uint32_t t) { return arrived_[t] > frame; });
  }

  bool transferReady(uint32_t t) const {
    const Transfer& transfer = plan_.transfers[t];
    if (finished_[transfer.fromBatch] <= arrived_[t]) return false;
    return faults_.lateTransfer != t || finished_[transfer.toBatch] > arrived_[t];
  }

  void runBatch(uint32_t b) {
    const Batch& batch = plan_.batches[b];
    const uint32_t frame = finished_[b]++;
    // What comes is taken by all transfers to this batch, whether it waited for them or not.
    for (const Transfer& transfer : plan_.transfers) {
      if (transfer.toBatch == b) take(transfer, batch.node, frame);
    }
    for (uint32_t pass : batch.passes) runHere(pass, batch.node, frame);
    for (uint32_t t : batch.sends) {
      const Transfer& transfer = plan_.transfers[t];
      for (const SentItem& item : transfer.items) {
        const uint64_t value = item.previous ? at(batch.node, item.resource, 0, frame + 1)
                                             : at(batch.node, item.resource, item.part, frame);
        links_[transfer.link].source.content[item.linkItem][frame % kRing] = value;
      }
    }
  }

  void runHere(uint32_t pass, uint32_t node, uint32_t frame) {
    const std::vector<uint32_t>& nodes = plan_.nodesOfPass[pass];
    const auto part = static_cast<uint32_t>(std::ranges::find(nodes, node) - nodes.begin());
    View view{*this, node, part, frame};
    const uint64_t value = runPass(graph_, pass, frame, view);
    uint64_t& effect = effects_[frame][pass];
    effect = effect == 0 || effect == value ? value : kPoison;  // nodes that share a pass agree
  }

  void take(const Transfer& transfer, uint32_t node, uint32_t frame) {
    for (const SentItem& item : transfer.items) {
      const uint64_t value = links_[transfer.link].target.content[item.linkItem][frame % kRing];
      (item.previous ? nodes_[node].receivedPrevious[item.resource] : at(node, item.resource, item.part, frame)) =
          value;
    }
  }

  void arrive(uint32_t t) {
    const Transfer& transfer = plan_.transfers[t];
    const uint32_t slot = arrived_[t]++ % kRing;
    Link& link = links_[transfer.link];
    for (const SentItem& item : transfer.items) {
      link.target.content[item.linkItem][slot] = link.source.content[item.linkItem][slot];
    }
  }

  const Case& case_;
  const Graph& graph_;
  const Plan& plan_;
  const Faults faults_;
  Rng rng_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<uint32_t> finished_;  // per batch: frames
  std::vector<uint32_t> arrived_;   // per transfer: frames
  Effects effects_;
};

}  // namespace tandem::graph::test
