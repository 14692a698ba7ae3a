// Where a benchmark's time went, against timelines drawn by hand. One character is one millisecond.
#include "jobs/bench_analysis.h"

#include <gtest/gtest.h>

#include <random>

#include "jobs/bench_spans.h"

namespace tandem::jobs {
namespace {

using frame::Mode;
using Frames = std::vector<FrameTrace>;

const TracePasses kTraces = {"path_trace"};

/// Times in milliseconds.
exec::PassReport pass(const char* name, uint32_t node, uint64_t begin, uint64_t end) {
  return {name, node, static_cast<double>(end - begin), begin * 1'000'000, end * 1'000'000};
}

exec::TransferReport transfer(uint32_t from, uint32_t to, uint64_t begin, uint64_t end, uint64_t bytes) {
  return {0, from, to, {.beginNs = begin * 1'000'000, .endNs = end * 1'000'000, .bytes = bytes}};
}

FrameTrace frameOf(uint64_t end, std::vector<exec::PassReport> passes, std::vector<exec::TransferReport> transfers = {},
                   std::vector<uint32_t> rows = {100}) {
  return {std::move(passes), std::move(transfers), std::move(rows), end * 1'000'000};
}

ModeTimes timesOfRun(const Frames& run, size_t after = 0) {
  const auto times = timesOf(std::vector<Frames>{run}, kTraces, after);
  EXPECT_TRUE(times);
  return times.value_or(ModeTimes());
}

void expectNode(const NodeTimes& node, double busy, double link, double otherNode, double cpu) {
  EXPECT_DOUBLE_EQ(node.busyMs, busy) << "node " << node.node;
  EXPECT_DOUBLE_EQ(node.idle.link, link) << "node " << node.node;
  EXPECT_DOUBLE_EQ(node.idle.otherNode, otherNode) << "node " << node.node;
  EXPECT_DOUBLE_EQ(node.idle.cpu, cpu) << "node " << node.node;
  EXPECT_DOUBLE_EQ(node.idleMs, link + otherNode + cpu) << "node " << node.node;
}

//          0         10        20        30        40
// node 0   t0t0t0t0t0t1t1t1t1t1t2t2t2t2t2t3t3t3t3t3
// link               --        --        --
// node 1               p0p0      p1p1      p2p2
// ends                     0 at 16   1 at 26   2 at 36
// 8 MB cross with each frame.
Frames pipelinedRun() {
  Frames run;
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t begin = 10 * i;
    run.push_back(frameOf(begin + 16,
                          {pass("path_trace", 0, begin, begin + 10), pass("denoise", 1, begin + 12, begin + 15),
                           pass("tonemap", 1, begin + 15, begin + 16)},
                          {transfer(0, 1, begin + 10, begin + 12, 8'000'000)}, {100, 0}));
  }
  return run;
}

// The window is [16, 36): 2 frames. Node 1 works in [22, 26) and [32, 36); bytes come in [20, 22) and [30, 32).
TEST(BenchAnalysis, Pipelined) {
  Frames run = pipelinedRun();
  run.push_back(frameOf(46, {pass("path_trace", 0, 30, 40)}, {}, {100, 0}));
  const ModeTimes times = timesOfRun(run, 1);
  EXPECT_EQ(times.frames, 2u);
  EXPECT_DOUBLE_EQ(times.frameMs, 10.0);
  ASSERT_EQ(times.nodes.size(), 2u);
  expectNode(times.nodes[0], 10.0, 0.0, 0.0, 0.0);
  expectNode(times.nodes[1], 4.0, 2.0, 4.0, 0.0);
  EXPECT_EQ(times.nodes[0].longestPass, "path_trace");
  EXPECT_EQ(times.nodes[1].longestPass, "denoise");
  EXPECT_DOUBLE_EQ(times.nodes[0].rows, 100.0);
  ASSERT_EQ(times.links.size(), 1u);
  const LinkTimes& link = times.links[0];
  EXPECT_EQ(link.from, 0u);
  EXPECT_EQ(link.to, 1u);
  EXPECT_DOUBLE_EQ(link.busyMs, 2.0);
  EXPECT_DOUBLE_EQ(link.bytesPerFrame, 8e6);
  EXPECT_DOUBLE_EQ(link.gbps.value(), 4.0);         // 8 MB in 2 ms
  EXPECT_DOUBLE_EQ(link.hiddenShare.value(), 0.0);  // node 1 has nothing to do meanwhile
  const auto bound = boundOf(Mode::Pipelined, times);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->traceMs, 10.0);
  EXPECT_DOUBLE_EQ(bound->postMs, 4.0);
  EXPECT_DOUBLE_EQ(bound->linkMs, 2.0);
  EXPECT_DOUBLE_EQ(bound->ms, 10.0);  // R
  EXPECT_DOUBLE_EQ(bound->distance, 1.0);
}

