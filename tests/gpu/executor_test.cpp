// The executor against truth: a graph with everything in it (transfers both ways, one resource to two nodes, in-place
// writes across nodes, history read at home and abroad) must give on 2 and 3 nodes, over every link, what plain
// arithmetic gives. And sabotage.
#include "exec/executor.h"

#include <algorithm>

#include "graph/recording.h"
#include "support/combine_push.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

struct Words {};
using Plane = graph::Resource<Words>;
constexpr uint32_t kWords = 4096;

uint32_t combined(uint32_t i, uint32_t constant, std::initializer_list<uint32_t> inputs, uint32_t rounds) {
  uint32_t state = constant ^ i;
  for (const uint32_t input : inputs) state = state * 747796405u + input + 1u;
  for (uint32_t r = 0; r < rounds; ++r) state = state * 2891336453u + (state >> 15);
  return state;
}

/// The test's frame. Each pass is named after the node that the widest placement gives it.
class TestFrame {
 public:
  /// Work per element: passes must last long enough that a missing wait shows, and a GPU is quick.
  static uint32_t rounds() { return testAdapter().software() ? 3'000 : 300'000; }
  graph::Graph graph;
  std::vector<std::vector<uint32_t>> results;  // per frame: what the last pass left, read back
  uint32_t frame = 0;

  explicit TestFrame(bool withCopyPass = false) {
    const Plane a = add("a", {}, 1, {});
    const Plane b = add("b", {a}, 2, {});         // a goes abroad
    Plane c = add("c", {a}, 3, {});               // and is read at home
    c = changeInPlace("d", c, {b}, 4);            // c goes abroad, changed there; b comes too
    const Plane e = add("e", {a, c, b}, 5, {c});  // the history of c, which lives where d ran
    Plane last = add("f", {e, b}, 6, {a});        // the history of a, from another node
    if (withCopyPass) last = copyOf(last);
    readBack(last);
  }

  /// The same by plain arithmetic, for one element.
  static std::vector<uint32_t> expected(uint32_t i, uint32_t frames) {
    std::vector<uint32_t> out;
    uint32_t previousA = 0, previousC = 0;
    for (uint32_t n = 0; n < frames; ++n) {
      const uint32_t a = combined(i, 1 + 1000 * n, {}, rounds()), b = combined(i, 2 + 1000 * n, {a}, rounds());
      const uint32_t c = combined(i, 3 + 1000 * n, {a}, rounds()), d = combined(i, 4 + 1000 * n, {c, b}, rounds());
      const uint32_t e = combined(i, 5 + 1000 * n, {a, d, b, previousC}, rounds());
      out.push_back(combined(i, 6 + 1000 * n, {e, b, previousA}, rounds()));
      previousA = a;
      previousC = d;
    }
    return out;
  }

 private:
  Plane add(const std::string& name, std::vector<Plane> inputs, uint32_t constant, std::vector<Plane> previous) {
    Plane out;
    graph.addPass(
        name,
        [&](graph::PassBuilder& builder) {
          for (const Plane& input : inputs) builder.read(input);
          for (const Plane& input : previous) builder.readPrevious(input);
          out = builder.create<Words>({name, kWords * 4, 1});
        },
        [this, inputs, previous, constant, target = &outputs_.emplace_back()](graph::Recording& recording) {
          std::vector<uint64_t> addresses;
          for (const Plane& input : inputs) addresses.push_back(recording.buffer(input).address());
          for (const Plane& input : previous) addresses.push_back(recording.previous(input).address());
          dispatch(recording, recording.buffer(*target).address(), addresses, constant);
        });
    outputs_.back() = out;
    return out;
  }

  Plane changeInPlace(const std::string& name, Plane plane, std::vector<Plane> inputs, uint32_t constant) {
    Plane out;
    graph.addPass(
        name,
        [&](graph::PassBuilder& builder) {
          for (const Plane& input : inputs) builder.read(input);
          out = builder.write(plane);
        },
        [this, inputs, constant, plane](graph::Recording& recording) {
          std::vector<uint64_t> addresses{recording.buffer(plane).address()};
          for (const Plane& input : inputs) addresses.push_back(recording.buffer(input).address());
          dispatch(recording, addresses[0], addresses, constant);
        });
    return out;
  }

