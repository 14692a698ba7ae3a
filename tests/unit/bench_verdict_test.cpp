// What a benchmark says of its modes, from times made by hand.
#include "jobs/bench_verdict.h"

#include <gtest/gtest.h>

namespace tandem::jobs {
namespace {

using frame::Mode;

/// Busy for `traceMs` + `postMs`, longest with "path_trace" or "denoise".
NodeTimes nodeOf(uint32_t node, double traceMs, double postMs, IdleTimes idle, double rows) {
  return {node,    traceMs + postMs, idle.link + idle.otherNode + idle.cpu,       idle, rows,
          traceMs, postMs,           traceMs >= postMs ? "path_trace" : "denoise"};
}

/// Frames of 10 ms.
ModeTimes timesOfTwo(NodeTimes first, NodeTimes second, std::vector<LinkTimes> links = {}) {
  return {100, 10.0, {std::move(first), std::move(second)}, std::move(links)};
}

LinkTimes linkOf(double busyMs, double gbps) { return {0, 1, busyMs * gbps * 1e6, busyMs, gbps, 0.5}; }

TEST(BenchLimit, ANodeThatIsBusyAllTheTime) {
  const ModeTimes times{100, 10.0, {nodeOf(0, 7.7, 2.0, {0.0, 0.0, 0.3}, 100.0)}, {}};
  EXPECT_EQ(limitOf(Mode::Single, times), "node 0 is busy 97 % of the time, longest with path_trace");
}

TEST(BenchLimit, PostOnTheSecondaryLimitsPipelined) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 6.0, 0.0, {0.0, 4.0, 0.0}, 100.0),
                                     nodeOf(1, 0.0, 9.8, {0.1, 0.1, 0.0}, 0.0), {linkOf(2.0, 50.0)});
  EXPECT_EQ(limitOf(Mode::Pipelined, times), "node 1 is busy 98 % of the time with post, longest with denoise");
}

TEST(BenchLimit, TracingOnThePrimaryLimitsPipelined) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 9.9, 0.0, {0.0, 0.1, 0.0}, 100.0),
                                     nodeOf(1, 0.0, 3.0, {2.0, 5.0, 0.0}, 0.0), {linkOf(2.0, 50.0)});
  EXPECT_EQ(limitOf(Mode::Pipelined, times), "node 0 is busy 99 % of the time with tracing, longest with path_trace");
}

TEST(BenchLimit, AThrottledLinkLimitsPipelined) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 4.0, 0.0, {4.0, 2.0, 0.0}, 100.0),
                                     nodeOf(1, 0.0, 2.0, {8.0, 0.0, 0.0}, 0.0), {linkOf(9.9, 3.2)});
  EXPECT_EQ(limitOf(Mode::Pipelined, times, 3.2),
            "the link 0 -> 1 is busy 99 % of the time at 3.2 GB/s (throttled to 3.2 GB/s)");
  EXPECT_EQ(limitOf(Mode::Pipelined, times), "the link 0 -> 1 is busy 99 % of the time at 3.2 GB/s");
}

// The balancer gives node 1 the rows that the link cannot take: node 1 is busy too, but because of the link.
TEST(BenchLimit, AThrottledLinkLimitsSfr) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 2.0, 0.0, {0.5, 7.5, 0.0}, 20.0),
                                     nodeOf(1, 7.5, 2.3, {0.2, 0.0, 0.0}, 80.0), {linkOf(9.5, 1.25)});
  EXPECT_EQ(
      limitOf(Mode::Sfr, times, 1.25),
      "the link 0 -> 1 is busy 95 % of the time at 1.25 GB/s (throttled to 1.25 GB/s), and node 1 is busy 98 % of "
      "the time, longest with path_trace, and node 0 waits 75 % of the time for node 1: node 0 traces 20 % of the "
      "rows, node 1 traces 80 %");
}

TEST(BenchLimit, ABadDealOfRowsLimitsSfr) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 2.5, 0.0, {0.3, 7.2, 0.0}, 25.0),
                                     nodeOf(1, 7.5, 2.2, {0.3, 0.0, 0.0}, 75.0), {linkOf(1.0, 300.0)});
  EXPECT_EQ(limitOf(Mode::Sfr, times),
            "node 1 is busy 97 % of the time, longest with path_trace, and node 0 waits 72 % of the time for node 1: "
            "node 0 traces 25 % of the rows, node 1 traces 75 %");
  // The other way round.
  const ModeTimes other = timesOfTwo(nodeOf(0, 9.7, 0.0, {0.0, 0.3, 0.0}, 75.0),
                                     nodeOf(1, 3.2, 2.0, {0.0, 4.8, 0.0}, 25.0), {linkOf(1.0, 300.0)});
  EXPECT_EQ(
      limitOf(Mode::Sfr, other),
      "node 0 is busy 97 % of the time with tracing, longest with path_trace, and node 1 waits 48 % of the time for "
      "node 0: node 0 traces 75 % of the rows, node 1 traces 25 %");
}

