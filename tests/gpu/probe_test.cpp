// Probing: links that work pass with figures, and links that do not are found out, with the word at which they went
// wrong.
#include "topology/probe.h"

#include <cstdlib>
#include <filesystem>

#include "support/gpu_fixture.h"
#include "topology/link_host_copy.h"

namespace tandem::test {
namespace {

using topology::KindProbe;
using topology::LinkDesc;
using topology::LinkKind;
using LinkOr = Expected<std::unique_ptr<topology::Link>>;

constexpr topology::LinkKind kHostCopy[] = {LinkKind::HostCopy};

/// A link that hands everything on to another, and is what a test makes of it.
class Decorated : public topology::Link {
 public:
  explicit Decorated(std::unique_ptr<topology::Link> inner) : inner_(std::move(inner)) {}
  const gpu::Buffer& source(uint32_t item, uint32_t slot) const override { return inner_->source(item, slot); }
  const gpu::Buffer& target(uint32_t item, uint32_t slot) const override { return inner_->target(item, slot); }
  void acquire(uint32_t slot) override { inner_->acquire(slot); }
  void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
            std::function<void(topology::Arrival)> arrived) override {
    inner_->send(slot, ready, itemBytes, std::move(arrived));
  }
  void release(uint32_t slot, gpu::SyncPoint done) override { inner_->release(slot, done); }
  void close() override { inner_->close(); }
  topology::LinkReport report() override { return inner_->report(); }

 protected:
  std::unique_ptr<topology::Link> inner_;
};

/// Changes one word of what it carries.
class FlipsAWord : public Decorated {
 public:
  FlipsAWord(std::unique_ptr<topology::Link> inner, gpu::Device& sender, uint64_t word)
      : Decorated(std::move(inner)), sender_(sender), word_(word) {}
  void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
            std::function<void(topology::Arrival)> arrived) override {
    if (ready.queue != nullptr) ready.queue->wait(ready.value, "flip");
    const uint32_t wrong = 0x12345678;
    gpu::runOnce(sender_, "flip", [&](gpu::Commands& commands) {
      commands.update(source(0, slot), word_ * 4, std::as_bytes(std::span(&wrong, 1)));
      commands.barrier();
    });
    Decorated::send(slot, {}, itemBytes, std::move(arrived));
  }

 private:
  gpu::Device& sender_;
  uint64_t word_;
};

/// Delivers into another slot than it says.
class MixesSlots : public Decorated {
 public:
  using Decorated::Decorated;
  const gpu::Buffer& target(uint32_t item, uint32_t slot) const override {
    return inner_->target(item, (slot + 1) % 3);
  }
};

/// Says that it failed.
class Fails : public Decorated {
 public:
  using Decorated::Decorated;
  void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
            std::function<void(topology::Arrival)> arrived) override {
    Decorated::send(slot, ready, itemBytes, [arrived](topology::Arrival arrival) {
      arrival.failure = std::make_exception_ptr(adverse("the wire is cut"));
      arrived(arrival);
    });
  }
};

class Probe : public GpuFixture {
 protected:
  Probe() : b_(instance(), testAdapter(), {.name = "second device"}) {}
  gpu::Device& a() { return device(); }
  gpu::Device& b() { return b_; }
  static topology::ProbeEffort little() { return {{4096, 65536}, 3, 2, 3}; }

  KindProbe probeWith(const topology::LinkMaker& make) {
    return topology::probePair(a(), b(), kHostCopy, little(), make).kinds.at(0);
  }

 private:
  gpu::Device b_;
};

TEST_F(Probe, HostLinksPassWithFiguresBothWays) {
  constexpr LinkKind kKinds[] = {LinkKind::HostImport, LinkKind::HostCopy};
  const auto effort = testAdapter().software() ? little() : topology::effortFor(a(), b());
  const topology::PairProbe pair = topology::probePair(a(), b(), kKinds, effort);
  EXPECT_EQ(pair.bytes, effort.patternBytes.back());
  ASSERT_EQ(pair.kinds.size(), 2u);
  for (const KindProbe& kind : pair.kinds) {
    EXPECT_TRUE(kind.passed()) << kind.refusal;
    EXPECT_FALSE(kind.path.empty());
    for (const auto& figures : {kind.there, kind.back}) {
      EXPECT_GT(figures.streamGbps, 0.0);
      EXPECT_GT(figures.transferGbps, 0.0);
      EXPECT_GT(figures.copyGbps, 0.0);
      EXPECT_GT(figures.hopMedianUs, 0.0);
      EXPECT_GE(figures.hopP99Us, figures.hopMedianUs);
    }
  }
  ASSERT_NE(pair.best(), nullptr);
}

