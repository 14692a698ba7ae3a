#include "jobs/bench_compare.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/bench_doubts.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;
using Runs = std::vector<std::vector<double>>;

/// Links and rows that changed by less are not worth a line.
constexpr double kWorthALine = 0.03;

double squared(double value) { return value * value; }

/// The runs that have frames; one that a signal ended may have none.
Runs runsOf(const json& mode) {
  Runs runs;
  for (const json& run : listOf(at(mode, "runs"))) {
    std::vector<double> series = seriesOf(at(run, "frameMs"));
    if (std::ranges::any_of(series, [](double ms) { return ms > 0.0; })) runs.push_back(std::move(series));
  }
  return runs;
}

/// 0 where there are no frames.
double fpsOf(const Runs& runs) {
  double frames = 0.0, milliseconds = 0.0;
  for (const std::vector<double>& run : runs) {
    frames += static_cast<double>(run.size());
    for (const double ms : run) milliseconds += ms;
  }
  return frames > 0.0 ? frames * 1e3 / milliseconds : 0.0;
}

const json* named(const json& list, const char* key, const json& name) {
  const json& elements = listOf(list);
  const auto found = std::ranges::find_if(elements, [&](const json& element) { return at(element, key) == name; });
  return found == elements.end() ? nullptr : &*found;
}

/// The case of the same name, where it shows the same scene.
const json* sameScene(const json& document, const json& scene) {
  const json* other = named(at(document, "scenes"), "name", at(scene, "name"));
  return other != nullptr && at(*other, "scene") == at(scene, "scene") ? other : nullptr;
}

struct Change {
  double ratio = 1.0;                // fps after / before
  std::optional<Interval> interval;  // of the ratio
  bool shown() const { return interval && differs(*interval); }
  /// With one run a side there is no interval; such a change is worth an explanation, and no more.
  bool slower() const { return ratio < 1.0 && (shown() || !interval); }
};

