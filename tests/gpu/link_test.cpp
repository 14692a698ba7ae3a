// Links: exact integers through every kind of link, slots reused a thousand times; both nodes on one GPU, and, where
// there are two GPUs, on both ("Apart"). And sabotage: a link without its wait, or a slot reused too early, must be
// noticed; otherwise the tests above it prove nothing. The cuda link needs libcuda.so.1 and GPUs of NVIDIA: elsewhere
// its tests are skipped, with the link's own reason.
#include "topology/link.h"

#include <algorithm>

#include "support/combine_push.h"
#include "support/gpu_fixture.h"
#include "topology/cuda_driver.h"
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

/// A kind of link, between one GPU opened twice or (apart) between two.
struct Way {
  LinkKind kind;
  bool apart = false;
};

std::string nameOf(Way way) {
  std::string name(topology::linkKindName(way.kind));
  std::erase(name, '-');
  return name + (way.apart ? "Apart" : "");
}

class TwoNodes : public GpuFixture {
 protected:
  /// The adapters of both nodes; one only where a machine has no second GPU.
  std::vector<uint32_t> adaptersFor(bool apart) {
    std::vector<uint32_t> chosen{testAdapter().index};
    if (!apart) chosen.push_back(testAdapter().index);
    for (const gpu::Adapter& adapter : instance().adapters()) {
      const bool other = adapter.usable() && !adapter.software() && adapter.uuid != testAdapter().uuid;
      if (chosen.size() < 2 && other) chosen.push_back(adapter.index);
    }
    return chosen;
  }
  std::unique_ptr<topology::Topology> openTwo(Way way, gpu::Seam seam = {}, double linkGbps = 0.0) {
    auto opened = topology::open(
        instance(), {adaptersFor(way.apart), way.kind, std::move(seam), topology::TopologyKind::Independent, linkGbps});
    if (!opened) throw std::runtime_error(opened.refusal().message);
    return std::move(*opened);
  }
  /// Why this machine cannot have such a link; empty: it can. A lone GPU that CUDA knows must be able to.
  std::string missing(Way way) {
    if (adaptersFor(way.apart).size() < 2) return "there is no second GPU";
    if (way.kind != LinkKind::Cuda) return {};
    const auto topology = openTwo(way);  // outlives the link
    auto link = topology->connect(0, 1, {"test", {4}, 3});
    return link ? std::string() : link.refusal().message;
  }
};

#define SKIP_WHERE_MISSING(way) \
  if (const std::string reason = missing(way); !reason.empty()) GTEST_SKIP() << reason

/// Parameters: the link, and how many frames (chains) are in flight.
class PingPongTest : public TwoNodes, public testing::WithParamInterface<std::tuple<Way, uint32_t>> {};
class StreamTest : public TwoNodes, public testing::WithParamInterface<Way> {};

std::unique_ptr<topology::Link> connect(topology::Topology& topology, uint32_t from, uint32_t to,
                                        std::vector<uint64_t> itemBytes) {
  auto link = topology.connect(from, to, {fmt::format("test {} -> {}", from, to), std::move(itemBytes), 3});
  if (!link) throw std::runtime_error(link.refusal().message);
  return std::move(*link);
}

constexpr uint64_t kWhole[] = {kWords * 4};

void wait(gpu::SyncPoint point) {
  if (point.queue != nullptr) point.queue->wait(point.value, "test");
}

/// Records and submits one dispatch of test/combine behind a point.
gpu::SyncPoint step(gpu::Commands& commands, gpu::SyncPoint behind, const gpu::Buffer* input, const gpu::Buffer& target,
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
  const gpu::SyncPoint waits[] = {behind};
  return commands.device().queue().submit(commands.handle(), waits, "test step");
}

// A value goes back and forth 1,024 times in each of two or three chains at once, changed by both nodes.
TEST_P(PingPongTest, ExactAfterManyRounds) {
  const auto [way, chains] = GetParam();
  SKIP_WHERE_MISSING(way);
  auto topology = openTwo(way);
  auto there = connect(*topology, 0, 1, {kWords * 4});
  auto back = connect(*topology, 1, 0, {kWords * 4});
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
      wait(arrived);  // the command buffer is reused
      const gpu::SyncPoint ready =
          step(*atA[c], arrived, round == 0 ? nullptr : &back->target(0, c), there->source(0, c));
      if (round > 0) back->release(c, ready);
      there->send(c, ready, kWhole, mailB[c].slot());
    }
    for (uint32_t c = 0; c < chains; ++c) {
      const gpu::SyncPoint arrived = mailB[c].take();
      back->acquire(c);
      const gpu::SyncPoint ready = step(*atB[c], arrived, &there->target(0, c), back->source(0, c));
      there->release(c, ready);
      back->send(c, ready, kWhole, mailA[c].slot());
    }
  }
  for (uint32_t c = 0; c < chains; ++c) {
    wait(mailA[c].take());
    const auto words = download<uint32_t>(topology->device(0), back->target(0, c), kWords);
    for (uint32_t i = 0; i < kWords; i += 997) {
      uint32_t expected = i;  // the first step has no input
      for (uint32_t k = 1; k < 2 * kRounds; ++k) expected = expectedStep(expected, i);
      ASSERT_EQ(words[i], expected) << "chain " << c << " word " << i;
    }
  }
  const auto report = there->report();
  EXPECT_EQ(report.kind, topology::linkKindName(way.kind));
  EXPECT_EQ(report.transfers, kRounds * chains);
  EXPECT_EQ(report.bytes, uint64_t{kRounds} * chains * kWords * 4);
  EXPECT_EQ(report.sendMs > 0.0, way.kind != LinkKind::Cuda);
  EXPECT_EQ(report.receiveMs > 0.0, way.kind != LinkKind::Cuda);
  EXPECT_EQ(report.directMs > 0.0, way.kind == LinkKind::Cuda);
  EXPECT_GT(report.streamedGigabytesPerSecond(), 0.0);
}

