// The compiler's plans, pinned as text: what waits for what, and how many bytes cross.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "graph/plan.h"
#include "support/graph_builders.h"

using namespace tandem;
using namespace tandem::graph;
using namespace tandem::graph::test;

namespace {

struct Radiance {};
struct Motion {};
struct Depth {};

constexpr uint64_t kWidth = 3840;
constexpr uint32_t kHeight = 2160;

BufferDesc plane(std::string name, uint64_t bytesPerPixel) {
  return {std::move(name), kWidth * bytesPerPixel, kHeight};
}

/// The text of a plan that must exist.
std::string planText(const Graph& graph, const Placement& placement) {
  const Expected<Plan> plan = compile(graph, placement);
  return plan ? plan->text(graph) : "refused: " + plan.refusal().message;
}

Graph realFrame() {
  Graph graph;
  struct Traced {
    Resource<Radiance> radiance;
    Resource<Motion> motion;
    Resource<Depth> depth;
  };
  const Traced traced =
      graph.addPass("path_trace",
                    [](PassBuilder& b) {
                      b.shareable();
                      return Traced{b.create<Radiance>(plane("radiance", 8)), b.create<Motion>(plane("motion", 4)),
                                    b.create<Depth>(plane("depth", 4))};
                    },
                    {});
  const auto blurred = graph.addPass("motion_blur",
                                     [&](PassBuilder& b) {
                                       b.readRows(traced.radiance), b.readRows(traced.motion), b.readRows(traced.depth);
                                       return b.create<Radiance>(plane("blurred", 8));
                                     },
                                     {});
  const auto exposure = addStep(graph, "exposure", {Resource<Pixel>{blurred.index, blurred.version}});
  const auto picture = graph.addPass("tonemap",
                                     [&](PassBuilder& b) {
                                       b.read(blurred), b.read(exposure);
                                       return b.create<Pixel>(plane("picture", 4));
                                     },
                                     {});
  addSink(graph, "readback", picture);
  return graph;
}

TEST(Compile, TheFrameOnOneNodeIsOneBatch) {
  const Graph graph = realFrame();
  EXPECT_EQ(planText(graph, {}), "batch 0 on node 0: path_trace, motion_blur, exposure, tonemap, readback\n");
}

TEST(Compile, TheFrameOnTwoNodesSendsEachPlaneOnce) {
  const Graph graph = realFrame();
  Placement placement{2, {{"motion_blur", 1}, {"exposure", 1}, {"tonemap", 1}, {"readback", 1}}};
  const uint64_t pixels = kWidth * kHeight;
  const std::string expected = fmt::format(
      "batch 0 on node 0 (early): path_trace; sends radiance ({} B), motion ({} B), depth ({} B) to node 1\n"
      "batch 1 on node 1: motion_blur, exposure, tonemap, readback; waits for batch 0\n"
      "link 0 -> 1: 3 items, {} B a frame\n",
      8 * pixels, 4 * pixels, 4 * pixels, 16 * pixels);
  EXPECT_EQ(planText(graph, placement), expected);
  const Plan plan = *compile(graph, placement);
  EXPECT_EQ(plan.bytesSent(), 16 * pixels);
  EXPECT_FALSE(plan.temporal);
}

TEST(Compile, CullsWhatNoSideEffectDependsOn) {
  Graph graph;
  const auto used = addStep(graph, "used", {});
  const auto unused = addStep(graph, "unused", {used});
  addStep(graph, "also_unused", {unused});
  const auto changed = graph.addPass("change", [&](PassBuilder& b) { return b.write(used); }, {});
  addSink(graph, "sink", changed);
  (void)graph.addPass("change_after", [&](PassBuilder& b) { return b.write(changed); }, {});
  EXPECT_EQ(planText(graph, {}),
            "batch 0 on node 0: used, change, sink\nculled: unused\nculled: also_unused\nculled: change_after\n");
  const Plan plan = *compile(graph, {2, {{"used", 1}, {"change_after", 1}}});
  EXPECT_EQ(plan.homeOfResource[used.index], 0u) << "the home is the node of the last writer that runs";
  EXPECT_EQ(plan.homeOfResource[unused.index], UINT32_MAX);
}

TEST(Compile, HistoryKeepsTheLastWriterAlive) {
  Graph graph;
  const auto colour = addStep(graph, "colour", {});
  const auto reader = [&](PassBuilder& b) {
    b.readPrevious(colour);
    b.sideEffect();
  };
  graph.addPass("reader", reader, {});
  (void)graph.addPass("change", [&](PassBuilder& b) { return b.write(colour); }, {});
  const Plan plan = *compile(graph, {});
  EXPECT_EQ(plan.text(graph), "batch 0 on node 0: colour, reader, change\n");
  EXPECT_TRUE(plan.temporal);
  EXPECT_TRUE(plan.hasHistory[colour.index]);
}

TEST(Compile, HistoryLeavesItsHomeBeforeAnyPassRuns) {
  Graph graph;
  const auto colour = addStep(graph, "colour", {});
  const auto reader = [&](PassBuilder& b) {
    b.read(colour), b.readPrevious(colour);
    b.sideEffect();
  };
  graph.addPass("reader", reader, {});
  EXPECT_EQ(planText(graph, {2, {{"reader", 1}}}),
            "batch 0 on node 0: no pass; sends previous colour_out (16 B) to node 1\n"
            "batch 1 on node 0: colour; sends colour_out (16 B) to node 1\n"
            "batch 2 on node 1: reader; waits for batch 1; waits for batch 0\n"
            "link 0 -> 1: 2 items, 32 B a frame\n");
}

TEST(Compile, AnInPlaceWriteTakesTheContentToItsNodeAndHome) {
  Graph graph;
  const auto made = addStep(graph, "make", {});
  const auto changed = graph.addPass("change", [&](PassBuilder& b) { return b.write(made); }, {});
  addSink(graph, "first_reader", changed);
  addSink(graph, "second_reader", changed);
  const Placement placement{2, {{"change", 1}}};
  EXPECT_EQ(planText(graph, placement),
            "batch 0 on node 0 (early): make; sends make_out (16 B) to node 1\n"
            "batch 1 on node 1: change; waits for batch 0; sends make_out (16 B) to node 0\n"
            "batch 2 on node 0: first_reader, second_reader; waits for batch 1\n"
            "link 0 -> 1: 1 items, 16 B a frame\n"
            "link 1 -> 0: 1 items, 16 B a frame\n");
  EXPECT_EQ((*compile(graph, placement)).homeOfResource[made.index], 1u);
}

TEST(Compile, ALaterNeedJoinsTheTransferThatItsBatchAlreadyWaitsFor) {
  Graph graph;
  const auto a = addStep(graph, "a", {});
  const auto b = addStep(graph, "b", {});
  addSink(graph, "uses_a", a);
  addSink(graph, "uses_b", b);
  const Plan plan = *compile(graph, {2, {{"uses_a", 1}, {"uses_b", 1}}});
  EXPECT_EQ(plan.text(graph),
            "batch 0 on node 0 (early): a, b; sends a_out (16 B), b_out (16 B) to node 1\n"
            "batch 1 on node 1: uses_a, uses_b; waits for batch 0\n"
            "link 0 -> 1: 2 items, 32 B a frame\n");
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.transfers[0].items[0].linkItem, 0u);
  EXPECT_EQ(plan.transfers[0].items[1].linkItem, 1u);
}

