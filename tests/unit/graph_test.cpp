// The graph's declarations and the compiler's plans, pinned as text: what waits for what, and how many bytes cross.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "graph/plan.h"

using namespace tandem;
using namespace tandem::graph;

namespace {

struct Radiance {};
struct Motion {};
struct Depth {};
struct Pixel {};

template <class From, class To>
constexpr bool kPasses = std::is_convertible_v<Resource<From>, Resource<To>>;
static_assert(!kPasses<Radiance, Depth> && !kPasses<Depth, Radiance> && kPasses<Depth, Depth>,
              "handles are typed by what they hold");
static_assert(!std::is_convertible_v<uint32_t, Resource<Depth>>, "a number is no handle");

constexpr uint64_t kWidth = 3840;
constexpr uint32_t kHeight = 2160;

BufferDesc plane(std::string name, uint64_t bytesPerPixel) {
  return {std::move(name), kWidth * bytesPerPixel, kHeight};
}
BufferDesc small(std::string name) { return {std::move(name), 16, 1}; }

/// The text of a plan that must exist.
std::string planText(const Graph& graph, const Placement& placement) {
  const Expected<Plan> plan = compile(graph, placement);
  return plan ? plan->text(graph) : "refused: " + plan.refusal().message;
}

template <class Declare>
void expectBroken(Declare declare, std::initializer_list<std::string> words) {
  try {
    declare();
    ADD_FAILURE() << "no promise was broken";
  } catch (const BrokenPromise& broken) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(broken.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << broken.what();
    }
  }
}

/// Adds a pass that creates one small resource of its own name + "_out" after reading `reads`.
Resource<Pixel> addStep(Graph& graph, const std::string& name, std::vector<Resource<Pixel>> reads) {
  return graph.addPass(name,
                       [&](PassBuilder& b) {
                         for (Resource<Pixel> handle : reads) b.read(handle);
                         return b.create<Pixel>(small(name + "_out"));
                       },
                       {});
}

void addSink(Graph& graph, const std::string& name, Resource<Pixel> input) {
  const auto declare = [&](PassBuilder& b) {
    b.read(input);
    b.sideEffect();
  };
  graph.addPass(name, declare, {});
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
                                       b.read(traced.radiance), b.read(traced.motion), b.read(traced.depth);
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

TEST(Graph, AWriteMakesANewVersionAndPassesKeepWhatTheyDeclared) {
  Graph graph;
  const auto first = addStep(graph, "make", {});
  const auto second = graph.addPass("change", [&](PassBuilder& b) { return b.write(first); }, {});
  EXPECT_EQ(second.index, first.index);
  EXPECT_EQ(second.version, first.version + 1);
  EXPECT_EQ(graph.version(first.index), second.version);
  EXPECT_EQ(graph.passes()[1].writes, (std::vector<Access>{{first.index, 1}}));
  EXPECT_TRUE(graph.passes()[1].reads.empty());
  EXPECT_FALSE(graph.passes()[1].temporal());
}

TEST(Graph, ReadingTwiceIsReadingOnce) {
  Graph graph;
  const auto made = addStep(graph, "make", {});
  addStep(graph, "use", {made, made});
  EXPECT_EQ(graph.passes()[1].reads.size(), 1u);
}

TEST(Graph, MisuseNamesPassAndResource) {
  Graph graph;
  const auto old = addStep(graph, "make", {});
  const auto now = graph.addPass("change", [&](PassBuilder& b) { return b.write(old); }, {});
  const Resource<Pixel> never;
  const auto declare = [&graph](auto body) {
    return [&graph, body] { graph.addPass("bad", [&](PassBuilder& b) { body(b); }, {}); };
  };
  expectBroken(declare([&](PassBuilder& b) { b.read(old); }), {"'bad'", "'make_out'", "version 0"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(old); }), {"'bad'", "'make_out'", "version 0"});
  expectBroken(declare([&](PassBuilder& b) { b.read(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { b.readPrevious(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.create<Pixel>({"nothing", 0, 4}); }), {"'bad'", "'nothing'"});
  expectBroken(declare([&](PassBuilder& b) { b.read(b.create<Pixel>(small("own"))); }), {"'bad'", "'own'"});
  expectBroken([&] { addStep(graph, "make", {}); }, {"'make'", "two passes"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(b.write(now)); }), {"'bad'", "'make_out'", "twice"});
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
      "batch 0 on node 0: path_trace; sends radiance ({} B), motion ({} B), depth ({} B) to node 1\n"
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
            "batch 0 on node 0: make; sends make_out (16 B) to node 1\n"
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
            "batch 0 on node 0: a, b; sends a_out (16 B), b_out (16 B) to node 1\n"
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
            "batch 0 on node 1: own\n"
            "batch 1 on node 0: make; sends make_out (16 B) to node 1\n"
            "batch 2 on node 1: receive, joined; waits for batch 1\n"
            "batch 3 on node 0: after_send\n"
            "link 0 -> 1: 1 items, 16 B a frame\n");
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