// Without frame 3 node 0 seems to stop at 30: [30, 32) goes to the link, although it leads away from node 0, because
// nothing else happens, and [32, 36) to node 1.
TEST(BenchAnalysis, FramesAfterTheLastCountedOneBelongIntoTheWindow) {
  expectNode(timesOfRun(pipelinedRun()).nodes[0], 7.0, 1.0, 2.0, 0.0);
}

//          10        20        30
// node 0   tttttt....tttttt....
// link     ......--........--..
// node 1   tttt....pptttt....pp     a gap that is half node 0, half link
Frames sfrRun() {
  Frames run{frameOf(10, {}, {}, {60, 40})};
  for (const uint64_t begin : {10, 20}) {
    run.push_back(frameOf(begin + 10,
                          {pass("path_trace", 0, begin, begin + 6), pass("path_trace", 1, begin, begin + 4),
                           pass("tonemap", 1, begin + 8, begin + 10)},
                          {transfer(0, 1, begin + 6, begin + 8, 6'000'000)}, {60, 40}));
  }
  return run;
}

TEST(BenchAnalysis, AGapIsHalfLinkAndHalfOtherNode) {
  const ModeTimes times = timesOfRun(sfrRun());
  ASSERT_EQ(times.nodes.size(), 2u);
  expectNode(times.nodes[0], 6.0, 2.0, 2.0, 0.0);
  expectNode(times.nodes[1], 6.0, 2.0, 2.0, 0.0);
  EXPECT_DOUBLE_EQ(times.nodes[1].rows, 40.0);
}

// Node 0 traces 60 % of the rows in 6 ms, node 1 40 % in 4: R = 10 on both. P = 2: T/10 + (T - 2)/10 = 1, T = 6.
// All rows are 10 MB, which at 3 GB/s takes 3.3 ms: no hindrance.
TEST(BenchAnalysis, SfrIsBoundByTheBestDeal) {
  const ModeTimes times = timesOfRun(sfrRun());
  const auto bound = boundOf(Mode::Sfr, times);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->traceMs, 10.0);
  EXPECT_DOUBLE_EQ(bound->postMs, 2.0);
  EXPECT_DOUBLE_EQ(bound->linkMs, 2.0);
  EXPECT_NEAR(bound->ms, 6.0, 1e-9);
  EXPECT_NEAR(bound->distance, 10.0 / 6.0, 1e-9);
}

// The same at a tenth of the bytes' speed: 0.3 GB/s, all rows would take 33.3 ms. T/33.3 + (T - 2)/10 = 1: T = 9.23.
TEST(BenchAnalysis, SfrIsBoundByASlowLink) {
  ModeTimes times = timesOfRun(sfrRun());
  times.links[0].bytesPerFrame = 6e6;
  times.links[0].busyMs = 20.0;
  times.links[0].gbps = 0.3;
  EXPECT_NEAR(boundOf(Mode::Sfr, times)->ms, 1.2 / (0.03 + 0.1), 1e-6);
}

// Frame 1's post beside frame 2's tracing on one node: [12, 15) counts once. Nobody else is there: gaps are the CPU's.
//          10        20        30
// trace    ttttt.....ttttttt...
// post     ..ppp..........ppp..
TEST(BenchAnalysis, OneNode) {
  Frames run{frameOf(10, {})};
  run.push_back(frameOf(20, {pass("path_trace", 0, 10, 15), pass("tonemap", 0, 12, 15)}));
  run.push_back(frameOf(30, {pass("path_trace", 0, 20, 27), pass("tonemap", 0, 25, 28)}));
  const ModeTimes times = timesOfRun(run);
  ASSERT_EQ(times.nodes.size(), 1u);
  expectNode(times.nodes[0], 6.5, 0.0, 0.0, 3.5);  // 5 + 8 in 20 ms
  EXPECT_TRUE(times.links.empty());
  const auto bound = boundOf(Mode::Single, times);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->traceMs, 6.0);
  EXPECT_DOUBLE_EQ(bound->postMs, 3.0);
  EXPECT_DOUBLE_EQ(bound->linkMs, 0.0);
  EXPECT_DOUBLE_EQ(bound->ms, 9.0);
  EXPECT_DOUBLE_EQ(bound->distance, 10.0 / 9.0);
}