std::string signedPercent(double ratio) {
  const double percent = 100.0 * (ratio - 1.0);
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

/// The pass that grew most, of those with a time before and after or after alone.
std::string grownPass(const json& before, const json& after) {
  const json* most = nullptr;
  double growth = 0.0;
  std::optional<double> old;
  for (const json& pass : listOf(at(after, "summary", "passes"))) {
    std::optional<double> was;
    for (const json& candidate : listOf(at(before, "summary", "passes"))) {
      if (at(candidate, "name") == at(pass, "name") && at(candidate, "node") == at(pass, "node"))
        was = numberOf(at(candidate, "ms"));
    }
    const double grew = numberOf(at(pass, "ms")).value_or(0.0) - was.value_or(0.0);
    if (grew > growth) most = &pass, growth = grew, old = was;
  }
  if (most == nullptr) return "no pass takes longer than before";
  std::string text = fmt::format("{} on node {} grew most: {} -> {} ms (+{:.3f} ms", textOf(at(*most, "name")),
                                 figureOf(at(*most, "node"), 0), old ? figure(old, 3) : "not there",
                                 figureOf(at(*most, "ms"), 3), growth);
  if (old && *old > 0.0) text += fmt::format(", {}", signedPercent((*old + growth) / *old));
  return text + ")";
}

/// "name: 10.2 -> 3.1 unit (-69.6 %)" where it changed by more than kWorthALine.
std::optional<std::string> changed(const std::string& name, const json& before, const json& after, const char* unit,
                                   int decimals) {
  const auto old = numberOf(before), now = numberOf(after);
  if (!old || !now || std::abs(*now - *old) <= kWorthALine * std::abs(*old)) return std::nullopt;
  std::string text = fmt::format("{}: {} -> {} {}", name, figure(old, decimals), figure(now, decimals), unit);
  if (*old > 0.0) text += fmt::format(" ({})", signedPercent(*now / *old));
  return text;
}

std::vector<std::string> changedParts(const json& before, const json& after) {
  std::vector<std::string> lines;
  const auto add = [&](std::optional<std::string> line) {
    if (line) lines.push_back(std::move(*line));
  };
  for (const json& link : listOf(at(after, "summary", "links"))) {
    for (const json& old : listOf(at(before, "summary", "links"))) {
      if (at(old, "from") != at(link, "from") || at(old, "to") != at(link, "to")) continue;
      const std::string name = fmt::format("link {} -> {}", figureOf(at(link, "from"), 0), figureOf(at(link, "to"), 0));
      if (at(old, "kind") != at(link, "kind"))
        lines.push_back(fmt::format("{}: {} -> {}", name, textOf(at(old, "kind")), textOf(at(link, "kind"))));
      add(changed(name, at(old, "gbps"), at(link, "gbps"), "GB/s", 2));
      add(changed(name, at(old, "bytesPerFrame"), at(link, "bytesPerFrame"), "bytes a frame", 0));
    }
  }
  for (const json& node : listOf(at(after, "summary", "nodes"))) {
    const json* old = named(at(before, "summary", "nodes"), "node", at(node, "node"));
    if (old == nullptr) continue;
    add(changed(fmt::format("node {}", figureOf(at(node, "node"), 0)), at(*old, "rows"), at(node, "rows"), "rows", 0));
  }
  return lines;
}

class Comparer {
 public:
  explicit Comparer(double failAbovePercent) : failAbove_(failAbovePercent) {}

  void scene(const json& before, const json& after) {
    name_ = textOf(at(after, "name"));
    text_ +=
        fmt::format("\n{}: {}, {}, {} samples, {} bounces\n", name_, textOf(at(after, "scene")),
                    sizeText(at(after, "size")), figureOf(at(after, "samples"), 0), figureOf(at(after, "bounces"), 0));
    for (const std::string& difference : otherWork(before, after))
      text_ += fmt::format("  warning: not the same work: {}\n", difference);
    text_ += fmt::format("  {:<22} {:>11} {:>11} {:>9}   {:<22}\n", "mode", "fps before", "fps after", "change",
                         "95 % interval");
    for (const json& mode : listOf(at(after, "modes"))) {
      if (const json* old = named(at(before, "modes"), "label", at(mode, "label"))) this->mode(*old, mode);
    }
    absent(before, after, "before");
    absent(after, before, "after");
    if (at(before, "picturesEqual") == true && at(after, "picturesEqual") == false)
      text_ += "  the modes' pictures were equal before and DIFFER now\n";
  }

  Comparison finish(std::string head) {
    text_ = std::move(head) + text_ + "\n";
    for (const std::string& regression : regressions_) text_ += fmt::format("regression: {}\n", regression);
    if (regressions_.empty()) text_ += fmt::format("no regression past {:g} %\n", failAbove_);
    if (withoutInterval_) text_ += "where a side has fewer than two runs nothing can be shown, and nothing fails\n";
    return {std::move(text_), regressions_.empty() ? ExitCode::Done : ExitCode::Failed};
  }

 private:
  void mode(const json& before, const json& after) {
    const std::string label = textOf(at(after, "label"));
    const Runs old = runsOf(before), now = runsOf(after);
    if (old.empty() || now.empty()) return unmeasured(label, old, now, after);
    const Change change{fpsOf(now) / fpsOf(old), changeInterval(old, now)};
    withoutInterval_ = withoutInterval_ || !change.interval;
    const std::string interval = change.interval ? fmt::format("{} to {}", signedPercent(change.interval->low),
                                                               signedPercent(change.interval->high))
                                                 : std::string(kNotAvailable);
    text_ += fmt::format("  {:<22} {:>11.2f} {:>11.2f} {:>9}   {:<22} {}\n", label, fpsOf(old), fpsOf(now),
                         signedPercent(change.ratio), interval, wordFor(change));
    if (change.slower()) {
      text_ += fmt::format("    {}\n", grownPass(before, after));
      if (const json& limit = at(after, "summary", "limit"); limit.is_string())
        text_ += fmt::format("    its limit now: {}\n", textOf(limit));
    }
    for (const std::string& line : changedParts(before, after)) text_ += fmt::format("    {}\n", line);
    if (change.shown() && 100.0 * (1.0 - change.ratio) > failAbove_)
      regressions_.push_back(fmt::format("{}, {}: {}", name_, label, signedPercent(change.ratio)));
  }

  static const char* wordFor(const Change& change) {
    if (!change.interval) return "one run: not shown";
    if (!change.shown()) return "no difference shown";
    return change.ratio < 1.0 ? "SLOWER" : "faster";
  }

  void unmeasured(const std::string& label, const Runs& before, const Runs& after, const json& mode) {
    const auto cell = [](const Runs& runs) {
      return figure(runs.empty() ? std::nullopt : std::optional(fpsOf(runs)), 2);
    };
    text_ += fmt::format("  {:<22} {:>11} {:>11} {:>9}", label, cell(before), cell(after), kNotAvailable);
    const json& failure = at(mode, "failure");
    if (failure.is_string()) text_ += "   " + textOf(failure);
    text_ += "\n";
    if (!before.empty() && failure.is_string())
      regressions_.push_back(fmt::format("{}, {}: fails now: {}", name_, label, textOf(failure)));
  }

  void absent(const json& has, const json& lacks, const char* when) {
    for (const json& mode : listOf(at(has, "modes"))) {
      if (named(at(lacks, "modes"), "label", at(mode, "label")) == nullptr)
        text_ += fmt::format("  {:<22} only {}\n", textOf(at(mode, "label")), when);
    }
  }

  double failAbove_;
  std::string name_;  // of the scene
  std::string text_;
  std::vector<std::string> regressions_;
  bool withoutInterval_ = false;
};

std::string headText(const json& before, const json& after) {
  std::string text;
  for (const auto& [word, document] : {std::pair{"before", &before}, std::pair{"after", &after}}) {
    text += fmt::format("{:<7} {}  tandem {}, commit {}\n", word, textOf(at(*document, "date")),
                        textOf(at(*document, "version")), textOf(at(*document, "commit")));
  }
  for (const std::string& doubt : doubtsOf(before, after)) text += fmt::format("warning: {}\n", doubt);
  return text;
}

void tellOfLoneScenes(std::string& head, const json& has, const json& lacks, const char* when) {
  for (const json& scene : listOf(at(has, "scenes"))) {
    if (sameScene(lacks, scene) == nullptr)
      head += fmt::format("warning: only {}: {} ({})\n", when, textOf(at(scene, "name")), textOf(at(scene, "scene")));
  }
}

}  // namespace