TEST_F(Probe, AKindThatCannotBeSaysWhy) {
  constexpr LinkKind kPeer[] = {LinkKind::Peer};
  const topology::PairProbe pair = topology::probePair(a(), b(), kPeer, little());
  EXPECT_NE(pair.kinds.at(0).refusal.find("linked group"), std::string::npos) << pair.kinds[0].refusal;
  EXPECT_EQ(pair.best(), nullptr);
}

TEST_F(Probe, AWrongWordIsFound) {
  // Past the small size: found at the large one.
  for (const uint64_t word : {uint64_t{0}, uint64_t{1023}, uint64_t{16383}}) {
    const KindProbe kind = probeWith([&](LinkKind, gpu::Device& from, gpu::Device& to, LinkDesc desc) -> LinkOr {
      return std::unique_ptr<topology::Link>(
          std::make_unique<FlipsAWord>(topology::makeHostCopyLink(from, to, std::move(desc)), from, word));
    });
    EXPECT_FALSE(kind.passed());
    EXPECT_NE(kind.refusal.find(fmt::format("differs at word {} of {}", word, word < 1024 ? 1024 : 16384)),
              std::string::npos)
        << kind.refusal;
    EXPECT_EQ(kind.there.streamGbps, 0.0);
  }
}

TEST_F(Probe, AWrongWordOnTheWayBackIsFound) {
  const KindProbe kind = probeWith([&](LinkKind, gpu::Device& from, gpu::Device& to, LinkDesc desc) -> LinkOr {
    auto link = topology::makeHostCopyLink(from, to, std::move(desc));
    if (&from == &a()) return link;
    return std::unique_ptr<topology::Link>(std::make_unique<FlipsAWord>(std::move(link), from, 77));
  });
  EXPECT_NE(kind.refusal.find("word 77"), std::string::npos) << kind.refusal;
  EXPECT_NE(kind.refusal.find("from second device"), std::string::npos) << kind.refusal;
}

TEST_F(Probe, MixedSlotsAreFound) {
  const KindProbe kind = probeWith([&](LinkKind, gpu::Device& from, gpu::Device& to, LinkDesc desc) -> LinkOr {
    return std::unique_ptr<topology::Link>(
        std::make_unique<MixesSlots>(topology::makeHostCopyLink(from, to, std::move(desc))));
  });
  EXPECT_NE(kind.refusal.find("differs at word 0"), std::string::npos) << kind.refusal;
}

TEST_F(Probe, AFailureIsTheReason) {
  const KindProbe failing = probeWith([&](LinkKind, gpu::Device& from, gpu::Device& to, LinkDesc desc) -> LinkOr {
    return std::unique_ptr<topology::Link>(
        std::make_unique<Fails>(topology::makeHostCopyLink(from, to, std::move(desc))));
  });
  EXPECT_NE(failing.refusal.find("the wire is cut"), std::string::npos) << failing.refusal;
  const KindProbe impossible =
      probeWith([](LinkKind, gpu::Device&, gpu::Device&, LinkDesc) -> LinkOr { throw adverse("no memory for that"); });
  EXPECT_NE(impossible.refusal.find("no memory for that"), std::string::npos) << impossible.refusal;
}

TEST_F(Probe, SoftwareDevicesAreNotProbed) {
  if (!testAdapter().software()) GTEST_SKIP() << "the device is a GPU";
  const auto folder = std::filesystem::temp_directory_path() / ("tandem_probe_" + std::to_string(::getpid()));
  ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const auto kind = topology::bestLink(a(), b());
  ASSERT_TRUE(static_cast<bool>(kind));
  EXPECT_EQ(*kind, LinkKind::HostImport);
  EXPECT_FALSE(std::filesystem::exists(folder / "tandem" / "links.json"));
}

// The second question is answered from the file: what it says is taken, without a try.
TEST_F(Probe, HardwareIsProbedOnce) {
  if (testAdapter().software()) GTEST_SKIP() << "software devices are not probed";
  const auto folder = std::filesystem::temp_directory_path() / ("tandem_probe_" + std::to_string(::getpid()));
  ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const auto kind = topology::bestLink(a(), b());
  ASSERT_TRUE(static_cast<bool>(kind)) << kind.refusal().message;
  const topology::ProbeCache cache(folder / "tandem");
  auto kept = cache.find(a().adapter(), b().adapter());
  ASSERT_TRUE(kept.has_value());
  ASSERT_NE(kept->best(), nullptr);
  EXPECT_EQ(kept->best()->kind, *kind);
  kept->kinds = {KindProbe{}};
  kept->kinds[0].kind = LinkKind::HostCopy;
  kept->kinds[0].there.streamGbps = kept->kinds[0].back.streamGbps = 1.0;
  cache.store(a().adapter(), b().adapter(), *kept);
  EXPECT_EQ(*topology::bestLink(a(), b()), LinkKind::HostCopy);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tandem::test