TEST(BenchLimit, AGoodDealOfRowsIsNotBlamed) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 9.7, 0.0, {0.0, 0.3, 0.0}, 60.0),
                                     nodeOf(1, 7.8, 2.0, {0.0, 0.2, 0.0}, 40.0), {linkOf(8.0, 300.0)});
  EXPECT_EQ(
      limitOf(Mode::Sfr, times),
      "node 1 is busy 98 % of the time, longest with path_trace, and node 0 is busy 97 % of the time with tracing, "
      "longest with path_trace");
}

// Half full, the link is named beside a bad deal: a throttle may have made it.
TEST(BenchLimit, ALinkThatIsHalfBusyStandsBesideABadDeal) {
  const ModeTimes times = timesOfTwo(nodeOf(0, 2.0, 0.0, {0.0, 8.0, 0.0}, 20.0),
                                     nodeOf(1, 7.5, 2.3, {0.2, 0.0, 0.0}, 80.0), {linkOf(8.0, 2.0)});
  const std::string text = limitOf(Mode::Sfr, times, 2.0);
  EXPECT_TRUE(
      text.ends_with("node 1 traces 80 %, and the link 0 -> 1 is busy 80 % of the time at 2 GB/s (throttled to "
                     "2 GB/s)"))
      << text;
}

TEST(BenchLimit, WhatIsWaitedForWhereNothingIsFull) {
  const auto cpu = timesOfTwo(nodeOf(0, 6.8, 0.0, {0.1, 0.1, 3.0}, 50.0), nodeOf(1, 5.0, 1.5, {0.3, 0.2, 3.0}, 50.0));
  EXPECT_EQ(limitOf(Mode::Sfr, cpu), "the CPU: both nodes wait for it 30 % of the time");
  const auto link = timesOfTwo(nodeOf(0, 8.0, 0.0, {1.6, 0.2, 0.2}, 100.0), nodeOf(1, 0.0, 5.0, {4.0, 0.8, 0.2}, 0.0),
                               {linkOf(6.0, 12.0)});
  EXPECT_EQ(
      limitOf(Mode::Pipelined, link),
      "node 1 waits 40 % of the time for the link 0 -> 1, which makes 12 GB/s, and node 0 waits 16 % of the time for "
      "the link 0 -> 1, which makes 12 GB/s, and node 1 waits 8 % of the time for node 0");
  const auto rows = timesOfTwo(nodeOf(0, 8.8, 0.0, {0.1, 0.6, 0.5}, 75.0), nodeOf(1, 4.2, 0.0, {0.5, 4.8, 0.5}, 25.0));
  EXPECT_EQ(
      limitOf(Mode::Sfr, rows),
      "node 1 waits 48 % of the time for node 0: node 0 traces 75 % of the rows, node 1 traces 25 %, and node 0 waits "
      "6 % of the time for node 1");
  const auto afr = timesOfTwo(nodeOf(0, 8.8, 0.0, {0.0, 1.2, 0.0}, 50.0), nodeOf(1, 6.0, 0.0, {0.0, 4.0, 0.0}, 50.0));
  EXPECT_EQ(
      limitOf(Mode::Afr, afr),
      "node 1 is idle 40 % of the time beside node 0 at work, and node 0 is idle 12 % of the time beside node 1 at "
      "work");
  const ModeTimes one{100, 10.0, {nodeOf(0, 7.0, 0.0, {0.0, 0.0, 3.0}, 100.0)}, {}};
  EXPECT_EQ(limitOf(Mode::Single, one), "the CPU: the node waits for it 30 % of the time");
}

TEST(BenchLimit, NothingTimed) {
  EXPECT_EQ(limitOf(Mode::Single, {}), "no pass was timed");
  EXPECT_EQ(limitOf(Mode::Single, {100, 10.0, {{.idleMs = 10.0, .idle = {0.0, 0.0, 10.0}}}, {}}), "no pass was timed");
}

// From what frames report to the words: node 1 gets half of what it should have, planted.
//          10        20
// node 0   tttttttttt            10 ms for three quarters
// node 1   tttp......            3 + 1
TEST(BenchLimit, HalfRowsAreFoundInTheFramesThemselves) {
  constexpr uint64_t kMs = 1'000'000;
  std::vector<FrameTrace> run{{{}, {}, {75, 25}, 10 * kMs}};
  for (const uint64_t begin : {10 * kMs, 20 * kMs, 30 * kMs}) {
    run.push_back({{{"path_trace", 0, 10.0, begin, begin + 10 * kMs},
                    {"path_trace", 1, 3.0, begin, begin + 3 * kMs},
                    {"tonemap", 1, 1.0, begin + 3 * kMs, begin + 4 * kMs}},
                   {},
                   {75, 25},
                   begin + 10 * kMs});
  }
  const auto times = timesOf(std::vector<std::vector<FrameTrace>>{run}, {"path_trace"});
  ASSERT_TRUE(times);
  EXPECT_EQ(
      limitOf(Mode::Sfr, *times),
      "node 0 is busy 100 % of the time with tracing, longest with path_trace, and node 1 waits 60 % of the time for "
      "node 0: node 0 traces 75 % of the rows, node 1 traces 25 %");
}