/// Work per element that makes a batch last for about a millisecond, so that a missing wait has something to miss.
uint32_t senderRounds() { return testAdapter().software() ? 200 : 400'000; }
uint32_t readerRounds() { return testAdapter().software() ? 1'500 : 400'000; }

/// Sends `frames` different contents one way as fast as slots allow and counts the frames that arrive wrong.
uint32_t streamAndCountWrong(topology::Topology& topology, uint32_t frames) {
  std::vector<Mailbox> mail(frames);  // outlives the link, whose bridge calls it
  auto link = connect(topology, 0, 1, {kWords * 4});
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
    link->send(f % 3, step(*recorded, {}, nullptr, link->source(0, f % 3), senderRounds(), f + 1), kWhole,
               mail[f].slot());
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
    wait(step(second, made, &sent, expected, readerRounds()));
    wrong += download<uint32_t>(topology.device(1), expected, kWords) !=
                     download<uint32_t>(topology.device(1), kept[f], kWords)
                 ? 1
                 : 0;
  }
  return wrong;
}

TEST_P(StreamTest, StreamArrivesWhole) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam());
  EXPECT_EQ(streamAndCountWrong(*topology, 24), 0u);
}

TEST_P(StreamTest, SabotageDroppedWaitIsNoticed) {
  SKIP_WHERE_MISSING(GetParam());
  if (GetParam().kind == LinkKind::Cuda && !GetParam().apart)
    GTEST_SKIP() << "within one GPU CUDA's copy was not seen to overtake Vulkan's work; two GPUs are the test";
  auto topology = openTwo(GetParam(), [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  });
  const uint32_t wrong = streamAndCountWrong(*topology, 24);
  EXPECT_GT(wrong + takeMessages(), 0u) << "a bridge that waits for nothing went unnoticed";
}

// The link itself refuses a slot that was not waited for: what would follow is undefined, a crash of the driver
// included.
TEST_P(StreamTest, SabotageEarlySlotReuseIsNoticed) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam(), [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::SlotWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  });
  EXPECT_THROW(streamAndCountWrong(*topology, 24), BrokenPromise);
}

/// Writes words into a link's source, sends so many leading bytes of each item, and waits until they are there.
void carryWords(topology::Link& link, uint32_t slot, const std::vector<std::vector<uint32_t>>& items,
                std::vector<uint64_t> itemBytes) {
  link.acquire(slot);
  gpu::Device& device = link.source(0, slot).device();
  gpu::runOnce(device, "test words", [&](gpu::Commands& commands) {
    commands.barrier();
    for (uint32_t item = 0; item < items.size(); ++item)
      commands.update(link.source(item, slot), 0, std::as_bytes(std::span(items[item])));
    commands.barrier();
  });
  const auto mail = std::make_shared<Mailbox>();  // the link's too, until it has called
  // The words are there already: nothing to wait for.
  link.send(slot, {}, itemBytes, [mail](const topology::Arrival& arrival) { mail->slot()(arrival); });
  wait(mail->take());
  link.release(slot, {});
}

/// Words that tell where they are and which transfer they belong to.
std::vector<uint32_t> words(uint32_t transfer, uint32_t item) {
  std::vector<uint32_t> made(kWords);
  for (uint32_t i = 0; i < kWords; ++i) made[i] = (transfer << 24 | item << 20) + i;
  return made;
}

TEST_P(StreamTest, OnlyTheLeadingBytesOfAnItemCross) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam());
  auto link = connect(*topology, 0, 1, {kWords * 4, kWords * 4, kWords * 4});
  constexpr uint32_t kCrossing = 5003;  // neither a power of two nor of whole pages
  const std::vector<std::vector<uint32_t>> first{words(1, 0), words(1, 1), words(1, 2)};
  const std::vector<std::vector<uint32_t>> second{words(2, 0), words(2, 1), words(2, 2)};
  carryWords(*link, 1, first, {kWords * 4, kWords * 4, kWords * 4});
  carryWords(*link, 1, second, {kCrossing * 4, 0, kWords * 4});

  std::vector<std::vector<uint32_t>> expected{first[0], first[1], second[2]};
  std::copy_n(second[0].begin(), kCrossing, expected[0].begin());
  for (uint32_t item = 0; item < 3; ++item)
    EXPECT_EQ(download<uint32_t>(topology->device(1), link->target(item, 1), kWords), expected[item])
        << "item " << item;
  const auto report = link->report();
  EXPECT_EQ(report.transfers, 2u);
  EXPECT_EQ(report.bytes, uint64_t{4} * (3 * kWords + kCrossing + kWords));
}

