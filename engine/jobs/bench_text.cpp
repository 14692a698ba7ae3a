// The benchmark's tables for people.
#include <algorithm>

#include "jobs/bench_report.h"

namespace tandem::jobs {
namespace {

constexpr const char* kNothing = "N/A";

std::string number(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : kNothing;
}

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

std::string settingsText(const BenchReport& report) {
  const RunPlan& plan = report.plan;
  return fmt::format("{}x{}, {} samples, {} bounces; {} runs of each mode in turn, {} each{}\n",
                     report.picture.size.width, report.picture.size.height, report.picture.samples,
                     report.picture.bounces, report.repeats,
                     plan.frames > 0 ? fmt::format("{} frames", plan.frames) : fmt::format("{:g} s", plan.seconds),
                     plan.readback ? ", every picture copied to the host" : "");
}

std::string modeLine(const SceneReport& scene, const ModeReport& mode) {
  const auto summary = summarizeMode(mode);
  std::string line = fmt::format("  {:<10}", frame::modeName(mode.mode));
  if (summary) {
    const Statistics& times = summary->frameMs;
    line += fmt::format(" {:>9.2f} {:>10.3f} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}", summary->fps, times.p50,
                        number(times.p90, 3), number(times.p95, 3), number(times.p99, 3), number(times.deviation, 3),
                        number(speedup(scene, mode), 2), times.count);
  } else {
    line += fmt::format(" {:>9}", kNothing);
  }
  if (mode.failure) line += fmt::format("  {}", *mode.failure);
  return line + "\n";
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

/// What each mode's passes took, on which node.
std::string passesText(const std::vector<std::pair<std::string_view, ModeSummary>>& modes) {
  Table table(modes.size());
  for (size_t column = 0; column < modes.size(); ++column) {
    for (const PassTime& pass : modes[column].second.passes)
      table.set(pass.name, pass.node, column, number(pass.milliseconds, 3));
  }
  for (size_t column = 0; column < modes.size(); ++column) {
    const ModeSummary& summary = modes[column].second;
    for (size_t node = 0; node < summary.busyMsOfNode.size(); ++node)
      table.set("GPU busy, mean", node, column, number(summary.busyMsOfNode[node], 3));
    for (size_t node = 0; node < summary.rowsOfNode.size(); ++node)
      table.set("rows traced, mean", node, column, number(summary.rowsOfNode[node], 0));
  }
  std::string text = fmt::format("  {:<26}", "median ms of passes");
  for (const auto& [name, summary] : modes) text += fmt::format(" {:>12}", name);
  text += "\n";
  for (const Row& row : table.rows()) {
    text += fmt::format("  node {}  {:<18}", row.node, row.name);
    for (const std::string& cell : row.cells) text += fmt::format(" {:>12}", cell);
    text += "\n";
  }
  return text;
}

std::string linksText(const SceneReport& scene) {
  std::string text;
  for (const ModeReport& mode : scene.modes) {
    for (const exec::LinkUse& link : mode.run.links) {
      const topology::LinkReport& carried = link.carried;
      if (carried.transfers == 0) continue;
      text += fmt::format("  {} link {} -> {}: {}, {:.3f} MB a transfer, {:.2f} GB/s\n", frame::modeName(mode.mode),
                          link.from, link.to, carried.kind,
                          static_cast<double>(carried.bytes) / static_cast<double>(carried.transfers) / 1e6,
                          carried.gigabytesPerSecond());
    }
  }
  return text;
}

std::string sceneText(const SceneReport& scene, const BenchReport& report) {
  std::string text = "\n" + scene.scene;
  const auto ran = std::ranges::find_if(scene.modes, [](const ModeReport& mode) { return !mode.run.nodes.empty(); });
  if (ran != scene.modes.end()) text += fmt::format(": {} triangles, {}", ran->run.sceneTriangles, ran->run.camera);
  text += "\n";
  std::vector<std::pair<std::string_view, ModeSummary>> measured;
  for (const ModeReport& mode : scene.modes) {
    if (const auto summary = summarizeMode(mode)) measured.emplace_back(frame::modeName(mode.mode), *summary);
  }
  if (!scene.modes.empty()) {
    text += fmt::format("  {:<10} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}\n", "mode", "fps", "median ms",
                        "p90 ms", "p95 ms", "p99 ms", "deviation", "x single", "frames");
  }
  for (const ModeReport& mode : scene.modes) text += modeLine(scene, mode);
  if (!measured.empty()) text += passesText(measured) + linksText(scene);
  if (const std::string pictures = pictureVerdict(scene); !pictures.empty()) text += "  " + pictures + "\n";
  return text + "  " + verdict(scene, report) + "\n";
}

}  // namespace

std::string benchText(const BenchReport& report) {
  std::string text = machineText(report) + settingsText(report);
  for (const SceneReport& scene : report.scenes) text += sceneText(scene, report);
  if (report.partial()) text += "\ninterrupted: this is what was measured until then\n";
  return text;
}

}  // namespace tandem::jobs
