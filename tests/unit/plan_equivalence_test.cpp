// A plan on many nodes gives what one node gives. Graphs, placements and the order of events are random; contents are
// numbers; each node has memory of its own, where what never came is poison. And the test can fail: a plan that lacks
// one transfer, one item or one wait is caught in every seed that has any, which also shows that nothing is sent that
// is not used.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>

#include "graph/plan.h"

using namespace tandem;
using namespace tandem::graph;

namespace {

using Rng = std::mt19937_64;
constexpr uint32_t kSeeds = 600;
constexpr uint32_t kRing = 3;
constexpr uint64_t kPoison = 0xdeadbeefdeadbeef;

uint32_t below(Rng& rng, size_t end) { return static_cast<uint32_t>(rng() % end); }

/// Finaliser of SplitMix64 (Steele, Lea, Flood 2014, fig. 13), so that any other input gives another content.
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Case {
  Graph graph;
  Placement placement;
  uint32_t frames = 0;
};

/// What passes made so far, by their handles of now.
using Handles = std::vector<Resource<uint64_t>>;

void declareRandomly(PassBuilder& b, Rng& rng, Handles& handles) {
  const size_t older = handles.size();
  for (uint32_t reads = older > 0 ? below(rng, 4) : 0; reads > 0; --reads) b.read(handles[below(rng, older)]);
  if (older > 0 && below(rng, 3) == 0) {
    auto& handle = handles[below(rng, older)];
    handle = b.write(handle);
  }
  for (uint32_t creates = older > 0 ? below(rng, 3) : 1; creates > 0; --creates) {
    handles.push_back(b.create<uint64_t>({fmt::format("r{}", handles.size()), 1 + below(rng, 64), 1 + below(rng, 8)}));
  }
  if (below(rng, 3) == 0) b.readPrevious(handles[below(rng, handles.size())]);
  if (below(rng, 4) == 0) b.sideEffect();
}

Case randomCase(Rng& rng) {
  Case made;
  made.placement.nodes = 2 + below(rng, 3);
  const uint32_t passes = 3 + below(rng, 12);
  Handles handles;
  for (uint32_t i = 0; i < passes; ++i) {
    const std::string name = fmt::format("p{}", i);
    const auto declare = [&](PassBuilder& b) {
      declareRandomly(b, rng, handles);
      if (i + 1 == passes) b.sideEffect();
    };
    made.graph.addPass(name, declare, {});
    if (below(rng, 5) > 0) made.placement.nodeOfPass[name] = below(rng, made.placement.nodes);
  }
  // History carries an error one pass further each frame; along the longest way it has reached a side effect by then.
  made.frames = passes + 2;
  return made;
}

/// Value of every side effect: [frame][pass]; 0 for passes without one.
using Effects = std::vector<std::vector<uint64_t>>;

/// What a pass does, wherever it runs. `Memory` has current(resource), previous(resource) and set(resource, value).
template <class Memory>
uint64_t runPass(const Graph& graph, uint32_t index, uint32_t frame, Memory& memory) {
  const Pass& pass = graph.passes()[index];
  uint64_t value = mix(index + 1, frame);
  for (const Access& read : pass.reads) value = mix(value, memory.current(read.resource));
  for (uint32_t resource : pass.previous) value = mix(value, memory.previous(resource));
  for (const Access& write : pass.writes) {
    if (write.version > 0) value = mix(value, memory.current(write.resource));
  }
  for (const Access& write : pass.writes) memory.set(write.resource, mix(value, write.resource));
  return pass.sideEffect ? value : 0;
}

struct OneNode {
  std::vector<uint64_t> now, before;
  uint64_t current(uint32_t resource) const { return now[resource]; }
  uint64_t previous(uint32_t resource) const { return before[resource]; }
  void set(uint32_t resource, uint64_t value) { now[resource] = value; }
};

/// The truth: every pass, in order, on one node. It knows nothing of plans.
Effects runInOrder(const Case& c) {
  const size_t resources = c.graph.resources().size();
  OneNode memory{std::vector<uint64_t>(resources, kPoison), std::vector<uint64_t>(resources, 0)};
  Effects effects(c.frames, std::vector<uint64_t>(c.graph.passes().size(), 0));
  for (uint32_t frame = 0; frame < c.frames; ++frame) {
    for (uint32_t pass = 0; pass < c.graph.passes().size(); ++pass) {
      effects[frame][pass] = runPass(c.graph, pass, frame, memory);
    }
    memory.before = memory.now;
  }
  return effects;
}

struct Faults {
  std::optional<uint32_t> lateTransfer;  // arrives only after the batch that takes it, if anything lets it
  bool reuseSlotsEarly = false;          // senders do not wait for a slot to be free
};

/// Runs a plan on nodes of separate memory, several frames in flight, in a random one of the orders that the plan
/// allows.
class Simulator {
 public:
  Simulator(const Case& c, const Plan& plan, uint64_t seed, Faults faults = {})
      : case_(c), graph_(c.graph), plan_(plan), faults_(faults), rng_(seed) {
    const size_t resources = graph_.resources().size();
    nodes_.resize(c.placement.nodes);
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      node.content.assign(resources, {kPoison, kPoison});
      node.receivedPrevious.assign(resources, kPoison);
      for (uint32_t r = 0; r < resources; ++r) {
        if (hasTwo(n, r)) node.content[r] = {0, 0};
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
  struct Node {
    std::vector<uint32_t> batches;
    std::vector<std::array<uint64_t, 2>> content;  // two, by frame, where the resource has history and its home here
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
    uint32_t node, frame;
    uint64_t current(uint32_t r) const { return sim.at(node, r, frame); }
    uint64_t previous(uint32_t r) const {
      return sim.plan_.homeOfResource[r] == node ? sim.at(node, r, frame + 1) : sim.nodes_[node].receivedPrevious[r];
    }
    void set(uint32_t r, uint64_t value) { sim.at(node, r, frame) = value; }
  };

  bool hasTwo(uint32_t node, uint32_t r) const { return plan_.hasHistory[r] && plan_.homeOfResource[r] == node; }
  /// Content of frame `frame`; with two of them that of the frame before is also that of the frame after.
  uint64_t& at(uint32_t node, uint32_t r, uint32_t frame) {
    return nodes_[node].content[r][hasTwo(node, r) ? frame % 2 : 0];
  }

  bool batchReady(uint32_t b) const {
    const uint32_t frame = finished_[b];
    if (frame == case_.frames) return false;
    const auto& queue =
        nodes_[plan_.batches[b].node].batches;  // one node's batches run in their order, frame after frame
    for (uint32_t other : queue) {
      if (other < b && finished_[other] != frame + 1) return false;
      if (other > b && finished_[other] != frame) return false;
    }
    for (uint32_t t : plan_.batches[b].receives) {
      if (arrived_[t] <= frame) return false;
    }
    for (uint32_t t : plan_.batches[b].sends) {  // the ring: frame - kRing has left its slot
      if (!faults_.reuseSlotsEarly && finished_[plan_.transfers[t].toBatch] + kRing <= frame) return false;
    }
    return true;
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
    View view{*this, batch.node, frame};
    for (uint32_t pass : batch.passes) effects_[frame][pass] = runPass(graph_, pass, frame, view);
    for (uint32_t t : batch.sends) {
      const Transfer& transfer = plan_.transfers[t];
      for (const SentItem& item : transfer.items) {
        const uint64_t value = item.previous ? view.previous(item.resource) : view.current(item.resource);
        links_[transfer.link].source.content[item.linkItem][frame % kRing] = value;
      }
    }
  }

  void take(const Transfer& transfer, uint32_t node, uint32_t frame) {
    for (const SentItem& item : transfer.items) {
      const uint64_t value = links_[transfer.link].target.content[item.linkItem][frame % kRing];
      (item.previous ? nodes_[node].receivedPrevious[item.resource] : at(node, item.resource, frame)) = value;
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

/// One random case and its plan.
struct Planned {
  explicit Planned(uint64_t seed) : rng(seed), c(randomCase(rng)), plan(*compile(c.graph, c.placement)) {}
  Rng rng;
  Case c;
  Plan plan;
};

void expectWellFormed(const Plan& plan) {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::set<std::pair<uint32_t, uint32_t>> linkItems;
  uint64_t bytes = 0;
  for (const Transfer& transfer : plan.transfers) {
    const LinkNeed& link = plan.links.at(transfer.link);
    EXPECT_LT(transfer.fromBatch, transfer.toBatch);
    EXPECT_EQ(plan.batches.at(transfer.fromBatch).node, link.from);
    EXPECT_EQ(plan.batches.at(transfer.toBatch).node, link.to);
    EXPECT_NE(link.from, link.to);
    EXPECT_TRUE(pairs.insert({transfer.fromBatch, link.to}).second) << "two transfers from one batch to one node";
    EXPECT_FALSE(transfer.items.empty());
    for (const SentItem& item : transfer.items) {
      EXPECT_EQ(link.itemBytes.at(item.linkItem), item.bytes);
      EXPECT_TRUE(linkItems.insert({transfer.link, item.linkItem}).second) << "two items in one place of a slot";
      bytes += item.bytes;
    }
  }
  EXPECT_EQ(plan.bytesSent(), bytes);
}

TEST(PlanEquivalence, AnyPlacementGivesWhatOneNodeGives) {
  uint32_t withTransfers = 0, withHistory = 0, withCulled = 0, sentHistory = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Planned planned(seed);
    const Plan& plan = planned.plan;
    const Effects truth = runInOrder(planned.c);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, plan.text(planned.c.graph)));
    expectWellFormed(plan);
    for (uint64_t order = 0; order < 3; ++order) {
      const auto effects = Simulator(planned.c, plan, mix(seed, order)).run();
      ASSERT_TRUE(effects) << "the plan stands still";
      ASSERT_EQ(*effects, truth);
    }
    withTransfers += !plan.transfers.empty();
    withHistory += plan.temporal;
    withCulled += std::count(plan.nodeOfPass.begin(), plan.nodeOfPass.end(), UINT32_MAX) > 0;
    for (const Transfer& t : plan.transfers) {
      sentHistory += std::any_of(t.items.begin(), t.items.end(), [](const SentItem& item) { return item.previous; });
    }
  }
  // The cases are worth something only if they have what plans are about.
  EXPECT_GT(withTransfers, kSeeds / 2);
  EXPECT_GT(withHistory, kSeeds / 2);
  EXPECT_GT(withCulled, kSeeds / 10);
  EXPECT_GT(sentHistory, kSeeds / 10);
}

TEST(PlanEquivalence, OneNodeSendsNothing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Planned planned(seed);
    planned.c.placement = {};
    const Plan plan = *compile(planned.c.graph, planned.c.placement);
    EXPECT_TRUE(plan.transfers.empty());
    EXPECT_EQ(plan.batches.size(), 1u);
    EXPECT_EQ(Simulator(planned.c, plan, seed).run(), runInOrder(planned.c)) << "seed " << seed;
  }
}

/// Breaks the plan of every seed that sends anything, and counts those seeds; every one of them must be caught.
template <class Break>
void expectCaught(Break breakPlan) {
  uint32_t broken = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Planned planned(seed);
    if (planned.plan.transfers.empty()) continue;
    ++broken;
    const std::string before = planned.plan.text(planned.c.graph);
    const uint32_t victim = below(planned.rng, planned.plan.transfers.size());
    const Faults faults = breakPlan(planned, victim);
    const auto effects = Simulator(planned.c, planned.plan, seed, faults).run();
    ASSERT_TRUE(effects) << "seed " << seed << ": the sabotaged plan stands still";
    EXPECT_NE(*effects, runInOrder(planned.c)) << "seed " << seed << ", transfer " << victim << " of\n" << before;
  }
  EXPECT_GT(broken, kSeeds / 2);
}

TEST(PlanSabotage, ALostTransferIsCaught) {
  expectCaught([](Planned& planned, uint32_t victim) {
    Transfer& transfer = planned.plan.transfers[victim];
    std::erase(planned.plan.batches[transfer.fromBatch].sends, victim);
    std::erase(planned.plan.batches[transfer.toBatch].receives, victim);
    transfer.items.clear();
    return Faults{};
  });
}

TEST(PlanSabotage, ALostItemIsCaughtSoNoneIsSentInVain) {
  expectCaught([](Planned& planned, uint32_t victim) {
    auto& items = planned.plan.transfers[victim].items;
    items.erase(items.begin() + below(planned.rng, items.size()));
    return Faults{};
  });
}

TEST(PlanSabotage, ALostWaitIsCaught) {
  expectCaught([](Planned& planned, uint32_t victim) {
    std::erase(planned.plan.batches[planned.plan.transfers[victim].toBatch].receives, victim);
    return Faults{.lateTransfer = victim};
  });
}

TEST(PlanSabotage, WithItsWaitNoTransferComesTooLate) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Planned planned(seed);
    if (planned.plan.transfers.empty()) continue;
    EXPECT_FALSE(Simulator(planned.c, planned.plan, seed, {.lateTransfer = 0}).run()) << "seed " << seed;
  }
}

TEST(PlanSabotage, ASlotReusedEarlyIsSeen) {
  uint32_t seen = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Planned planned(seed);
    seen += Simulator(planned.c, planned.plan, seed, {.reuseSlotsEarly = true}).run() != runInOrder(planned.c);
  }
  EXPECT_GT(seen, kSeeds / 10);
}

}  // namespace
