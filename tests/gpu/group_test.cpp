// The linked group of GPUs, on a machine that has none: tests/layers makes a group of two of one software driver, with
// the validation layer above it, which therefore holds us to the rules of groups. The layer below watches what
// validation cannot see: each command on the GPU that it was meant for, each byte in that GPU's memory, nothing
// reached but by the one access that a group must allow. Any message fails a test.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <deque>

#include "exec/executor.h"
#include "gpu/textures.h"
#include "graph/recording.h"
#include "layers/group_fixture.h"
#include "layers/group_layer.h"
#include "support/combine_push.h"
#include "support/gpu_fixture.h"
#include "topology/topology.h"

namespace tandem::test {
namespace {

using topology::LinkKind;
using topology::TopologyKind;

constexpr uint32_t kWords = 4096;
TEST_F(GroupTest, OneLogicalDeviceWithASeatOnEachGpu) {
  const auto group = openGroup();
  EXPECT_EQ(group->kind(), "group");
  ASSERT_EQ(group->nodes(), 2u);
  EXPECT_NE(&group->device(0), &group->device(1));
  EXPECT_EQ(group->device(0).handle(), group->device(1).handle());
  EXPECT_EQ(seen().devices, 1u);
}

TEST_F(GroupTest, AutoTakesTheGroupAndOthersAreLeftAlone) {
  auto automatic = tryOpen({0, 1}, TopologyKind::Auto);
  ASSERT_TRUE(automatic);
  EXPECT_EQ((*automatic)->kind(), "group");
  auto apart = tryOpen({0, 1}, TopologyKind::Independent);
  ASSERT_TRUE(apart);
  EXPECT_EQ((*apart)->kind(), "independent");
  EXPECT_NE((*apart)->device(0).handle(), (*apart)->device(1).handle());
  auto bridged = tryOpen({0, 1}, TopologyKind::Auto, LinkKind::HostImport);
  ASSERT_TRUE(bridged);
  EXPECT_EQ((*bridged)->kind(), "independent") << "this link joins two devices";
  auto lone = tryOpen({1}, TopologyKind::Auto);
  ASSERT_TRUE(lone);
  EXPECT_EQ((*lone)->kind(), "single");
}

TEST_F(GroupTest, RefusalsNameTheGroups) {
  const auto twice = tryOpen({1, 1}, TopologyKind::Group);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.refusal().message.find("{0, 1}"), std::string::npos) << twice.refusal().message;
  EXPECT_NE(twice.refusal().message.find("--topology independent"), std::string::npos);
  const auto lone = tryOpen({0}, TopologyKind::Group);
  ASSERT_FALSE(lone);
  EXPECT_EQ(lone.refusal().exit, ExitCode::WrongUsage);
  const auto single = tryOpen({0, 1}, TopologyKind::Single);
  ASSERT_FALSE(single);
  const auto throttled = openGroup(LinkKind::Peer)->connect(0, 1, {"test", {64}, 3, 0.1});
  ASSERT_FALSE(throttled);
  EXPECT_NE(throttled.refusal().message.find("--link host-copy"), std::string::npos) << throttled.refusal().message;
  const auto import = openGroup(LinkKind::HostImport)->connect(0, 1, {"test", {64}, 3});
  ASSERT_FALSE(import);
  EXPECT_NE(import.refusal().message.find("--link peer"), std::string::npos) << import.refusal().message;
}

// The mask of GPU 1 is right in a group and wrong on a lone device; a mask that widens the one of the beginning, or
// names a third GPU, is wrong here too. If validation did not see a group of two it could not tell these apart.
TEST_F(GroupTest, ValidationKnowsTheRulesOfGroups) {
  const auto group = openGroup();
  gpu::Commands commands(group->device(1), "masks");
  const auto messagesFor = [&](uint32_t mask) {
    commands.begin();
    group->device(1).api().vkCmdSetDeviceMask(commands.handle(), mask);
    commands.end();
    return takeMessages();
  };
  EXPECT_EQ(messagesFor(2), "");
  EXPECT_NE(messagesFor(1).find("VUID-vkCmdSetDeviceMask-deviceMask-00110"), std::string::npos);
  EXPECT_NE(messagesFor(4).find("VUID-vkCmdSetDeviceMask-deviceMask-00108"), std::string::npos);
}

TEST_F(GroupTest, MemoryLiesOnTheSeatsOwnGpu) {
  const auto group = openGroup();
  const GroupLayerCounts start = seen();
  const std::vector<uint8_t> texels(64 * 64 * 4, 7);
  const gpu::TextureSource source{"grey", 64, 64, texels.data()};
  std::vector<uint32_t> words(kWords, 5);
  {
    const gpu::TextureTable textures(group->device(1), std::span(&source, 1));
    const gpu::Buffer buffer = upload(group->device(1), words, "words");
    EXPECT_EQ(download<uint32_t>(group->device(1), buffer, kWords), words);
  }
  const GroupLayerCounts end = seen();
  EXPECT_EQ(end.allocatedBytes[0], start.allocatedBytes[0]);
  EXPECT_GE(end.allocatedBytes[1] - start.allocatedBytes[1], texels.size() + words.size() * 4);
  expectClean(end);
}

// The watch of the layer has teeth: a copy straight into the other seat's buffer would work on the one device
// underneath, and on no real group.
TEST_F(GroupTest, AStrayCopyIsNoticed) {
  const auto group = openGroup();
  const gpu::Buffer own(group->device(0), 256, gpu::Memory::Device, "own");
  const gpu::Buffer others(group->device(1), 256, gpu::Memory::Device, "other's");
  gpu::runOnce(group->device(0), "stray", [&](gpu::Commands& commands) { commands.copy(own, others, 256); });
  EXPECT_EQ(seen().strayAccesses, 1u);
}

/// Sends one slot and gives the point at which it has arrived.
gpu::SyncPoint transfer(topology::Link& link, uint32_t slot, gpu::SyncPoint ready, std::vector<uint64_t> bytes) {
  topology::Arrival here;
  bool called = false;
  link.send(slot, ready, bytes, [&](topology::Arrival arrival) {
    here = arrival;
    called = true;
  });
  if (!called) throw std::runtime_error("a peer link calls back before send returns");
  if (here.failure) std::rethrow_exception(here.failure);
  return here.point;
}

TEST_F(GroupTest, PeerCarriesExactlyTheBytesAskedFor) {
  const auto group = openGroup(LinkKind::Peer);
  auto link = group->connect(0, 1, {"test", {kWords * 4, 64}, 3});
  ASSERT_TRUE(link) << link.refusal().message;
  for (uint32_t frame = 0; frame < 9; ++frame) {
    const uint32_t slot = frame % 3, sent = frame % 4 == 3 ? 0 : kWords / (1 + frame % 4);
    gpu::runOnce(group->device(1), "old", [&](gpu::Commands& c) { c.fill((*link)->target(0, slot), 77); });
    (*link)->acquire(slot);
    gpu::Commands write(group->device(0), "write");
    write.begin();
    write.fill((*link)->source(0, slot), 1000 + frame);
    write.barrier();
    write.end();
    const gpu::SyncPoint ready = group->device(0).queue().submit(write.handle(), {}, "write");
    const gpu::SyncPoint arrived = transfer(**link, slot, ready, {sent * 4, 0});
    arrived.queue->wait(arrived.value, "arrival");
    (*link)->release(slot, arrived);
    const auto words = download<uint32_t>(group->device(1), (*link)->target(0, slot), kWords);
    for (uint32_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], i < sent ? 1000 + frame : 77u) << frame << " word " << i;
  }
  const auto report = (*link)->report();
  EXPECT_EQ(report.kind, "peer");
  EXPECT_EQ(report.transfers, 9u);
  EXPECT_EQ(report.bytes, 4u * (3 * kWords + 2 * (kWords / 2) + 2 * (kWords / 3)));
  EXPECT_GT(report.directMs, 0.0);
  const auto events = (*link)->takeEvents();
  ASSERT_EQ(events.size(), 7u) << "one for each transfer with bytes";
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_LE(events[i].beginNs, events[i].endNs);
    EXPECT_GE(events[i].beginNs, events[i > 0 ? i - 1 : 0].beginNs);
  }
  EXPECT_EQ(seen().peerCopies, 7u) << "copies of nothing, or copies that stayed at home";
  expectClean(seen());
}

