// A plan on many nodes gives what one node gives: for random graphs, placements, shares by rows and orders of events.
// And the test can fail: a plan that lacks one transfer, one item or one wait is caught in every seed that has any,
// which also shows that nothing is sent that is not used; and without a ring of copies overtaking is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/plan_simulator.h"

using namespace tandem;
using namespace tandem::graph;
using namespace tandem::graph::test;

namespace {

constexpr uint32_t kSeeds = 600;

/// One random case and its plan.
struct Planned {
  explicit Planned(uint64_t seed) : rng(seed), c(randomCase(rng)), plan(*compile(c.graph, c.placement)) {}
  Rng rng;
  Case c;
  Plan plan;
};

bool hasRings(const Planned& planned) {
  for (uint32_t node = 0; node < planned.c.placement.nodes; ++node) {
    for (uint32_t r = 0; r < planned.c.graph.resources().size(); ++r) {
      if (needsRing(planned.c.graph, planned.plan, node, r)) return true;
    }
  }
  return false;
}

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
  uint32_t withTransfers = 0, withHistory = 0, withCulled = 0, sentHistory = 0, withShares = 0, withRings = 0;
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
    withShares += plan.shares();
    withRings += hasRings(planned);
    withHistory += plan.temporal;
    withCulled += std::ranges::any_of(plan.nodesOfPass, [](const auto& nodes) { return nodes.empty(); });
    for (const Transfer& t : plan.transfers) {
      sentHistory += std::any_of(t.items.begin(), t.items.end(), [](const SentItem& item) { return item.previous; });
    }
  }
  // The cases are worth something only if they have what plans are about.
  EXPECT_GT(withTransfers, kSeeds / 2);
  EXPECT_GT(withHistory, kSeeds / 2);
  EXPECT_GT(withShares, kSeeds / 2);
  EXPECT_GT(withRings, kSeeds / 10);
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

/// Seeds in which a fault is seen in some of a few orders of events.
uint32_t seedsThatSee(const std::vector<Planned>& cases, Faults faults) {
  return static_cast<uint32_t>(std::ranges::count_if(cases, [&](const Planned& planned) {
    const Effects truth = runInOrder(planned.c);
    for (uint64_t order = 0; order < 4; ++order) {
      if (Simulator(planned.c, planned.plan, order, faults).run() != truth) return true;
    }
    return false;
  }));
}

TEST(PlanSabotage, ASlotReusedEarlyIsSeen) {
  std::vector<Planned> cases;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (Planned planned(seed); !planned.plan.transfers.empty()) cases.push_back(std::move(planned));
  }
  EXPECT_GT(seedsThatSee(cases, {.startEarly = true}), cases.size() / 2);
}

TEST(PlanSabotage, WithoutTheRingOvertakingIsSeen) {
  std::vector<Planned> cases;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (Planned planned(seed); hasRings(planned)) cases.push_back(std::move(planned));
  }
  EXPECT_GT(cases.size(), kSeeds / 10);
  EXPECT_GT(seedsThatSee(cases, {.noRings = true}), cases.size() / 2);
  EXPECT_EQ(seedsThatSee(cases, {}), 0u);
}

// Overtaking is for what the compiler says and for nothing else.
TEST(PlanSabotage, ABatchThatIsWronglyCalledEarlyIsSeen) {
  std::vector<Planned> cases;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Planned planned(seed);
    const auto late = std::ranges::find_if(planned.plan.batches,
                                           [](const Batch& batch) { return !batch.early && !batch.receives.empty(); });
    if (late == planned.plan.batches.end()) continue;
    late->early = true;
    cases.push_back(std::move(planned));
  }
  EXPECT_GT(seedsThatSee(cases, {}), cases.size() / 10);
}

}  // namespace