std::optional<Interval> changeInterval(std::span<const std::vector<double>> before,
                                       std::span<const std::vector<double>> after) {
  const auto old = fpsInterval(before), now = fpsInterval(after);
  if (!old || !now) return std::nullopt;
  const double ratio = now->value / old->value;
  const double down = std::sqrt(squared(std::log(now->value / now->low)) + squared(std::log(old->high / old->value)));
  const double up = std::sqrt(squared(std::log(now->high / now->value)) + squared(std::log(old->value / old->low)));
  return Interval{ratio, ratio * std::exp(-down), ratio * std::exp(up)};
}

Expected<Comparison> compareReports(const json& before, const json& after, double failAbovePercent) {
  if (!(failAbovePercent >= 0.0 && failAbovePercent <= 100.0))
    return refuse(ExitCode::WrongUsage, "a regression of {} %: 0 to 100 is wanted", failAbovePercent);
  if (auto refusal = checkBenchDocument(before, "the report before")) return std::move(*refusal);
  if (auto refusal = checkBenchDocument(after, "the report after")) return std::move(*refusal);
  std::string head = headText(before, after);
  tellOfLoneScenes(head, before, after, "before");
  tellOfLoneScenes(head, after, before, "after");
  Comparer comparer(failAbovePercent);
  size_t common = 0;
  for (const json& scene : listOf(at(after, "scenes"))) {
    const json* old = sameScene(before, scene);
    if (old == nullptr) continue;
    comparer.scene(*old, scene);
    ++common;
  }
  if (common == 0)
    return refuse(ExitCode::UnusableInput, "the two reports have no scene in common: there is nothing to compare");
  return comparer.finish(std::move(head));
}

}  // namespace tandem::jobs
