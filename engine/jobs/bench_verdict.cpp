#include "jobs/bench_verdict.h"

#include <fmt/core.h>

#include <algorithm>

namespace tandem::jobs {
namespace {

using frame::Mode;

constexpr double kHidden = 0.95;       // a link is called hidden from here on
constexpr double kNearIdeal = 0.95;    // of two GPUs' ideal: no word on why it is not more
constexpr double kClearlyLess = 0.95;  // of the best mode: worth a word

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

constexpr std::string_view kAnd = ", and ";

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += std::string(text.empty() ? "" : kAnd) + part;
  return text;
}

/// Finds the limits of one mode. Shares are of the wall clock.
class Limits {
 public:
  Limits(Mode mode, const ModeTimes& times, double throttleGbps)
      : mode_(mode), times_(times), throttleGbps_(throttleGbps) {
    for (const NodeTimes& node : times.nodes) rows_ += node.rows;
  }
  std::string text() const;

 private:
  double share(double ms) const { return ms / times_.frameMs; }
  bool saturated(double busyMs) const { return share(busyMs) >= kSaturated; }
  std::vector<std::string> busyLinks(double from) const;
  std::vector<std::string> busyNodes() const;
  std::string busyNode(const NodeTimes& node) const;
  std::vector<std::string> waits() const;
  std::string waitForLink(const NodeTimes& node) const;
  std::string waitForNode(const NodeTimes& node, bool withRows) const;
  std::string rowsText() const;