// Two frames in 12 ms, one on each node; nothing crosses. Node 1 is half as fast: it has a frame in 12 ms, node 0 in 6.
//          12          24
// node 0   ttttpp......
// node 1   ttttttttpppp
// afr could make 1/6 + 1/12 = 1/4 frames a millisecond.
TEST(BenchAnalysis, AfrWithoutTransfers) {
  Frames run{frameOf(12, {}, {}, {0, 100})};
  run.push_back(frameOf(18, {pass("path_trace", 0, 12, 16), pass("tonemap", 0, 16, 18)}, {}, {100, 0}));
  run.push_back(frameOf(24, {pass("path_trace", 1, 12, 20), pass("tonemap", 1, 20, 24)}, {}, {0, 100}));
  const ModeTimes times = timesOfRun(run);
  EXPECT_DOUBLE_EQ(times.frameMs, 6.0);
  expectNode(times.nodes[0], 3.0, 0.0, 3.0, 0.0);
  expectNode(times.nodes[1], 6.0, 0.0, 0.0, 0.0);
  EXPECT_TRUE(times.links.empty());
  const auto bound = boundOf(Mode::Afr, times);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->ms, 4.0);
  EXPECT_DOUBLE_EQ(bound->distance, 1.5);
}

//          10        20        30
// link     ----                       4 MB
//            ----                     4 MB, beside the first
//         --                          8 MB, half of it before the window
// node 1       tttt
TEST(BenchAnalysis, TransfersThatOverlapAndAreCut) {
  Frames run{frameOf(10, {}, {transfer(0, 1, 9, 11, 8'000'000)}, {100, 0})};
  run.push_back(frameOf(20, {pass("path_trace", 1, 14, 18)},
                        {transfer(0, 1, 10, 14, 4'000'000), transfer(0, 1, 12, 16, 4'000'000)}, {100, 0}));
  const ModeTimes times = timesOfRun(run);
  ASSERT_EQ(times.links.size(), 1u);
  EXPECT_DOUBLE_EQ(times.links[0].busyMs, 6.0);                     // [10, 16)
  EXPECT_DOUBLE_EQ(times.links[0].bytesPerFrame, 12e6);             // 4 + 4 + half of 8
  EXPECT_DOUBLE_EQ(times.links[0].gbps.value(), 2.0);               // 12 MB in 6 ms
  EXPECT_DOUBLE_EQ(times.links[0].hiddenShare.value(), 1.0 / 3.0);  // [14, 16)
  expectNode(times.nodes[1], 4.0, 4.0, 0.0, 2.0);
  expectNode(times.nodes[0], 0.0, 4.0, 4.0, 2.0);  // [10, 14) the link alone, [14, 18) node 1, [18, 20) nothing
}

// Runs count by their frames, not alike: 1 frame of 10 ms and 2 of 4; a run of one frame has nothing to count between.
TEST(BenchAnalysis, RunsTogether) {
  const Frames first{frameOf(10, {}), frameOf(20, {pass("path_trace", 0, 11, 20)})};
  const Frames second{frameOf(100, {}), frameOf(104, {pass("path_trace", 0, 100, 103)}),
                      frameOf(108, {pass("path_trace", 0, 104, 107)})};
  const std::vector<Frames> runs{first, {frameOf(50, {pass("path_trace", 0, 40, 50)})}, second};
  const auto times = timesOf(runs, kTraces);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->frames, 3u);
  EXPECT_DOUBLE_EQ(times->frameMs, 6.0);
  expectNode(times->nodes[0], 5.0, 0.0, 0.0, 1.0);
  EXPECT_FALSE(timesOf(std::vector<Frames>{runs[1]}, kTraces));
  EXPECT_FALSE(timesOf(std::vector<Frames>{first}, kTraces, 1));
  EXPECT_FALSE(timesOf(std::vector<Frames>{}, kTraces));
}

TEST(BenchAnalysis, NoBoundWithoutPasses) {
  EXPECT_FALSE(boundOf(Mode::Single, timesOfRun({frameOf(10, {}), frameOf(20, {})})));
  EXPECT_FALSE(boundOf(Mode::Auto, timesOfRun(sfrRun())));
  // One node alone cannot run in two-GPU modes.
  EXPECT_FALSE(boundOf(Mode::Sfr, timesOfRun({frameOf(10, {}), frameOf(20, {pass("path_trace", 0, 10, 12)})})));
}