  Plane copyOf(Plane plane) {
    Plane out, again;
    graph.addPass(
        "copy",
        [&](graph::PassBuilder& builder) {
          builder.read(plane);
          out = builder.create<Words>({"copied", kWords * 4, 1});
        },
        [plane, this](graph::Recording& recording) {
          recording.commands().copy(recording.buffer(plane), recording.buffer(copied_), kWords * 4);
        });
    copied_ = out;
    graph.addPass(
        "copy again",
        [&](graph::PassBuilder& builder) {
          builder.read(out);
          again = builder.create<Words>({"copied again", kWords * 4, 1});
        },
        [out, this](graph::Recording& recording) {
          recording.commands().copy(recording.buffer(out), recording.buffer(copiedAgain_), kWords * 4);
        });
    copiedAgain_ = again;
    return again;
  }

  void readBack(Plane plane) {
    graph.addPass(
        "out",
        [&](graph::PassBuilder& builder) {
          builder.read(plane);
          builder.sideEffect();
        },
        [this, plane](graph::Recording& recording) {
          kept_.emplace_back(recording.commands().device(), kWords * 4, gpu::Memory::Readback, "result");
          recording.commands().copy(recording.buffer(plane), kept_.back(), kWords * 4);
          recording.commands().barrierToHost();
        });
  }

  void dispatch(graph::Recording& recording, uint64_t target, const std::vector<uint64_t>& inputs,
                uint32_t constant) const {
    CombinePush push{target, {}, static_cast<uint32_t>(inputs.size()), constant + 1000 * frame, kWords, rounds()};
    std::copy(inputs.begin(), inputs.end(), push.inputs);
    recording.commands().dispatch("test/combine", push, {kWords / 64, 1, 1});
  }

 public:
  void collect() {
    for (gpu::Buffer& buffer : kept_) {
      buffer.invalidate();
      const auto* words = reinterpret_cast<const uint32_t*>(buffer.mapped().data());
      results.emplace_back(words, words + kWords);
    }
    kept_.clear();
  }
  void drop() { kept_.clear(); }

 private:
  std::deque<Plane> outputs_;
  Plane copied_, copiedAgain_;
  std::deque<gpu::Buffer> kept_;
};

struct DropOnExit {
  TestFrame& frame;
  ~DropOnExit() { frame.drop(); }
};

class ExecutorTest : public GpuFixture {
 protected:
  /// Runs frames with two in flight; returns how many words differ from arithmetic.
  uint64_t run(TestFrame& frame, const graph::Placement& placement, topology::LinkKind kind, uint32_t frames,
               gpu::Seam seam = {}) {
    auto opened = topology::open(instance(),
                                 {std::vector<uint32_t>(placement.nodes, testAdapter().index), kind, std::move(seam)});
    if (!opened) throw std::runtime_error(opened.refusal().message);
    const DropOnExit drop{frame};  // before the devices go
    auto plan = graph::compile(frame.graph, placement);
    if (!plan) throw std::runtime_error(plan.refusal().message);
    auto executor = exec::Executor::make(**opened, frame.graph, std::move(*plan), 2);
    if (!executor) throw std::runtime_error(executor.refusal().message);
    for (uint32_t n = 0; n < frames; ++n) {
      if (n >= 2) (*executor)->finish(n - 2);
      frame.frame = n;
      (*executor)->start();
    }
    for (uint32_t n = frames - 2; n < frames; ++n) passes_ = (*executor)->finish(n);
    links_ = (*executor)->linkReports();
    plannedBytes_ = (*executor)->plan().bytesSent();
    frame.collect();
    executor->reset();
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < kWords; i += testAdapter().software() ? 5 : 997) {
      const auto expected = TestFrame::expected(i, frames);
      for (uint32_t n = 0; n < frames; ++n) wrong += frame.results.at(n)[i] != expected[n] ? 1 : 0;
    }
    return wrong;
  }

  std::vector<exec::PassReport> passes_;
  std::vector<exec::LinkUse> links_;
  uint64_t plannedBytes_ = 0;
};