TEST_P(StreamTest, WithoutBytesTheHandOverHappensAllTheSame) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam());
  auto link = connect(*topology, 0, 1, {kWords * 4});
  carryWords(*link, 0, {words(1, 0)}, {kWords * 4});
  carryWords(*link, 0, {words(2, 0)}, {0});
  EXPECT_EQ(download<uint32_t>(topology->device(1), link->target(0, 0), kWords), words(1, 0));
  EXPECT_EQ(link->report().transfers, 2u);
  EXPECT_EQ(link->takeEvents().size(), 1u);
}

TEST_P(StreamTest, MoreBytesThanAnItemHasAreABrokenPromise) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam());
  auto link = connect(*topology, 0, 1, {kWords * 4});
  link->acquire(0);
  const uint64_t tooMany[] = {kWords * 4 + 4};
  EXPECT_THROW(link->send(0, {}, tooMany, [](topology::Arrival) {}), BrokenPromise);
  EXPECT_THROW(link->send(0, {}, {}, [](topology::Arrival) {}), BrokenPromise);
}

// 8 MB at 0.02 GB/s take 0.4 s at least, however they are divided; nothing is said about how much longer.
TEST_P(StreamTest, AThrottledLinkTakesItsTime) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam(), {}, 0.02);
  constexpr uint64_t kBytes[] = {4'000'000};
  std::vector<Mailbox> mail(2);
  auto link = connect(*topology, 0, 1, {kBytes[0]});
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t slot = 0; slot < 2; ++slot) {
    link->acquire(slot);
    link->send(slot, {}, kBytes, mail[slot].slot());
  }
  for (Mailbox& box : mail) wait(box.take());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
  EXPECT_NE(link->report().path.find("throttled to 0.02 GB/s"), std::string::npos) << link->report().path;

  const auto events = link->takeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_LE(events[0].beginNs, events[1].beginNs);
  EXPECT_GE(events[1].endNs - events[0].beginNs, 400'000'000u);
  for (const auto& event : events) EXPECT_EQ(event.bytes, kBytes[0]);
  EXPECT_TRUE(link->takeEvents().empty());
}

TEST_P(StreamTest, AFailingWaitReachesTheReceiver) {
  SKIP_WHERE_MISSING(GetParam());
  auto topology = openTwo(GetParam(), [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::FailTimeout : gpu::SeamReply::Proceed;
  });
  Mailbox mail;
  auto link = connect(*topology, 0, 1, {kWords * 4});
  link->acquire(0);
  gpu::Commands commands(topology->device(0), "test");
  link->send(0, step(commands, {}, nullptr, link->source(0, 0)), kWhole, mail.slot());
  EXPECT_THROW(mail.take(), gpu::DeviceLost);
}

TEST_F(TwoNodes, KindsThatCannotBeSayWhyAndWhatWorks) {
  const auto refusalOf = [&](LinkKind kind) {
    const auto topology = openTwo({kind});  // outlives the link
    auto link = topology->connect(0, 1, {"test", {4}, 3});
    return link ? std::string() : link.refusal().message;
  };
  EXPECT_NE(refusalOf(LinkKind::Peer).find("--link host-"), std::string::npos) << refusalOf(LinkKind::Peer);
  const std::string reason = refusalOf(LinkKind::Cuda);
  if (const auto& driver = topology::cuda::driver(); !driver) {
    EXPECT_NE(reason.find("libcuda.so.1"), std::string::npos) << reason;
  } else if (testAdapter().vendorId != 0x10de) {
    EXPECT_NE(reason.find("NVIDIA"), std::string::npos) << reason;
  } else {
    EXPECT_EQ(reason, "");  // a GPU that CUDA knows can copy within itself
  }
  if (!reason.empty()) {
    EXPECT_NE(reason.find("--link host-import or host-copy works"), std::string::npos) << reason;
  }
}

constexpr Way kWays[] = {{LinkKind::HostImport},       {LinkKind::HostCopy},       {LinkKind::Cuda},
                         {LinkKind::HostImport, true}, {LinkKind::HostCopy, true}, {LinkKind::Cuda, true}};

INSTANTIATE_TEST_SUITE_P(Links, PingPongTest, testing::Combine(testing::ValuesIn(kWays), testing::Values(2u, 3u)),
                         [](const auto& tested) {
                           return nameOf(std::get<0>(tested.param)) + std::to_string(std::get<1>(tested.param));
                         });
INSTANTIATE_TEST_SUITE_P(Links, StreamTest, testing::ValuesIn(kWays),
                         [](const auto& tested) { return nameOf(tested.param); });

}  // namespace
}  // namespace tandem::test
