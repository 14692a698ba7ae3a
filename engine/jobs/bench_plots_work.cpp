// Against the work: speed-up over sizes and samples, passes against the device's copy speed.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/bench_plots.h"
#include "jobs/svg_plot.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;

constexpr double kRight = kPlotWidth - 12.0;

struct Rate {
  std::string name;
  double gbps = 0.0;
  std::optional<double> copyGbps;  // of the node that runs it
};

struct Rates {
  std::string mode;
  std::vector<Rate> known;
  std::string unknown;  // names of the passes whose bytes are not known
};

std::optional<double> copyOf(const json& summary, const json& node) {
  for (const json& candidate : listOf(at(summary, "nodes"))) {
    if (at(candidate, "node") == node) return numberOf(at(candidate, "copyGbps"));
  }
  return std::nullopt;
}

Rates ratesOf(const json& scene) {
  for (const json& mode : listOf(at(scene, "modes"))) {
    const json& summary = at(mode, "summary");
    Rates rates{textOf(at(mode, "label")), {}, {}};
    for (const json& pass : listOf(at(summary, "passes"))) {
      const std::string name = textOf(at(pass, "name"));
      if (const auto gbps = numberOf(at(pass, "gbps"))) {
        rates.known.push_back({fmt::format("{}, node {}", name, figureOf(at(pass, "node"), 0)), *gbps,
                               copyOf(summary, at(pass, "node"))});
      } else {
        rates.unknown += (rates.unknown.empty() ? "" : ", ") + name;
      }
    }
    if (!rates.known.empty()) return rates;
  }
  return {};
}

/// A case of a series, and where it stands on the axis.
struct Step {
  const json* scene;
  double work;  // pixels x samples
};

/// Cases of one series and one kind of scaling, by their work.
using Series = std::map<std::pair<std::string, std::string>, std::vector<Step>>;

Series casesBySeries(const json& document) {
  Series series;
  for (const json& scene : listOf(at(document, "scenes"))) {
    if (!at(scene, "series").is_string()) continue;
    double work = numberOf(at(scene, "samples")).value_or(1.0);
    for (const double side : seriesOf(at(scene, "size"))) work *= side;
    series[{textOf(at(scene, "series")), at(scene, "scaling").is_string() ? textOf(at(scene, "scaling")) : ""}]
        .push_back({&scene, work});
  }
  for (auto& [key, steps] : series) std::ranges::stable_sort(steps, {}, &Step::work);
  return series;
}

/// The label of each step: what differs between them, size, samples or else the name.
std::vector<std::string> stepLabels(const std::vector<Step>& steps, std::string& unit) {
  const auto differ = [&](const char* key) {
    return std::ranges::any_of(steps, [&](const Step& s) { return at(*s.scene, key) != at(*steps[0].scene, key); });
  };
  const bool sizes = differ("size"), samples = differ("samples");
  unit = sizes ? (samples ? "size and samples a pixel" : "size in pixels") : (samples ? "samples a pixel" : "case");
  std::vector<std::string> labels;
  for (const Step& step : steps) {
    const std::string size = sizeText(at(*step.scene, "size")), count = figureOf(at(*step.scene, "samples"), 0);
    labels.push_back(sizes ? (samples ? fmt::format("{}, {}", size, count) : size)
                           : (samples ? count : textOf(at(*step.scene, "name"))));
  }
  return labels;
}

struct Mark {
  size_t step;
  double value;
  std::optional<double> low, high;
};

struct Line {
  std::string label, look;
  std::vector<Mark> marks;
};

std::vector<Line> linesOf(const std::vector<Step>& steps) {
  std::vector<Line> lines;
  for (size_t step = 0; step < steps.size(); ++step) {
    for (const json& mode : listOf(at(*steps[step].scene, "modes"))) {
      const json& speedup = at(mode, "speedup");
      const auto value = numberOf(at(speedup, "value"));
      if (!value || at(mode, "mode") == "single") continue;
      const std::string label = textOf(at(mode, "label"));
      auto line = std::ranges::find(lines, label, &Line::label);
      if (line == lines.end()) line = lines.insert(line, {label, modeLook(mode), {}});
      line->marks.push_back({step, *value, numberOf(at(speedup, "low")), numberOf(at(speedup, "high"))});
    }
  }
  return lines;
}

double mostOf(const std::vector<Line>& lines) {
  double most = 2.0;
  for (const Line& line : lines) {
    for (const Mark& mark : line.marks) most = std::max({most, mark.value, mark.high.value_or(0.0)});
  }
  return most;
}

void drawLine(Svg& svg, const Plot& plot, const Line& line, const std::vector<std::string>& labels) {
  std::vector<Point> points;
  for (const Mark& mark : line.marks) points.push_back(plot.at(static_cast<double>(mark.step), mark.value));
  svg.polyline(points, "line thick " + line.look);
  for (size_t index = 0; index < line.marks.size(); ++index) {
    const Mark& mark = line.marks[index];
    std::string title = fmt::format("{}, {}: {:.3f}", line.label, labels[mark.step], mark.value);
    if (mark.low && mark.high) {
      svg.line({points[index].x, plot.atY(*mark.low)}, {points[index].x, plot.atY(*mark.high)}, "whisker " + line.look);
      title += fmt::format(" ({:.3f} to {:.3f})", *mark.low, *mark.high);
    }
    svg.circle(points[index], 3.5, "dot " + line.look, title);
  }
}