TEST_F(GroupTest, ASlotIsSentOnlyAfterItWasAcquired) {
  const auto group = openGroup(LinkKind::Peer);
  auto link = group->connect(0, 1, {"test", {64}, 3});
  ASSERT_TRUE(link);
  EXPECT_THROW(transfer(**link, 0, {}, {64}), BrokenPromise);
  (*link)->acquire(0);
  EXPECT_THROW(transfer(**link, 0, {}, {65}), BrokenPromise);
}

using Plane = graph::Resource<uint32_t>;

/// A frame with transfers both ways, one resource read on both nodes, and history from the other node.
class Frame {
 public:
  graph::Graph graph;
  uint32_t number = 0;

  Frame() {
    const Plane a = pass("a", {}, {}, 1);
    const Plane b = pass("b", {a}, {}, 2);     // a goes to node 1
    const Plane c = pass("c", {a, b}, {}, 3);  // b comes back
    last_ = pass("d", {b, c}, {a}, 4);         // c and the history of a go to node 1
    graph.addPass(
        "out",
        [&](graph::PassBuilder& builder) {
          builder.read(last_);
          builder.sideEffect();
        },
        [this](graph::Recording& recording) {
          kept.emplace_back(recording.commands().device(), kWords * 4, gpu::Memory::Readback, "kept");
          recording.commands().copy(recording.buffer(last_), kept.back(), kWords * 4);
          recording.commands().barrierToHost();
        });
  }