TEST(Compile, WorkBeforeTheWaitAndAfterTheSendHasItsOwnBatch) {
  Graph graph;
  const auto own = addStep(graph, "own", {});
  const auto made = addStep(graph, "make", {});
  addSink(graph, "joined", addStep(graph, "receive", {own, made}));
  addSink(graph, "after_send", made);
  EXPECT_EQ(planText(graph, {2, {{"own", 1}, {"receive", 1}, {"joined", 1}}}),
            "batch 0 on node 1 (early): own\n"
            "batch 1 on node 0 (early): make; sends make_out (16 B) to node 1\n"
            "batch 2 on node 1: receive, joined; waits for batch 1\n"
            "batch 3 on node 0: after_send\n"
            "link 0 -> 1: 1 items, 16 B a frame\n");
}

/// Post-processing on one node.
Placement postOn(uint32_t nodes, uint32_t node) {
  return {nodes, {{"motion_blur", node}, {"exposure", node}, {"tonemap", node}, {"readback", node}}, {}};
}

// What split-frame rendering is made of: both trace, the secondary's own rows stay where they are, the primary's cross
// in one hand-over of the planes that are read, and only tracing may overtake.
TEST(Compile, ASharedTraceSendsTheOtherNodesRowsOnly) {
  const Graph graph = realFrame();
  Placement placement = postOn(2, 1);
  placement.sharedBy["path_trace"] = {0, 1};
  const uint64_t pixels = kWidth * kHeight;
  EXPECT_EQ(planText(graph, placement),
            fmt::format("batch 0 on node 0 (early): path_trace; sends radiance ({} B), motion ({} B), depth ({} B) to "
                        "node 1\n"
                        "batch 1 on node 1 (early): path_trace\n"
                        "batch 2 on node 1: motion_blur, exposure, tonemap, readback; waits for batch 0\n"
                        "link 0 -> 1: 3 items, {} B a frame\n",
                        8 * pixels, 4 * pixels, 4 * pixels, 16 * pixels));
  const Plan plan = *compile(graph, placement);
  EXPECT_TRUE(plan.shares());
  EXPECT_EQ(plan.nodesOfPass[0], (std::vector<uint32_t>{0, 1}));
  ASSERT_EQ(plan.transfers.size(), 1u);
  for (const SentItem& item : plan.transfers[0].items) EXPECT_EQ(item.part, 0u) << "node 0 makes part 0";
}

TEST(Compile, PartsFollowTheOrderOfTheNodesThatShare) {
  const Graph graph = realFrame();
  Placement placement = postOn(2, 1);
  placement.sharedBy["path_trace"] = {1, 0};
  const Plan plan = *compile(graph, placement);
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.batches[plan.transfers[0].fromBatch].node, 0u);
  for (const SentItem& item : plan.transfers[0].items) EXPECT_EQ(item.part, 1u) << "node 0 makes part 1";
}