  Mode mode_;
  const ModeTimes& times_;
  double throttleGbps_;
  double rows_ = 0.0;
};

std::vector<std::string> Limits::busyLinks(double from) const {
  std::vector<std::string> texts;
  for (const LinkTimes& link : times_.links) {
    if (share(link.busyMs) < from || !link.gbps) continue;
    std::string text = fmt::format("the link {} -> {} is busy {} of the time at {:.3g} GB/s", link.from, link.to,
                                   percent(share(link.busyMs)), *link.gbps);
    if (throttleGbps_ > 0.0) text += fmt::format(" (throttled to {:g} GB/s)", throttleGbps_);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string Limits::busyNode(const NodeTimes& node) const {
  const char* work = node.postMs <= 0.0 ? " with tracing" : node.traceMs <= 0.0 ? " with post" : "";
  return fmt::format("node {} is busy {} of the time{}, longest with {}", node.node, percent(share(node.busyMs)), work,
                     node.longestPass);
}

/// The busiest first.
std::vector<std::string> Limits::busyNodes() const {
  std::vector<const NodeTimes*> busy;
  for (const NodeTimes& node : times_.nodes) {
    if (saturated(node.busyMs)) busy.push_back(&node);
  }
  std::ranges::stable_sort(busy, std::ranges::greater(), &NodeTimes::busyMs);
  std::vector<std::string> texts;
  for (const NodeTimes* node : busy) texts.push_back(busyNode(*node));
  return texts;
}

std::string Limits::rowsText() const {
  std::string text;
  for (const NodeTimes& node : times_.nodes) {
    const std::string rows = percent(node.rows / rows_);
    text += text.empty() ? fmt::format("node {} traces {} of the rows", node.node, rows)
                         : fmt::format(", node {} traces {}", node.node, rows);
  }
  return text;
}

std::string Limits::waitForLink(const NodeTimes& node) const {
  std::string text =
      fmt::format("node {} waits {} of the time for the link", node.node, percent(share(node.idle.link)));
  const auto towards = std::ranges::find(times_.links, node.node, &LinkTimes::to);
  const auto away = std::ranges::find(times_.links, node.node, &LinkTimes::from);
  const auto link = towards != times_.links.end() ? towards : away;
  if (link == times_.links.end()) return text;
  text += fmt::format(" {} -> {}", link->from, link->to);
  if (link->gbps) text += fmt::format(", which makes {:.3g} GB/s", *link->gbps);
  if (throttleGbps_ > 0.0) text += fmt::format(" (throttled to {:g} GB/s)", throttleGbps_);
  return text;
}

/// In afr no node needs what another makes, but frames come out in order.
std::string Limits::waitForNode(const NodeTimes& node, bool withRows) const {
  std::string whom = "the others";
  if (times_.nodes.size() == 2) whom = fmt::format("node {}", times_.nodes[0].node == node.node ? 1 : 0);
  const std::string waits = percent(share(node.idle.otherNode));
  if (mode_ == Mode::Afr)
    return fmt::format("node {} is idle {} of the time beside {} at work", node.node, waits, whom);
  std::string text = fmt::format("node {} waits {} of the time for {}", node.node, waits, whom);
  if (withRows && mode_ == Mode::Sfr && rows_ > 0.0) text += ": " + rowsText();
  return text;
}

/// What the nodes wait for, the longest wait first: those that are worth a word, or else the longest alone. The CPU is
/// waited for by all nodes at once.
std::vector<std::string> Limits::waits() const {
  struct Wait {
    double share;
    std::string text;
  };
  std::vector<Wait> waits;
  const auto waitsMost =
      std::ranges::max_element(times_.nodes, {}, [](const NodeTimes& n) { return n.idle.otherNode; });
  for (auto node = times_.nodes.begin(); node != times_.nodes.end(); ++node) {
    waits.push_back({share(node->idle.link), waitForLink(*node)});
    waits.push_back({share(node->idle.otherNode), waitForNode(*node, node == waitsMost)});
  }
  const size_t count = times_.nodes.size();
  const double cpu = share(times_.nodes.front().idle.cpu);
  const std::string who = count == 1 ? "the node waits" : count == 2 ? "both nodes wait" : "all nodes wait";
  waits.push_back({cpu, fmt::format("the CPU: {} for it {} of the time", who, percent(cpu))});
  std::ranges::stable_sort(waits, std::ranges::greater(), &Wait::share);
  std::vector<std::string> texts;
  for (Wait& wait : waits) {
    if (texts.empty() || wait.share > kWaits) texts.push_back(std::move(wait.text));
  }
  return texts;
}

/// A link that is full makes the balancer give the receiving node more rows, until that is busy all the time too: the
/// link comes first where a node has time left.
std::string Limits::text() const {
  const bool worked = std::ranges::any_of(times_.nodes, [](const NodeTimes& node) { return node.busyMs > 0.0; });
  if (!worked || times_.frameMs <= 0.0) return "no pass was timed";
  const std::vector<std::string> links = busyLinks(kSaturated), nodes = busyNodes();
  const bool linkFirst = nodes.size() < times_.nodes.size();
  std::vector<std::string> texts = linkFirst ? links : nodes;
  const std::vector<std::string>& second = linkFirst ? nodes : links;
  texts.insert(texts.end(), second.begin(), second.end());
  if (texts.empty()) return join(waits());
  if (mode_ != Mode::Sfr || rows_ <= 0.0) return join(texts);
  const auto waiting =
      std::ranges::find_if(times_.nodes, [&](const NodeTimes& node) { return share(node.idle.otherNode) > kWaits; });
  if (waiting == times_.nodes.end()) return join(texts);
  texts.push_back(waitForNode(*waiting, true));
  if (!links.empty()) return join(texts);
  const std::vector<std::string> halfBusy = busyLinks(0.5);
  texts.insert(texts.end(), halfBusy.begin(), halfBusy.end());
  return join(texts);
}

double speedupOf(const ModeFacts& mode, double singleFps) {
  return mode.speedup ? mode.speedup->value : *mode.fps / singleFps;
}

/// "1.93x (1.91-1.95)".
std::string speedupText(const ModeFacts& mode, double singleFps) {
  std::string text = fmt::format("{:.2f}x", speedupOf(mode, singleFps));
  if (mode.speedup) text += fmt::format(" ({:.2f}-{:.2f})", mode.speedup->low, mode.speedup->high);
  return text;
}

/// The first of the mode's limits: a sentence has no room for all.
std::string because(const ModeFacts& mode) {
  return mode.limit.empty() ? "" : ", because " + mode.limit.substr(0, mode.limit.find(kAnd));
}

/// The best by frames per second among those of one GPU or those of two; null: none was measured.
const ModeFacts* fastest(const VerdictFacts& facts, bool single) {
  const ModeFacts* best = nullptr;
  for (const ModeFacts& mode : facts.modes) {
    if ((mode.mode == Mode::Single) != single || !mode.fps) continue;
    if (best == nullptr || *mode.fps > *best->fps) best = &mode;
  }
  return best;
}

std::string caveats(const VerdictFacts& facts, bool dual) {
  std::string text;
  if (facts.simulatedDual && dual) text += "; one GPU was opened twice, which says nothing about two";
  if (facts.software) text += "; times of software devices say nothing about GPUs";
  if (facts.validation) text += "; validation layers were on, which slow everything down";
  return text;
}

std::string hiddenText(const ModeFacts& mode) {
  if (!mode.hiddenShare) return "";
  if (*mode.hiddenShare >= kHidden) return "; the link is hidden";
  return fmt::format("; the link is hidden for {} of its time", percent(*mode.hiddenShare));
}

/// Why the other modes of two GPUs are behind the best.
std::string othersText(const VerdictFacts& facts, const ModeFacts& best, double singleFps) {
  std::string text;
  for (const ModeFacts& mode : facts.modes) {
    if (&mode == &best || mode.mode == Mode::Single || !mode.fps) continue;
    if (speedupOf(mode, singleFps) >= kClearlyLess * speedupOf(best, singleFps)) continue;
    text += fmt::format("; {} stops at {:.2f}x{}", mode.label, speedupOf(mode, singleFps), because(mode));
  }
  return text;
}

/// `best`: of two GPUs, compared with `single`. `one`: the fastest single, which may be that of the other GPU.
std::string comparison(const VerdictFacts& facts, const ModeFacts& best, const ModeFacts& single,
                       const ModeFacts& one) {
  const double speedup = speedupOf(best, *single.fps);
  const std::string gain = speedupText(best, *single.fps);
  if (&one != &single && *one.fps > *best.fps) {
    return fmt::format("one GPU is faster here: {} makes {:.4g} fps, the best of two, {}, {:.4g} ({} single){}",
                       one.label, *one.fps, best.label, *best.fps, gain, because(best));
  }
  const bool even = best.speedup ? !differs(*best.speedup) : speedup == 1.0;
  if (even)
    return fmt::format("no difference can be shown: the best of two, {}, is {} single{}", best.label, gain,
                       because(best));
  if (speedup < 1.0)
    return fmt::format("one GPU is faster here: the best of two, {}, is {}{}", best.label, gain, because(best));
  std::string text = fmt::format("{} is {} single", best.label, gain) + hiddenText(best);
  if (speedup < kNearIdeal * 2.0 && !best.limit.empty()) text += fmt::format("; not 2x{}", because(best));
  return text + othersText(facts, best, *single.fps);
}

std::string failures(const VerdictFacts& facts) {
  std::string text;
  for (const ModeFacts& mode : facts.modes) {
    if (!mode.fps && mode.failure)
      text += fmt::format("{}{}: {}", text.empty() ? " (" : "; ", mode.label, *mode.failure);
  }
  return text.empty() ? "" : text + ")";
}

}  // namespace

std::string limitOf(Mode mode, const ModeTimes& times, double throttleGbps) {
  return Limits(mode, times, throttleGbps).text();
}

std::string verdictOf(const VerdictFacts& facts) {
  if (facts.failure) return fmt::format("not measured: {}", *facts.failure);
  const ModeFacts* best = fastest(facts, false);
  const ModeFacts* one = fastest(facts, true);
  const auto single = std::ranges::find(facts.modes, Mode::Single, &ModeFacts::mode);
  if (best != nullptr && single != facts.modes.end() && single->fps)
    return comparison(facts, *best, *single, *one) + caveats(facts, true);
  if (best != nullptr) {
    return fmt::format("{} is the fastest with {:.4g} fps; single was not measured{}{}", best->label, *best->fps,
                       failures(facts), caveats(facts, true));
  }
  if (one != nullptr) {
    return fmt::format("{} makes {:.4g} fps; no mode of two GPUs was measured{}{}", one->label, *one->fps,
                       failures(facts), caveats(facts, false));
  }
  return "nothing was measured" + failures(facts);
}

}  // namespace tandem::jobs