/// At the lines' right ends, moved apart where they would overlap.
void drawLineLabels(Svg& svg, const Plot& plot, const std::vector<Line>& lines) {
  std::vector<std::pair<double, std::string>> ends{{1.0, "one GPU"}};
  for (const Line& line : lines) ends.emplace_back(line.marks.back().value, line.label);
  std::ranges::sort(ends, std::greater<>());
  double above = -1e9;
  for (const auto& [value, label] : ends) {
    above = std::max(plot.atY(value) + 4.0, above + 14.0);
    svg.text({plot.box.right + 10.0, above}, "start", label, "label");
  }
}

void drawSteps(Svg& svg, const Plot& plot, const std::vector<std::string>& labels) {
  const double room =
      (plot.box.right - plot.box.left) / std::max<double>(static_cast<double>(labels.size()) - 1.0, 1.0);
  // Where they would overlap, every other one stands lower.
  const bool stagger =
      std::ranges::any_of(labels, [&](const std::string& label) { return textWidth(label) > room - 6; });
  for (size_t step = 0; step < labels.size(); ++step) {
    const double x = plot.atX(static_cast<double>(step));
    svg.line({x, plot.box.top}, {x, plot.box.bottom}, "grid");
    svg.text({x, plot.box.bottom + (stagger && step % 2 == 1 ? 31.0 : 16.0)}, "middle", labels[step], "tick");
  }
}

std::string scalingFigure(const std::string& series, const std::string& scaling, const std::vector<Step>& steps) {
  const std::vector<Line> lines = linesOf(steps);
  if (steps.size() < 2 || lines.empty()) return {};
  std::string unit;
  const std::vector<std::string> labels = stepLabels(steps, unit);
  const Plot plot{{64.0, 14.0, kPlotWidth - 84.0, 244.0},
                  {0.0, static_cast<double>(steps.size() - 1), 1.0},
                  roundAxis(0.0, mostOf(lines), 3)};
  Svg svg(300.0, fmt::format("Speed-up against one GPU over {}: series {}", unit, series));
  drawY(svg, plot);
  drawSteps(svg, plot, labels);
  svg.line({plot.box.left, plot.atY(1.0)}, {plot.box.right, plot.atY(1.0)}, "mark");
  for (const Line& line : lines) drawLine(svg, plot, line, labels);
  drawLineLabels(svg, plot, lines);
  svg.text({plot.box.left, 292.0}, "start", unit + "; speed-up from bottom to top", "tick");
  std::string caption = "Scaling: " + series;
  if (scaling == "strong") caption += ", the same picture for two";
  if (scaling == "weak") caption += ", double the work for two";
  return figureHtml(caption, "Against single; upright strokes: 95 % intervals.", svg.finish());
}

}  // namespace

std::string passRatesFigure(const json& scene) {
  const Rates rates = ratesOf(scene);
  if (rates.known.empty()) return {};
  constexpr double kBar = 36.0;
  double most = 0.0;
  for (const Rate& rate : rates.known) most = std::max({most, rate.gbps, rate.copyGbps.value_or(0.0)});
  const double height = kBar * static_cast<double>(rates.known.size());
  const Plot plot{{8.0, 4.0, kRight - 8.0, height + 8.0}, roundAxis(0.0, most, 3), {}};
  Svg svg(height + 48.0,
          "Bytes a second of the passes against the GPU's copies, in GB/s: " + textOf(at(scene, "name")));
  drawX(svg, plot);
  for (size_t row = 0; row < rates.known.size(); ++row) {
    const Rate& rate = rates.known[row];
    const double top = 4.0 + kBar * static_cast<double>(row);
    svg.text({8.0, top + 13.0}, "start", rate.name, "label");
    std::string facts = fmt::format("{:.{}f} GB/s", rate.gbps, rate.gbps < 10.0 ? 2 : 0);
    if (rate.copyGbps && *rate.copyGbps > 0.0)
      facts += fmt::format(", {:.0f} % of a copy", 100.0 * rate.gbps / *rate.copyGbps);
    svg.text({kRight - 8.0, top + 13.0}, "end", facts, "tick");
    svg.rect({plot.atX(0.0), top + 18.0, plot.atX(rate.gbps), top + 30.0}, "part busy", rate.name + ": " + facts);
    if (rate.copyGbps) svg.line({plot.atX(*rate.copyGbps), top + 17.0}, {plot.atX(*rate.copyGbps), top + 31.0}, "mark");
  }
  svg.text({kRight - 8.0, height + 40.0}, "end", "GB/s", "tick");
  std::string note = "Dashed strokes: what a copy inside the GPU reaches.";
  if (!rates.unknown.empty()) note += " Bytes not known: " + rates.unknown + ".";
  return figureHtml("Passes against memory: " + rates.mode, note, svg.finish());
}

std::string scalingFigures(const json& document) {
  std::string html;
  for (const auto& [key, steps] : casesBySeries(document)) html += scalingFigure(key.first, key.second, steps);
  return html;
}

}  // namespace tandem::jobs