TEST(Compile, ASharedTraceOfThreeNodesComesToThePostByTwoTransfers) {
  const Graph graph = realFrame();
  Placement placement = postOn(3, 1);
  placement.sharedBy["path_trace"] = {0, 1, 2};
  const Plan plan = *compile(graph, placement);
  ASSERT_EQ(plan.transfers.size(), 2u);
  ASSERT_EQ(plan.batches.size(), 4u);
  std::set<std::pair<uint32_t, uint32_t>> senders;  // (node, part)
  for (const Transfer& transfer : plan.transfers) {
    EXPECT_EQ(plan.batches[transfer.toBatch].node, 1u);
    EXPECT_EQ(transfer.items.size(), 3u);
    for (const SentItem& item : transfer.items) senders.insert({plan.batches[transfer.fromBatch].node, item.part});
  }
  EXPECT_EQ(senders, (std::set<std::pair<uint32_t, uint32_t>>{{0, 0}, {2, 2}}));
  EXPECT_EQ(plan.batches[3].receives.size(), 2u);
  for (const Batch& batch : plan.batches) EXPECT_EQ(batch.early, batch.passes == std::vector<uint32_t>{0});
}

TEST(Compile, ASharedTraceWithPostOnThePrimarySendsTheOtherWay) {
  const Graph graph = realFrame();
  Placement placement = postOn(2, 0);
  placement.sharedBy["path_trace"] = {0, 1};
  const uint64_t pixels = kWidth * kHeight;
  EXPECT_EQ(planText(graph, placement),
            fmt::format("batch 0 on node 0 (early): path_trace\n"
                        "batch 1 on node 1 (early): path_trace; sends radiance ({} B), motion ({} B), depth ({} B) to "
                        "node 0\n"
                        "batch 2 on node 0: motion_blur, exposure, tonemap, readback; waits for batch 1\n"
                        "link 1 -> 0: 3 items, {} B a frame\n",
                        8 * pixels, 4 * pixels, 4 * pixels, 16 * pixels));
}

TEST(Compile, SharingWithOneNodeIsPlacingThere) {
  const Graph graph = realFrame();
  Placement shared = postOn(2, 1), placed = postOn(2, 1);
  shared.sharedBy["path_trace"] = {1};
  placed.nodeOfPass["path_trace"] = 1;
  EXPECT_EQ(planText(graph, shared), planText(graph, placed));
  EXPECT_FALSE((*compile(graph, shared)).shares());
}

// Overtaking would tear what waits behind: whose past is read, and what is changed after it has been made.
TEST(Compile, WhatHasAPastIsNotMadeEarly) {
  Graph graph;
  const auto colour = addStep(graph, "colour", {});
  const auto abroad = addStep(graph, "abroad", {});
  const auto reader = [&](PassBuilder& b) {
    b.read(abroad), b.readPrevious(colour);
    b.sideEffect();
  };
  graph.addPass("reader", reader, {});
  EXPECT_EQ(planText(graph, {2, {{"abroad", 1}}, {}}),
            "batch 0 on node 0: colour\n"
            "batch 1 on node 1 (early): abroad; sends abroad_out (16 B) to node 0\n"
            "batch 2 on node 0: reader; waits for batch 1\n"
            "link 1 -> 0: 1 items, 16 B a frame\n");
}

TEST(Compile, RefusesToShareWhatCannotBe) {
  const Graph graph = realFrame();
  const std::tuple<const char*, std::vector<uint32_t>, const char*> cases[] = {
      {"denoise", {0, 1}, "'denoise'"},      {"tonemap", {0, 1}, "cannot be shared"},
      {"path_trace", {0, 0}, "named twice"}, {"path_trace", {0, 2}, "'path_trace' on node 2"},
      {"path_trace", {}, "at least 1"},      {"denoise", {}, "'denoise'"}};
  for (const auto& [pass, nodes, words] : cases) {
    SCOPED_TRACE(fmt::format("'{}' shared by {} nodes", pass, nodes.size()));
    const auto plan = compile(graph, {2, {}, {{pass, nodes}}});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.refusal().exit, ExitCode::WrongUsage);
    EXPECT_NE(plan.refusal().message.find(words), std::string::npos) << plan.refusal().message;
  }
}

TEST(Compile, RefusesAPlacementThatNamesWhatIsNotThere) {
  const Graph graph = realFrame();
  const auto unknown = compile(graph, {2, {{"denoise", 1}}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.refusal().exit, ExitCode::WrongUsage);
  EXPECT_NE(unknown.refusal().message.find("'denoise'"), std::string::npos) << unknown.refusal().message;
  const auto tooFar = compile(graph, {2, {{"tonemap", 2}}});
  ASSERT_FALSE(tooFar);
  EXPECT_EQ(tooFar.refusal().exit, ExitCode::WrongUsage);
  EXPECT_NE(tooFar.refusal().message.find("'tonemap' on node 2"), std::string::npos) << tooFar.refusal().message;
  EXPECT_FALSE(compile(graph, {0, {}}));
}

}  // namespace
