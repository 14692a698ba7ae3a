// The benchmark's tables for people.
#include <algorithm>

#include "jobs/bench_findings.h"
#include "jobs/bench_report.h"

namespace tandem::jobs {
namespace {

constexpr const char* kNothing = "N/A";

std::string number(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : kNothing;
}

/// Escape sequences of a terminal; nothing where colours are off.
struct Colours {
  bool on = false;
  std::string strong(const std::string& text) const { return on ? "\x1b[1m" + text + "\x1b[0m" : text; }
  std::string faint(const std::string& text) const { return on ? "\x1b[2m" + text + "\x1b[0m" : text; }
  std::string good(const std::string& text) const { return on ? "\x1b[32m" + text + "\x1b[0m" : text; }
  std::string bad(const std::string& text) const { return on ? "\x1b[31m" + text + "\x1b[0m" : text; }
};

std::string machineText(const BenchReport& report) {
  const MachineReport& machine = report.machine;
  std::string text = fmt::format("{}, {} threads, {}\n", machine.cpu.value_or(std::string("CPU ") + kNothing),
                                 machine.threads ? std::to_string(*machine.threads) : kNothing,
                                 machine.kernel.value_or(std::string("kernel ") + kNothing));
  const ModeReport* widest = nullptr;
  for (const SceneReport& scene : report.scenes) {
    for (const ModeReport& mode : scene.modes) {
      if (widest == nullptr || mode.run.nodes.size() > widest->run.nodes.size()) widest = &mode;
    }
  }
  if (widest == nullptr) return text;
  for (const frame::NodeReport& node : widest->run.nodes) {
    text += fmt::format("node {}: {} ({}{}), {}\n", node.node, node.adapter, node.type,
                        node.pci.empty() ? "" : ", " + node.pci, node.driver);
  }
  return text;
}

constexpr const char* kModeHeader =
    "mode                      fps  median ms    p99 ms  1% low  stutter  x "
    "single           frames  J/frame";

/// What each mode comes to, computed once.
struct Measured {
  const ModeReport* mode;
  std::string label;
  ModeSummary summary;
  ModeFindings findings;
};

std::string gainText(const SceneReport& scene, const Measured& measured) {
  const auto gain = speedup(scene, *measured.mode);
  if (!gain) return kNothing;
  const auto& interval = measured.findings.speedup;
  return fmt::format("{:.3f}{}", *gain, interval ? fmt::format(" ({:.3f}-{:.3f})", interval->low, interval->high) : "");
}

std::string modeLine(const SceneReport& scene, const Measured& measured) {
  const Statistics& times = measured.summary.frameMs;
  const ModeFindings& findings = measured.findings;
  return fmt::format("{:<20} {:>9.2f} {:>10.3f} {:>9} {:>7} {:>8}  {:<18} {:>6} {:>8}", measured.label,
                     measured.summary.fps, times.p50, number(times.p99, 3), number(findings.onePercentLow.byP99, 1),
                     findings.stutter ? fmt::format("{:.2f} %", 100.0 * findings.stutter->timeShare) : kNothing,
                     gainText(scene, measured), times.count, number(findings.joulesPerFrame, 2));
}

struct Row {
  std::string name;
  uint32_t node = 0;
  std::vector<std::string> cells;  // one per measured mode
};

/// Rows of one name stand together.
class Table {
 public:
  explicit Table(size_t columns) : columns_(columns) {}
  void set(const std::string& name, size_t node, size_t column, std::string cell) {
    auto end = rows_.end();
    for (auto row = rows_.begin(); row != rows_.end(); ++row) {
      if (row->name != name) continue;
      if (row->node == node) return void(row->cells[column] = std::move(cell));
      end = row + 1;
    }
    const auto row = rows_.insert(end, {name, static_cast<uint32_t>(node), std::vector<std::string>(columns_, "-")});
    row->cells[column] = std::move(cell);
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  size_t columns_;
  std::vector<Row> rows_;
};

/// What each mode's passes took, on which node, and why nodes were idle.
std::string passesText(const std::vector<Measured>& modes) {
  Table table(modes.size());
  for (size_t column = 0; column < modes.size(); ++column) {
    for (const PassTime& pass : modes[column].summary.passes)
      table.set(pass.name, pass.node, column, number(pass.milliseconds, 3));
  }
  for (size_t column = 0; column < modes.size(); ++column) {
    if (!modes[column].findings.times) continue;
    for (const NodeTimes& node : modes[column].findings.times->nodes) {
      table.set("busy", node.node, column, number(node.busyMs, 3));
      table.set("waits for the link", node.node, column, number(node.idle.link, 3));
      table.set("waits for a node", node.node, column, number(node.idle.otherNode, 3));
      table.set("waits for the CPU", node.node, column, number(node.idle.cpu, 3));
      table.set("rows traced", node.node, column, number(node.rows, 0));
    }
  }
  std::string text = fmt::format("  {:<26}", "ms a frame");
  for (const Measured& mode : modes) text += fmt::format(" {:>20}", mode.label);
  text += "\n";
  for (const Row& row : table.rows()) {
    text += fmt::format("  node {}  {:<18}", row.node, row.name);
    for (const std::string& cell : row.cells) text += fmt::format(" {:>20}", cell);
    text += "\n";
  }
  return text;
}

std::string raysText(const SceneReport& scene, const Measured& measured) {
  if (!measured.findings.times) return "";
  double rays = 0.0;
  for (const NodeTimes& node : measured.findings.times->nodes) rays += raysPerSecond(scene, node).value_or(0.0);
  if (!(rays > 0.0)) return "";
  return rays >= 1e9 ? fmt::format("; {:.2f} Grays/s while tracing", rays * 1e-9)
                     : fmt::format("; {:.2f} Mrays/s while tracing", rays * 1e-6);
}

/// The least that each mode could take, and what keeps it from that.
std::string limitsText(const SceneReport& scene, const std::vector<Measured>& modes) {
  std::string text;
  for (const Measured& mode : modes) {
    if (!mode.findings.bound) continue;
    text += fmt::format("  {}: {:.3f} x the bound of {:.3f} ms{}; {}\n", mode.label, mode.findings.bound->distance,
                        mode.findings.bound->ms, raysText(scene, mode), mode.findings.limit);
  }
  return text;
}

std::string linksText(const std::vector<Measured>& modes) {
  std::string text;
  for (const Measured& mode : modes) {
    if (!mode.findings.times) continue;
    for (const LinkTimes& link : mode.findings.times->links) {
      std::string kind = "link";
      for (const exec::LinkUse& use : mode.mode->run.links) {
        if (use.from == link.from && use.to == link.to) kind = use.carried.kind;
      }
      text += fmt::format("  {} link {} -> {}: {}, {:.3f} MB a frame at {} GB/s{}\n", mode.label, link.from, link.to,
                          kind, link.bytesPerFrame * 1e-6, number(link.gbps, 2),
                          link.hiddenShare ? fmt::format(", {:.0f} % hidden", 100.0 * *link.hiddenShare) : "");
    }
  }
  return text;
}

std::string sceneText(const SceneReport& scene, const BenchReport& report, const Colours& colours) {
  std::string text = "\n" + colours.strong(scene.wanted.name);
  const auto ran = std::ranges::find_if(scene.modes, [](const ModeReport& mode) { return !mode.run.nodes.empty(); });
  text += fmt::format(": {}x{}, {} samples, {} bounces", scene.picture.size.width, scene.picture.size.height,
                      scene.picture.samples, scene.picture.bounces);
  if (ran != scene.modes.end()) {
    text += fmt::format(", {} triangles, {}, traced by {}", ran->run.sceneTriangles, ran->run.camera,
                        ran->run.nodes.front().tracer);
  }
  text += "\n";
  if (!scene.modes.empty()) text += fmt::format("  {}\n", colours.faint(kModeHeader));
  std::vector<Measured> measured;
  for (const ModeReport& mode : scene.modes) {
    if (const auto summary = summarizeMode(mode)) {
      measured.push_back({&mode, mode.contender.label(), *summary, findingsOf(scene, mode, report)});
      text += "  " + modeLine(scene, measured.back()) + "\n";
    }
    if (mode.failure) text += fmt::format("  {:<20} {}\n", mode.contender.label(), colours.bad(*mode.failure));
  }
  if (!measured.empty()) text += passesText(measured) + linksText(measured) + limitsText(scene, measured);
  if (const std::string pictures = pictureVerdict(scene); !pictures.empty())
    text += "  " + (picturesEqual(scene).value_or(false) ? colours.good(pictures) : colours.bad(pictures)) + "\n";
  return text + "  " + colours.strong(verdict(scene, report)) + "\n";
}

std::string startText(const BenchReport& report) {
  const RunPlan& plan = report.plan;
  return fmt::format("{} runs of each mode in turn, {} each{}\n", report.repeats,
                     plan.frames > 0 ? fmt::format("{} frames", plan.frames) : fmt::format("{:g} s", plan.seconds),
                     plan.readback ? ", every picture copied to the host" : "");
}

}  // namespace

std::string benchText(const BenchReport& report, bool coloured) {
  const Colours colours{coloured};
  std::string text = machineText(report) + startText(report);
  for (const SceneReport& scene : report.scenes) text += sceneText(scene, report, colours);
  if (!report.kept.empty())
    text += fmt::format("\n{} scenes were measured before and are in the files\n", report.kept.size());
  if (report.interruptedBy != 0) text += "\ninterrupted: this is what was measured until then\n";
  return text;
}

}  // namespace tandem::jobs
