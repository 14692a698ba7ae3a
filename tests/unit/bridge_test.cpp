// The host's part between devices, without devices: order of jobs, errors across threads, limits on waits, copies by
// several threads, the throttle's arithmetic. Meant to
// run under the thread sanitizer, too (tools/test.sh --sanitize).
#include "topology/bridge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "exec/frame_ticket.h"
#include "topology/link_copy.h"
#include "topology/link_pacer.h"

namespace tandem {
namespace {

TEST(Bridge, RunsJobsInOrderAndFinishesThemBeforeItEnds) {
  std::vector<int> order;
  {
    topology::Bridge bridge("test bridge");
    for (int i = 0; i < 1000; ++i) bridge.post([&order, i] { order.push_back(i); });
  }
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(Bridge, TakesJobsFromSeveralThreads) {
  std::atomic<int> done = 0;
  {
    topology::Bridge bridge("test bridge");
    std::vector<std::thread> posters;
    for (int t = 0; t < 4; ++t) {
      posters.emplace_back([&] {
        for (int i = 0; i < 250; ++i) bridge.post([&] { ++done; });
      });
    }
    for (auto& poster : posters) poster.join();
  }
  EXPECT_EQ(done, 1000);
}

TEST(LinkCopy, EveryByteArrivesAndNoneBeyond) {
  std::vector<std::byte> from(100'003);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  for (const uint32_t threads : {1u, 2u, 3u, 8u, 64u}) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{65'536}, size_t{100'003}}) {
      std::vector<std::byte> to(bytes + 16, std::byte{0x5a});
      topology::copyOnThreads(std::span(to).first(bytes), from, threads);
      EXPECT_TRUE(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(bytes), from.begin()))
          << bytes << " bytes, " << threads << " threads";
      EXPECT_EQ(std::count(to.end() - 16, to.end(), std::byte{0x5a}), 16);
    }
  }
}

TEST(LinkCopy, ThreadsOnlyWhereTheyWin) {
  EXPECT_EQ(topology::copyThreads(uint64_t{132} << 20, 2), 1u);
  EXPECT_EQ(topology::copyThreads(64 << 10, 32), 1u);
  EXPECT_EQ(topology::copyThreads(0, 32), 1u);
  EXPECT_GT(topology::copyThreads(uint64_t{132} << 20, 4), 1u);
  EXPECT_LE(topology::copyThreads(uint64_t{132} << 20, 4), 2u);  // the other cores render and write pictures
}

TEST(LinkPacer, TransfersFollowOneAnother) {
  using namespace std::chrono_literals;
  topology::LinkPacer pacer(2.0);  // 2e9 bytes a second
  const topology::LinkPacer::Clock::time_point start{1h};
  EXPECT_EQ(pacer.arrival(start, 4'000'000), start + 2ms);
  EXPECT_EQ(pacer.arrival(start + 1ms, 4'000'000), start + 4ms);    // the way was taken until 2 ms
  EXPECT_EQ(pacer.arrival(start + 4ms, 0), start + 4ms);            // nothing to carry
  EXPECT_EQ(pacer.arrival(start + 10ms, 2'000'000), start + 11ms);  // the way was free
}

TEST(LinkPacer, WithoutALimitNothingWaits) {
  topology::LinkPacer pacer(0.0);
  const topology::LinkPacer::Clock::time_point start{std::chrono::hours(1)};
  EXPECT_FALSE(pacer.limited());
  EXPECT_EQ(pacer.arrival(start, uint64_t{1} << 40), start);
}

TEST(FrameTicket, AFailureOnAnotherThreadReachesTheWaiter) {
  exec::FrameTicket ticket(2);
  topology::Bridge bridge("test bridge");
  bridge.post([&] { ticket.submitted({}); });
  bridge.post([&] { ticket.fail(std::make_exception_ptr(AdverseError("the sender is gone"))); });
  try {
    ticket.wait(30.0, "frame 7");
    FAIL() << "the failure was swallowed";
  } catch (const AdverseError& error) {
    EXPECT_STREQ(error.what(), "the sender is gone");
  }
  EXPECT_TRUE(ticket.failed());
}

TEST(FrameTicket, TheFirstFailureIsKept) {
  exec::FrameTicket ticket(1);
  ticket.fail(std::make_exception_ptr(AdverseError("first")));
  ticket.fail(std::make_exception_ptr(AdverseError("second")));
  try {
    ticket.wait(1.0, "frame 1");
    FAIL();
  } catch (const AdverseError& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(FrameTicket, AWaitHasALimitAndSaysWhatItWaitedFor) {
  exec::FrameTicket ticket(3);
  ticket.submitted({});
  try {
    ticket.wait(0.02, "frame 12");
    FAIL() << "a batch that never came was not missed";
  } catch (const AdverseError& error) {
    EXPECT_NE(std::string(error.what()).find("frame 12"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("2 of its batches"), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem
