// The host threads between devices, without devices: order of jobs, errors across threads, limits on waits. Meant to
// run under the thread sanitizer, too (tools/test.sh --sanitize).
#include "topology/bridge.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "exec/frame_ticket.h"

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