graph::Placement across(uint32_t nodes) {
  graph::Placement placement;
  placement.nodes = nodes;
  placement.nodeOfPass = {{"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}, {"e", nodes - 1}, {"f", 1}, {"out", 0}};
  return placement;
}

TEST_F(ExecutorTest, OneNode) {
  TestFrame frame;
  EXPECT_EQ(run(frame, {}, topology::LinkKind::Auto, 8), 0u);
  EXPECT_TRUE(links_.empty());
}

class ExecutorLinks : public ExecutorTest,
                      public testing::WithParamInterface<std::tuple<topology::LinkKind, uint32_t>> {};

TEST_P(ExecutorLinks, EqualsArithmetic) {
  const auto [kind, nodes] = GetParam();
  TestFrame frame;
  EXPECT_EQ(run(frame, across(nodes), kind, 12), 0u);
  uint64_t bytes = 0;
  for (const auto& link : links_) bytes += link.carried.bytes;
  EXPECT_GT(plannedBytes_, 0u);
  EXPECT_EQ(bytes, 12 * plannedBytes_) << "the links carried something else than the plan says";
  for (const auto& pass : passes_) {
    if (pass.name == "d") {
      EXPECT_EQ(pass.node, 1u);
    } else if (pass.name == "e") {
      EXPECT_EQ(pass.node, nodes - 1);
    }
  }
}

TEST_P(ExecutorLinks, SabotageDroppedWaitIsNoticed) {
  const auto [kind, nodes] = GetParam();
  TestFrame frame;
  const uint64_t wrong = run(frame, across(nodes), kind, 12, [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  });
  EXPECT_GT(wrong + takeMessages(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Links, ExecutorLinks,
                         testing::Combine(testing::Values(topology::LinkKind::HostImport, topology::LinkKind::HostCopy),
                                          testing::Values(2u, 3u)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param) == topology::LinkKind::HostImport
                                                  ? "HostImport"
                                                  : "HostCopy") +
                                  std::to_string(std::get<1>(tested.param)) + "Nodes";
                         });

// One barrier at a time is left out of the first frame; the ones between the two copying passes are hazards that
// validation sees.
TEST_F(ExecutorTest, SabotageSkippedBarrierIsNoticed) {
  uint64_t noticed = 0;
  for (int skipped = 1; skipped <= 14; ++skipped) {
    TestFrame frame(true);
    auto counter = std::make_shared<std::atomic<int>>(0);
    const uint64_t wrong = run(frame, {}, topology::LinkKind::Auto, 2, [counter, skipped](const gpu::SeamEvent& event) {
      if (event.point != gpu::SeamPoint::Barrier) return gpu::SeamReply::Proceed;
      return ++*counter == skipped ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
    });
    noticed += wrong + takeMessages() > 0 ? 1 : 0;
  }
  EXPECT_GE(noticed, 2u);
}

// A fault at any submit ends the run with the fault's own message and without a hang, on whichever thread it happens.
TEST_F(ExecutorTest, AFailingSubmitIsReportedAndNothingHangs) {
  for (int failing = 1; failing < 40; failing += 3) {
    TestFrame frame;
    auto counter = std::make_shared<std::atomic<int>>(0);
    try {
      run(frame, across(2), topology::LinkKind::HostCopy, 6, [counter, failing](const gpu::SeamEvent& event) {
        if (event.point != gpu::SeamPoint::Submit) return gpu::SeamReply::Proceed;
        return ++*counter == failing ? gpu::SeamReply::FailLost : gpu::SeamReply::Proceed;
      });
      FAIL() << "fault " << failing << " was swallowed";
    } catch (const gpu::DeviceLost& error) {
      EXPECT_NE(std::string(error.what()).find("VK_ERROR_DEVICE_LOST"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tandem::test