/// Nanosecond by nanosecond, as the header says it, for three nodes and anything that may happen on them.
TEST(BenchAnalysis, EveryMomentHasOneReason) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    constexpr uint64_t kBegin = 20, kEnd = 220;
    FrameTrace first{{}, {}, {1, 1, 1}, kBegin}, last{{}, {}, {1, 1, 1}, kEnd};
    const auto any = [&](uint64_t below) { return random() % below; };
    for (int i = 0; i < 12; ++i) {
      const uint64_t begin = any(240);
      last.passes.push_back({"path_trace", static_cast<uint32_t>(any(3)), 0.0, begin, begin + any(25)});
      const auto from = static_cast<uint32_t>(any(3));
      const uint64_t sent = any(240);
      if (i % 3 == 0) last.transfers.push_back({0, from, (from + 1) % 3, {.beginNs = sent, .endNs = sent + any(30)}});
    }
    double expected[3][4] = {};
    for (uint64_t now = kBegin; now < kEnd; ++now) {
      bool works[3] = {}, comes[3] = {}, anyWorks = false, anyComes = false;
      for (const auto& p : last.passes) works[p.node] = works[p.node] || (p.beginNs <= now && now < p.endNs);
      for (const auto& t : last.transfers) comes[t.to] = comes[t.to] || (t.event.beginNs <= now && now < t.event.endNs);
      for (int node = 0; node < 3; ++node) {
        anyWorks = anyWorks || works[node];
        anyComes = anyComes || comes[node];
      }
      for (int node = 0; node < 3; ++node) {
        const int reason = works[node] ? 0 : comes[node] ? 1 : anyWorks ? 2 : anyComes ? 1 : 3;
        expected[node][reason] += 1e-6;
      }
    }
    const ModeTimes times = timesOfRun({first, last});
    for (int node = 0; node < 3; ++node) {
      EXPECT_NEAR(times.nodes[node].busyMs, expected[node][0], 1e-12);
      EXPECT_NEAR(times.nodes[node].idle.link, expected[node][1], 1e-12);
      EXPECT_NEAR(times.nodes[node].idle.otherNode, expected[node][2], 1e-12);
      EXPECT_NEAR(times.nodes[node].idle.cpu, expected[node][3], 1e-12);
      EXPECT_NEAR(times.nodes[node].busyMs + times.nodes[node].idleMs, times.frameMs, 1e-12);
      EXPECT_EQ(times.nodes[node].idle.cpu, times.nodes[0].idle.cpu);
    }
  }
}

TEST(BenchSpans, SetsOfMoments) {
  const Span window{10, 50};
  // Out of order, touching, inside of another, empty, and out of the window.
  const Spans all = unionOf({{30, 35}, {5, 12}, {12, 15}, {31, 33}, {20, 20}, {60, 70}, {48, 55}, {25, 22}}, window);
  EXPECT_EQ(all, (Spans{{10, 15}, {30, 35}, {48, 50}}));
  EXPECT_EQ(lengthOf(all), 12u);
  const Spans other{{12, 31}, {33, 34}, {49, 60}};
  EXPECT_EQ(intersectionOf(all, other), (Spans{{12, 15}, {30, 31}, {33, 34}, {49, 50}}));
  EXPECT_EQ(differenceOf(all, other), (Spans{{10, 12}, {31, 33}, {34, 35}, {48, 49}}));
  EXPECT_EQ(differenceOf({window}, all), (Spans{{15, 30}, {35, 48}}));
  EXPECT_EQ(differenceOf(all, {}), all);
  EXPECT_TRUE(differenceOf(all, {window}).empty());
}

TEST(BenchAnalysis, Ratios) {
  EXPECT_DOUBLE_EQ(efficiency(1.6, 2), 0.8);
  // 1.6 of 2: (0.625 - 0.5) / 0.5.
  EXPECT_DOUBLE_EQ(karpFlatt(1.6, 2).value(), 0.25);
  EXPECT_DOUBLE_EQ(karpFlatt(2.0, 2).value(), 0.0);
  EXPECT_DOUBLE_EQ(karpFlatt(1.0, 2).value(), 1.0);
  EXPECT_LT(karpFlatt(2.1, 2).value(), 0.0);
  EXPECT_FALSE(karpFlatt(1.0, 1));
  EXPECT_FALSE(karpFlatt(0.0, 2));
  EXPECT_DOUBLE_EQ(ofSum(90.0, 60.0, 40.0).value(), 0.9);
  EXPECT_FALSE(ofSum(90.0, 0.0, 0.0));
}

}  // namespace
}  // namespace tandem::jobs