ModeFacts factsOf(const char* label, Mode mode, double fps, std::optional<Interval> speedup, const char* limit) {
  ModeFacts facts;
  facts.label = label;
  facts.mode = mode;
  facts.fps = fps;
  facts.speedup = speedup;
  facts.limit = limit;
  return facts;
}

ModeFacts single() { return factsOf("single", Mode::Single, 100.0, Interval{1.0, 1.0, 1.0}, "node 0 is busy"); }

VerdictFacts verdictFacts(std::vector<ModeFacts> modes) {
  VerdictFacts facts;
  facts.modes = std::move(modes);
  return facts;
}

TEST(BenchVerdict, SfrPays) {
  VerdictFacts facts = verdictFacts(
      {single(), factsOf("pipelined", Mode::Pipelined, 121.0, Interval{1.21, 1.2, 1.22}, "node 1 is busy with post"),
       factsOf("sfr", Mode::Sfr, 193.0, Interval{1.93, 1.912, 1.949}, "node 0 is busy")});
  facts.modes[2].hiddenShare = 0.97;
  EXPECT_EQ(
      verdictOf(facts),
      "sfr is 1.93x (1.91-1.95) single; the link is hidden; pipelined stops at 1.21x, because node 1 is busy with "
      "post");
}

// Far from 2x the reason is told; a mode that is about as fast needs none. One repeat: no interval.
TEST(BenchVerdict, WhyNotTwice) {
  VerdictFacts facts = verdictFacts({single(), factsOf("sfr", Mode::Sfr, 150.0, {}, "node 0 waits for node 1"),
                                     factsOf("afr", Mode::Afr, 148.0, {}, "the CPU")});
  facts.modes[1].hiddenShare = 0.4;
  EXPECT_EQ(verdictOf(facts),
            "sfr is 1.50x single; the link is hidden for 40 % of its time; not 2x, because node 0 waits for node 1");
}

TEST(BenchVerdict, OneGpuIsFaster) {
  const VerdictFacts facts =
      verdictFacts({single(), factsOf("pipelined", Mode::Pipelined, 60.0, Interval{0.6, 0.59, 0.61}, "x"),
                    factsOf("afr", Mode::Afr, 83.0, Interval{0.83, 0.8, 0.86}, "both nodes wait for the CPU")});
  EXPECT_EQ(verdictOf(facts),
            "one GPU is faster here: the best of two, afr, is 0.83x (0.80-0.86), because both nodes wait for the CPU");
}

TEST(BenchVerdict, TheOtherGpuAloneIsFaster) {
  const VerdictFacts facts =
      verdictFacts({single(), factsOf("single (second GPU)", Mode::Single, 300.0, Interval{3.0, 2.9, 3.1}, ""),
                    factsOf("sfr", Mode::Sfr, 250.0, Interval{2.5, 2.4, 2.6}, "node 0 is busy")});
  EXPECT_EQ(verdictOf(facts),
            "one GPU is faster here: single (second GPU) makes 300 fps, the best of two, sfr, 250 (2.50x (2.40-2.60) "
            "single), because node 0 is busy");
}

TEST(BenchVerdict, NoDifferenceCanBeShown) {
  const VerdictFacts facts =
      verdictFacts({single(), factsOf("sfr", Mode::Sfr, 101.0, Interval{1.01, 0.98, 1.04}, "the CPU")});
  EXPECT_EQ(verdictOf(facts),
            "no difference can be shown: the best of two, sfr, is 1.01x (0.98-1.04) single, because the CPU");
}

TEST(BenchVerdict, WhatTakesItsForce) {
  VerdictFacts facts = verdictFacts({single(), factsOf("sfr", Mode::Sfr, 195.0, Interval{1.95, 1.9, 2.0}, "x")});
  facts.simulatedDual = facts.software = facts.validation = true;
  EXPECT_EQ(
      verdictOf(facts),
      "sfr is 1.95x (1.90-2.00) single; one GPU was opened twice, which says nothing about two; times of software "
      "devices say nothing about GPUs; validation layers were on, which slow everything down");
  facts.modes.pop_back();
  facts.software = facts.validation = false;
  EXPECT_EQ(verdictOf(facts), "single makes 100 fps; no mode of two GPUs was measured");
}

TEST(BenchVerdict, WhatWasNotMeasured) {
  ModeFacts refused;
  refused.label = "afr";
  refused.mode = Mode::Afr;
  refused.failure = "a pass reads its own past";
  EXPECT_EQ(verdictOf(verdictFacts({single(), refused})),
            "single makes 100 fps; no mode of two GPUs was measured (afr: a pass reads its own past)");
  EXPECT_EQ(verdictOf(verdictFacts({factsOf("sfr", Mode::Sfr, 195.0, {}, "x")})),
            "sfr is the fastest with 195 fps; single was not measured");
  EXPECT_EQ(verdictOf(verdictFacts({refused})), "nothing was measured (afr: a pass reads its own past)");
  EXPECT_EQ(verdictOf(verdictFacts({})), "nothing was measured");
  VerdictFacts failed;
  failed.failure = "no such file";
  EXPECT_EQ(verdictOf(failed), "not measured: no such file");
}

}  // namespace
}  // namespace tandem::jobs
