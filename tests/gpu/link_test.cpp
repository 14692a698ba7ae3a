// Links: exact integers through every kind of link, with both nodes on one GPU, slots reused a thousand times. And
// sabotage: a link without its wait, or a slot reused too early, must be noticed; otherwise the tests above it prove
// nothing.
#include "topology/link.h"

#include "support/combine_push.h"
#include "support/gpu_fixture.h"
#include "topology/topology.h"

namespace tandem::test {
namespace {

using topology::LinkKind;

constexpr uint32_t kWords = 1 << 14;

/// A promise for the arrival that a link announces on its bridge's thread.
class Mailbox {
 public:
  std::function<void(topology::Arrival)> slot() {
    return [this](topology::Arrival arrival) {
      const std::lock_guard lock(mutex_);
      arrival_ = arrival;
      here_ = true;
      changed_.notify_all();
    };
  }
  gpu::SyncPoint take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(120), [this] { return here_; }))
      throw std::runtime_error("no arrival in 120 s");
    here_ = false;
    if (arrival_.failure) std::rethrow_exception(arrival_.failure);
    return arrival_.point;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  topology::Arrival arrival_;
  bool here_ = false;
};

/// What a node does in a round: target = input + 1, by shader.
uint32_t expectedStep(uint32_t value, uint32_t i) { return i * 747796405u + value + 1u; }

class TwoNodes : public GpuFixture {
 protected:
  std::unique_ptr<topology::Topology> openTwo(LinkKind kind, gpu::Seam seam = {}) {
    auto opened = topology::open(instance(), {{testAdapter().index, testAdapter().index}, kind, std::move(seam)});
    if (!opened) throw std::runtime_error(opened.refusal().message);
    return std::move(*opened);
  }
};

/// Parameters: kind of link, and how many frames (chains) are in flight.
class PingPongTest : public TwoNodes, public testing::WithParamInterface<std::tuple<LinkKind, uint32_t>> {};
class StreamTest : public TwoNodes, public testing::WithParamInterface<LinkKind> {};

std::unique_ptr<topology::Link> connect(topology::Topology& topology, uint32_t from, uint32_t to, uint64_t bytes) {
  auto link = topology.connect(from, to, {fmt::format("test {} -> {}", from, to), {bytes}, 3});
  if (!link) throw std::runtime_error(link.refusal().message);
  return std::move(*link);
}

/// Records and submits one dispatch of test/combine behind `wait`.
gpu::SyncPoint step(gpu::Commands& commands, gpu::SyncPoint wait, const gpu::Buffer* input, const gpu::Buffer& target,
                    uint32_t rounds = 0, uint32_t constant = 0) {
  CombinePush push{target.address(),
                   {input != nullptr ? input->address() : 0, 0, 0, 0},
                   input != nullptr ? 1u : 0u,
                   constant,
                   kWords,
                   rounds};
  commands.begin();
  commands.barrier();
  commands.dispatch("test/combine", push, {kWords / 64, 1, 1});
  commands.barrier();
  commands.end();
  const gpu::SyncPoint waits[] = {wait};
  return commands.device().queue().submit(
      commands.handle(),
      wait.queue != nullptr ? std::span<const gpu::SyncPoint>(waits) : std::span<const gpu::SyncPoint>(), "test step");
}

// A value goes back and forth 1,024 times in each of two or three chains at once, changed by both nodes.
TEST_P(PingPongTest, ExactAfterManyRounds) {
  const auto [kind, chains] = GetParam();
  auto topology = openTwo(kind);
  auto there = connect(*topology, 0, 1, kWords * 4);
  auto back = connect(*topology, 1, 0, kWords * 4);
  std::vector<std::unique_ptr<gpu::Commands>> atA, atB;
  std::vector<Mailbox> mailA(chains), mailB(chains);
  for (uint32_t c = 0; c < chains; ++c) {
    atA.push_back(std::make_unique<gpu::Commands>(topology->device(0), "a"));
    atB.push_back(std::make_unique<gpu::Commands>(topology->device(1), "b"));
  }
  constexpr uint32_t kRounds = 1024;
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t c = 0; c < chains; ++c) {
      const gpu::SyncPoint arrived = round == 0 ? gpu::SyncPoint{} : mailA[c].take();
      there->acquire(c);
      if (arrived.queue != nullptr) arrived.queue->wait(arrived.value, "command buffer reuse");
      const gpu::SyncPoint ready =
          step(*atA[c], arrived, round == 0 ? nullptr : &back->target(0, c), there->source(0, c));
      if (round > 0) back->release(c, ready);
      there->send(c, ready, mailB[c].slot());
    }
    for (uint32_t c = 0; c < chains; ++c) {
      const gpu::SyncPoint arrived = mailB[c].take();
      back->acquire(c);
      const gpu::SyncPoint ready = step(*atB[c], arrived, &there->target(0, c), back->source(0, c));
      there->release(c, ready);
      back->send(c, ready, mailA[c].slot());
    }
  }
  for (uint32_t c = 0; c < chains; ++c) {
    const gpu::SyncPoint last = mailA[c].take();
    last.queue->wait(last.value, "last");
    const auto words = download<uint32_t>(topology->device(0), back->target(0, c), kWords);
    for (uint32_t i = 0; i < kWords; i += 997) {
      uint32_t expected = i;  // the first step has no input
      for (uint32_t k = 1; k < 2 * kRounds; ++k) expected = expectedStep(expected, i);
      ASSERT_EQ(words[i], expected) << "chain " << c << " word " << i;
    }
  }
  const auto report = there->report();
  EXPECT_EQ(report.kind, topology::linkKindName(kind));
  EXPECT_EQ(report.transfers, kRounds * chains);
  EXPECT_EQ(report.bytes, uint64_t{kRounds} * chains * kWords * 4);
  EXPECT_GT(report.sendMs, 0.0);
  EXPECT_GT(report.receiveMs, 0.0);
}