  static graph::Placement placement() {
    graph::Placement across;
    across.nodes = 2;
    across.nodeOfPass = {{"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}, {"out", 1}};
    return across;
  }

  /// Word `i` of each frame, by plain arithmetic.
  static std::vector<uint32_t> expected(uint32_t i, uint32_t frames) {
    std::vector<uint32_t> result;
    uint32_t before = 0;
    for (uint32_t n = 0; n < frames; ++n) {
      const uint32_t a = word(i, n, 1, {}), b = word(i, n, 2, {a}), c = word(i, n, 3, {a, b});
      result.push_back(word(i, n, 4, {b, c, before}));
      before = a;
    }
    return result;
  }

  std::deque<gpu::Buffer> kept;

 private:
  static constexpr uint32_t kRounds = 200;

  static uint32_t word(uint32_t i, uint32_t frame, uint32_t constant, std::initializer_list<uint32_t> inputs) {
    uint32_t state = (constant + 10 * frame) ^ i;
    for (const uint32_t input : inputs) state = state * 747796405u + input + 1u;
    for (uint32_t r = 0; r < kRounds; ++r) state = state * 2891336453u + (state >> 15);
    return state;
  }

  Plane pass(const char* name, std::vector<Plane> inputs, std::vector<Plane> previous, uint32_t constant) {
    const auto made = std::make_shared<Plane>();
    graph.addPass(
        name,
        [&](graph::PassBuilder& builder) {
          for (const Plane& input : inputs) builder.read(input);
          for (const Plane& input : previous) builder.readPrevious(input);
          *made = builder.create<uint32_t>({name, kWords * 4, 1});
        },
        [=, this](graph::Recording& recording) {
          CombinePush push{recording.buffer(*made).address(), {}, 0, constant + 10 * number, kWords, kRounds};
          for (const Plane& input : inputs) push.inputs[push.inputCount++] = recording.buffer(input).address();
          for (const Plane& input : previous) push.inputs[push.inputCount++] = recording.previous(input).address();
          recording.commands().dispatch("test/combine", push, {kWords / 64, 1, 1});
        });
    return *made;
  }

  Plane last_;
};

class GroupLinks : public GroupTest, public testing::WithParamInterface<LinkKind> {};

TEST_P(GroupLinks, AGraphOverTheGroupEqualsArithmetic) {
  constexpr uint32_t kFrames = 8;
  const auto group = openGroup(GetParam());
  Frame frame;
  auto plan = graph::compile(frame.graph, Frame::placement());
  ASSERT_TRUE(plan) << plan.refusal().message;
  {
    auto executor = exec::Executor::make(*group, frame.graph, std::move(*plan), 2);
    ASSERT_TRUE(executor) << executor.refusal().message;
    for (uint32_t n = 0; n < kFrames; ++n) {
      if (n >= 2) (*executor)->finish(n - 2);
      frame.number = n;
      (*executor)->start();
    }
    for (uint32_t n = kFrames - 2; n < kFrames; ++n) (*executor)->finish(n);
    ASSERT_FALSE((*executor)->linkReports().empty());
    for (const auto& use : (*executor)->linkReports()) {
      EXPECT_EQ(use.carried.kind, topology::linkKindName(GetParam()));
      EXPECT_EQ(use.carried.bytes, kFrames * use.plannedBytesPerFrame);
    }
  }
  for (uint32_t i = 0; i < kWords; ++i) {
    const auto expected = Frame::expected(i, kFrames);
    for (uint32_t n = 0; n < kFrames; ++n) {
      frame.kept[n].invalidate();
      const auto* words = reinterpret_cast<const uint32_t*>(frame.kept[n].mapped().data());
      ASSERT_EQ(words[i], expected[n]) << "frame " << n << " word " << i;
    }
  }
  frame.kept.clear();  // before their device goes
  EXPECT_GE(seen().submits[0], uint64_t{kFrames});
  EXPECT_GE(seen().submits[1], uint64_t{kFrames});
  EXPECT_EQ(seen().peerCopies > 0, GetParam() == LinkKind::Peer);
  expectClean(seen());
}

INSTANTIATE_TEST_SUITE_P(Links, GroupLinks, testing::Values(LinkKind::Peer, LinkKind::HostCopy),
                         [](const auto& tested) { return tested.param == LinkKind::Peer ? "Peer" : "HostCopy"; });

// Real linked GPUs, where there are any: no layer but validation.
TEST(GroupHardware, AGroupOfRealGpusCarriesBytes) {
  auto opened = gpu::Instance::open({.validation = true});
  ASSERT_TRUE(opened) << opened.refusal().message;
  gpu::Instance& instance = **opened;
  std::string sizes;
  for (const auto& members : gpu::listDeviceGroups(instance.handle(), instance.adapters())) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(members.size());
    if (members.size() < 2) continue;
    topology::TopologyRequest request;
    request.adapters = {members[0], members[1]};
    request.kind = TopologyKind::Group;
    auto group = topology::open(instance, request);
    ASSERT_TRUE(group) << group.refusal().message;
    auto link = (*group)->connect(0, 1, {"test", {kWords * 4}, 3});
    ASSERT_TRUE(link) << link.refusal().message;
    (*link)->acquire(0);
    gpu::runOnce((*group)->device(0), "write", [&](gpu::Commands& c) { c.fill((*link)->source(0, 0), 4711); });
    const gpu::SyncPoint arrived = transfer(**link, 0, {}, {kWords * 4});
    arrived.queue->wait(arrived.value, "arrival");
    (*link)->release(0, arrived);
    EXPECT_EQ(download<uint32_t>((*group)->device(1), (*link)->target(0, 0), kWords),
              std::vector<uint32_t>(kWords, 4711));
    EXPECT_EQ(instance.messages().count(), 0u);
    return;
  }
  GTEST_SKIP() << "no linked group of two GPUs on this machine; sizes of its groups: " << sizes;
}

}  // namespace
}  // namespace tandem::test
