#include "jobs/bench_analysis.h"

#include <algorithm>
#include <map>
#include <utility>

#include "jobs/bench_spans.h"
#include "schedule/planner.h"

namespace tandem::jobs {
namespace {

using frame::Mode;
using LinkEnds = std::pair<uint32_t, uint32_t>;  // from, to

/// Sums over all runs, in nanoseconds unless named otherwise.
struct NodeSums {
  uint64_t busy = 0, link = 0, otherNode = 0, cpu = 0;
  double rows = 0.0, traceMs = 0.0, postMs = 0.0;
  std::map<std::string, double> passMs;
};

struct LinkSums {
  double bytes = 0.0;
  uint64_t busy = 0, hidden = 0;
};

Span spanOf(const exec::TransferReport& transfer) { return {transfer.event.beginNs, transfer.event.endNs}; }

/// What was going on in one run's window.
struct Activity {
  Span window;
  std::vector<Spans> busyOfNode;
  std::map<LinkEnds, Spans> links;
};

size_t nodesIn(std::span<const std::vector<FrameTrace>> runs) {
  size_t nodes = 0;
  for (const auto& run : runs) {
    for (const FrameTrace& frame : run) {
      nodes = std::max(nodes, frame.rowsOfNode.size());
      for (const auto& pass : frame.passes) nodes = std::max<size_t>(nodes, pass.node + 1);
      for (const auto& transfer : frame.transfers)
        nodes = std::max<size_t>(nodes, std::max(transfer.from, transfer.to) + 1);
    }
  }
  return nodes;
}

Activity activityIn(std::span<const FrameTrace> frames, Span window, size_t nodes) {
  std::vector<std::vector<Span>> passes(nodes);
  std::map<LinkEnds, std::vector<Span>> transfers;
  for (const FrameTrace& frame : frames) {
    for (const auto& pass : frame.passes) passes[pass.node].push_back({pass.beginNs, pass.endNs});
    for (const auto& transfer : frame.transfers) transfers[{transfer.from, transfer.to}].push_back(spanOf(transfer));
  }
  Activity activity{window, {}, {}};
  for (auto& spans : passes) activity.busyOfNode.push_back(unionOf(std::move(spans), window));
  for (auto& [ends, spans] : transfers) activity.links[ends] = unionOf(std::move(spans), window);
  return activity;
}

Spans joined(const std::vector<const Spans*>& parts, Span window) {
  std::vector<Span> all;
  for (const Spans* part : parts) all.insert(all.end(), part->begin(), part->end());
  return unionOf(std::move(all), window);
}

/// Takes the moments of `cause` out of `idle`; how many nanoseconds they are.
uint64_t take(Spans& idle, const Spans& cause) {
  const uint64_t before = lengthOf(idle);
  idle = differenceOf(idle, cause);
  return before - lengthOf(idle);
}

void addNode(const Activity& activity, size_t node, NodeSums& sums) {
  std::vector<const Spans*> towards, otherNodes, anyLink;
  for (const auto& [ends, spans] : activity.links) {
    if (ends.second == node) towards.push_back(&spans);
    anyLink.push_back(&spans);
  }
  for (size_t other = 0; other < activity.busyOfNode.size(); ++other) {
    if (other != node) otherNodes.push_back(&activity.busyOfNode[other]);
  }
  const Span window = activity.window;
  Spans idle = differenceOf({window}, activity.busyOfNode[node]);
  sums.busy += lengthOf(activity.busyOfNode[node]);
  sums.link += take(idle, joined(towards, window));
  sums.otherNode += take(idle, joined(otherNodes, window));
  sums.link += take(idle, joined(anyLink, window));
  sums.cpu += lengthOf(idle);
}

/// Bytes of a link in a run's window. A transfer that took no time counts where it is in the window.
void addBytes(std::span<const FrameTrace> frames, Span window, std::map<LinkEnds, LinkSums>& links) {
  for (const FrameTrace& frame : frames) {
    for (const auto& transfer : frame.transfers) {
      const Span span = spanOf(transfer);
      const double inside = static_cast<double>(lengthOf(unionOf({span}, window)));
      const bool instant = span.end <= span.begin;
      const bool within = span.begin >= window.begin && span.begin < window.end;
      const double share = instant ? (within ? 1.0 : 0.0) : inside / static_cast<double>(span.end - span.begin);
      if (share > 0.0) links[{transfer.from, transfer.to}].bytes += share * static_cast<double>(transfer.event.bytes);
    }
  }
}

void addFrame(const FrameTrace& frame, const TracePasses& tracePasses, std::vector<NodeSums>& nodes) {
  for (size_t node = 0; node < frame.rowsOfNode.size(); ++node) nodes[node].rows += frame.rowsOfNode[node];
  for (const exec::PassReport& pass : frame.passes) {
    NodeSums& node = nodes[pass.node];
    (tracePasses.contains(pass.name) ? node.traceMs : node.postMs) += pass.milliseconds;
    node.passMs[pass.name] += pass.milliseconds;
  }
}

NodeTimes timesOfNode(uint32_t node, const NodeSums& sums, double frames) {
  const auto ms = [&](uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6 / frames; };
  NodeTimes times;
  times.node = node;
  times.busyMs = ms(sums.busy);
  times.idle = {ms(sums.link), ms(sums.otherNode), ms(sums.cpu)};
  times.idleMs = times.idle.link + times.idle.otherNode + times.idle.cpu;
  times.rows = sums.rows / frames;
  times.traceMs = sums.traceMs / frames;
  times.postMs = sums.postMs / frames;
  double longest = 0.0;
  for (const auto& [name, passMs] : sums.passMs) {
    if (passMs <= longest) continue;
    longest = passMs;
    times.longestPass = name;
  }
  return times;
}

LinkTimes timesOfLink(LinkEnds ends, const LinkSums& sums, double frames) {
  const auto busy = static_cast<double>(sums.busy);
  LinkTimes times{ends.first, ends.second, sums.bytes / frames, busy * 1e-6 / frames, {}, {}};
  if (sums.busy == 0) return times;
  times.gbps = sums.bytes / busy;  // bytes per nanosecond
  times.hiddenShare = static_cast<double>(sums.hidden) / busy;
  return times;
}

std::optional<schedule::Way> wayOf(Mode mode) {
  switch (mode) {
    case Mode::Single:
      return schedule::Way::Single;
    case Mode::Pipelined:
      return schedule::Way::Pipelined;
    case Mode::Sfr:
      return schedule::Way::Sfr;
    case Mode::Afr:
      return schedule::Way::Afr;
    case Mode::Auto:
      break;
  }
  return std::nullopt;
}

/// What a whole frame costs on each node. Where the nodes share frames or rows, each did its part of the rows.
std::vector<schedule::NodeCosts> wholeFrames(Mode mode, const ModeTimes& times) {
  const bool sharesTrace = mode == Mode::Sfr || mode == Mode::Afr;
  double rows = 0.0;
  for (const NodeTimes& node : times.nodes) rows += node.rows;
  std::vector<schedule::NodeCosts> costs;
  schedule::NodeCosts sum;
  double known = 0.0;
  for (const NodeTimes& node : times.nodes) {
    const double whole = sharesTrace && node.rows > 0.0 ? rows / node.rows : 1.0;
    costs.push_back({node.traceMs * whole, node.postMs * (mode == Mode::Afr ? whole : 1.0)});
    if (node.rows <= 0.0) continue;
    sum.traceMs += costs.back().traceMs;
    sum.postMs += costs.back().postMs;
    known += 1.0;
  }
  for (size_t node = 0; node < costs.size() && sharesTrace && known > 0.0; ++node) {
    if (times.nodes[node].rows > 0.0) continue;
    costs[node].traceMs = sum.traceMs / known;
    if (mode == Mode::Afr) costs[node].postMs = sum.postMs / known;
  }
  return costs;
}

/// All that crosses where node 0 traces everything: of sfr's rows only those cross that are traced elsewhere.
double wholeBytes(Mode mode, const ModeTimes& times, const LinkTimes& link) {
  if (mode != Mode::Sfr) return link.bytesPerFrame;
  double rows = 0.0;
  for (const NodeTimes& node : times.nodes) rows += node.rows;
  const double sent = times.nodes[link.from].rows;
  return sent > 0.0 ? link.bytesPerFrame * rows / sent : link.bytesPerFrame;
}

}  // namespace

std::optional<ModeTimes> timesOf(std::span<const std::vector<FrameTrace>> runs, const TracePasses& tracePasses,
                                 size_t after) {
  const size_t count = nodesIn(runs);
  std::vector<NodeSums> nodes(count);
  std::map<LinkEnds, LinkSums> links;
  uint64_t wall = 0;
  size_t frames = 0;
  for (const auto& run : runs) {
    if (run.size() < after + 2) continue;
    const size_t last = run.size() - 1 - after;
    const Span window{run.front().endNs, run[last].endNs};
    if (window.end <= window.begin) continue;
    wall += window.end - window.begin;
    frames += last;
    const Activity activity = activityIn(run, window, count);
    for (size_t node = 0; node < count; ++node) addNode(activity, node, nodes[node]);
    for (const auto& [ends, spans] : activity.links) {
      links[ends].busy += lengthOf(spans);
      links[ends].hidden += lengthOf(intersectionOf(spans, activity.busyOfNode[ends.second]));
    }
    addBytes(run, window, links);
    for (size_t frame = 1; frame <= last; ++frame) addFrame(run[frame], tracePasses, nodes);
  }
  if (frames == 0) return std::nullopt;
  const auto divisor = static_cast<double>(frames);
  ModeTimes times{frames, static_cast<double>(wall) * 1e-6 / divisor, {}, {}};
  for (uint32_t node = 0; node < count; ++node) times.nodes.push_back(timesOfNode(node, nodes[node], divisor));
  for (const auto& [ends, sums] : links) times.links.push_back(timesOfLink(ends, sums, divisor));
  return times;
}

std::optional<Bound> boundOf(Mode mode, const ModeTimes& times) {
  const auto way = wayOf(mode);
  Bound bound;
  for (const NodeTimes& node : times.nodes) {
    bound.traceMs += node.traceMs;
    bound.postMs += node.postMs;
  }
  if (!way || bound.traceMs + bound.postMs <= 0.0) return std::nullopt;
  schedule::Costs costs;
  if (*way == schedule::Way::Single) {
    costs.nodes = {{bound.traceMs, bound.postMs}};
  } else {
    costs.count = static_cast<uint32_t>(times.nodes.size());
    costs.nodes = wholeFrames(mode, times);
    costs.link.gbps = 1.0;  // without bytes: free
  }
  const auto busiest = std::ranges::max_element(times.links, {}, &LinkTimes::busyMs);
  if (busiest != times.links.end() && busiest->gbps.value_or(0.0) > 0.0) {
    bound.linkMs = busiest->busyMs;
    costs.link.gbps = *busiest->gbps;
    costs.bytesPerFrame = static_cast<uint64_t>(wholeBytes(mode, times, *busiest));
  }
  const auto ms = schedule::predict(costs).at(*way).ms;
  if (!ms || *ms <= 0.0) return std::nullopt;
  bound.ms = *ms;
  bound.distance = times.frameMs / bound.ms;
  return bound;
}

double efficiency(double speedup, uint32_t gpus) { return speedup / gpus; }

std::optional<double> karpFlatt(double speedup, uint32_t gpus) {
  if (gpus < 2 || speedup <= 0.0) return std::nullopt;
  const double share = 1.0 / gpus;
  return (1.0 / speedup - share) / (1.0 - share);
}

std::optional<double> ofSum(double fps, double fpsFirst, double fpsSecond) {
  const double sum = fpsFirst + fpsSecond;
  if (sum <= 0.0) return std::nullopt;
  return fps / sum;
}

}  // namespace tandem::jobs