/// Work per element that makes a batch last for about a millisecond, so that a missing wait has something to miss.
uint32_t senderRounds() { return testAdapter().software() ? 200 : 400'000; }
uint32_t readerRounds() { return testAdapter().software() ? 1'500 : 400'000; }

/// Sends `frames` different contents one way as fast as slots allow and counts the frames that arrive wrong.
uint32_t streamAndCountWrong(topology::Topology& topology, uint32_t frames) {
  std::vector<Mailbox> mail(frames);  // outlives the link, whose bridge calls it
  auto link = connect(topology, 0, 1, kWords * 4);
  std::vector<gpu::Buffer> kept;
  std::vector<std::unique_ptr<gpu::Commands>> commands;
  for (uint32_t f = 0; f < frames; ++f) kept.emplace_back(topology.device(1), kWords * 4, gpu::Memory::Device, "kept");
  auto receive = [&](uint32_t f) {
    const gpu::SyncPoint arrived = mail[f].take();
    auto& recorded = commands.emplace_back(std::make_unique<gpu::Commands>(topology.device(1), "receive"));
    link->release(f % 3, step(*recorded, arrived, &link->target(0, f % 3), kept[f], readerRounds()));
  };
  for (uint32_t f = 0; f < frames; ++f) {
    link->acquire(f % 3);
    auto& recorded = commands.emplace_back(std::make_unique<gpu::Commands>(topology.device(0), "send"));
    link->send(f % 3, step(*recorded, {}, nullptr, link->source(0, f % 3), senderRounds(), f + 1), mail[f].slot());
    if (f >= 2) receive(f - 2);
  }
  receive(frames - 2);
  receive(frames - 1);
  uint32_t wrong = 0;
  for (uint32_t f = 0; f < frames; ++f) {
    gpu::Buffer sent(topology.device(1), kWords * 4, gpu::Memory::Device, "sent"),
        expected(topology.device(1), kWords * 4, gpu::Memory::Device, "expected");
    gpu::Commands first(topology.device(1), "first"), second(topology.device(1), "second");
    const auto made = step(first, {}, nullptr, sent, senderRounds(), f + 1);
    const auto done = step(second, made, &sent, expected, readerRounds());
    done.queue->wait(done.value, "expected");
    wrong += download<uint32_t>(topology.device(1), expected, kWords) !=
                     download<uint32_t>(topology.device(1), kept[f], kWords)
                 ? 1
                 : 0;
  }
  return wrong;
}

TEST_P(StreamTest, StreamArrivesWhole) {
  auto topology = openTwo(GetParam());
  EXPECT_EQ(streamAndCountWrong(*topology, 24), 0u);
}

TEST_P(StreamTest, SabotageDroppedWaitIsNoticed) {
  auto topology = openTwo(GetParam(), [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  });
  const uint32_t wrong = streamAndCountWrong(*topology, 24);
  EXPECT_GT(wrong + takeMessages(), 0u) << "a bridge that waits for nothing went unnoticed";
}

// The link itself refuses a slot that was not waited for: what would follow is undefined, a crash of the driver
// included.
TEST_P(StreamTest, SabotageEarlySlotReuseIsNoticed) {
  auto topology = openTwo(GetParam(), [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::SlotWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  });
  EXPECT_THROW(streamAndCountWrong(*topology, 24), BrokenPromise);
}

std::string nameOf(LinkKind kind) { return kind == LinkKind::HostImport ? "HostImport" : "HostCopy"; }

INSTANTIATE_TEST_SUITE_P(Links, PingPongTest,
                         testing::Combine(testing::Values(LinkKind::HostImport, LinkKind::HostCopy),
                                          testing::Values(2u, 3u)),
                         [](const auto& tested) {
                           return nameOf(std::get<0>(tested.param)) + std::to_string(std::get<1>(tested.param));
                         });
INSTANTIATE_TEST_SUITE_P(Links, StreamTest, testing::Values(LinkKind::HostImport, LinkKind::HostCopy),
                         [](const auto& tested) { return nameOf(tested.param); });

}  // namespace
}  // namespace tandem::test
