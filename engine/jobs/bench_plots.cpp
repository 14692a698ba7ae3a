#include "jobs/bench_plots.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/html.h"
#include "jobs/statistics.h"
#include "jobs/svg_plot.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;
using Runs = std::vector<std::vector<double>>;

// About 1.3 MB of points and 1 MB of bars on a page.
constexpr size_t kPagePoints = 110'000, kPageEvents = 5'000;

constexpr double kLeft = 50.0, kRight = kPlotWidth - 12.0;
constexpr double kHead = 26.0;   // a panel's line of letters
constexpr double kBody = 58.0;   // its plot
constexpr double kBelow = 26.0;  // its ticks
constexpr double kFoot = 18.0;   // the unit of the lowest axis
constexpr double kPanel = kHead + kBody + kBelow;

Runs runsOf(const json& mode) {
  Runs runs;
  for (const json& run : listOf(at(mode, "runs"))) {
    if (std::vector<double> series = seriesOf(at(run, "frameMs")); !series.empty()) runs.push_back(std::move(series));
  }
  return runs;
}

std::vector<double> together(const Runs& runs) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

struct Panel {
  const json* mode;
  Runs runs;
};

std::vector<Panel> panelsOf(const json& scene) {
  std::vector<Panel> panels;
  for (const json& mode : listOf(at(scene, "modes"))) {
    if (Runs runs = runsOf(mode); !runs.empty()) panels.push_back({&mode, std::move(runs)});
  }
  return panels;
}

Box boxOfPanel(size_t index) {
  const double top = static_cast<double>(index) * kPanel + kHead;
  return {kLeft, top, kRight, top + kBody};
}

void drawHead(Svg& svg, const Box& box, const json& mode, const std::string& facts) {
  const double y = box.top - 12.0;
  svg.line({4.0, y}, {38.0, y}, "line " + modeLook(mode));
  svg.text({kLeft, y + 4.0}, "start", textOf(at(mode, "label")), "strong");
  svg.text({kRight, y + 4.0}, "end", facts, "tick");
}

/// The repeats one after another, with a thin line between them.
void drawRuns(Svg& svg, const Plot& plot, const Panel& panel, size_t points) {
  const double all = plot.x.high;
  double first = 0.0;
  for (const std::vector<double>& run : panel.runs) {
    const auto frames = static_cast<double>(run.size());
    const auto share = static_cast<size_t>(static_cast<double>(points) * frames / all);
    std::vector<Point> line = decimated(run, std::max<size_t>(share, 4), first + 0.5);
    for (Point& point : line) point = plot.at(point.x, point.y);
    svg.polyline(line, "line " + modeLook(*panel.mode));
    first += frames;
    if (first < all) svg.line({plot.atX(first), plot.box.top}, {plot.atX(first), plot.box.bottom}, "split");
  }
}

struct Bins {
  double low = 0.0, width = 1.0;
  std::vector<size_t> counts;
  size_t above = 0;  // values past the last bin
  double high() const { return low + width * static_cast<double>(counts.size()); }
};

Bins binsOf(std::vector<double> values) {
  std::ranges::sort(values);
  double low = values.front();
  double high = values.size() >= 100 ? nearestRank(values, 99.0) : values.back();
  const double least = std::max(std::abs(high) * 1e-3, 1e-6);
  if (high - low < least) low -= least / 2.0, high = low + least;
  // Rice's rule, 2 n^(1/3), but bars that can be seen.
  const double wanted = std::clamp(2.0 * std::cbrt(static_cast<double>(values.size())), 8.0, 60.0);
  Bins bins{low, (high - low) / std::floor(wanted), std::vector<size_t>(static_cast<size_t>(wanted)), 0};
  for (const double value : values) {
    const double bin = std::floor((value - low) / bins.width);
    if (value > high) {
      ++bins.above;
    } else {
      ++bins.counts[std::min(static_cast<size_t>(bin), bins.counts.size() - 1)];
    }
  }
  return bins;
}

void drawBins(Svg& svg, const Plot& plot, const Bins& bins, const std::string& look) {
  for (size_t bin = 0; bin < bins.counts.size(); ++bin) {
    if (bins.counts[bin] == 0) continue;
    const double from = bins.low + bins.width * static_cast<double>(bin);
    svg.rect({plot.atX(from), plot.atY(static_cast<double>(bins.counts[bin])), plot.atX(from + bins.width) - 0.6,
              plot.box.bottom},
             "bar " + look);
  }
}

}  // namespace

PlotLimits limitsFor(const json& document) {
  size_t modes = 0;
  for (const json& scene : listOf(at(document, "scenes"))) modes += listOf(at(scene, "modes")).size();
  modes = std::max<size_t>(modes, 1);
  return {std::clamp<size_t>(kPagePoints / modes, 100, 1500), std::clamp<size_t>(kPageEvents / modes, 20, 300)};
}

std::string modeLook(const json& mode) {
  const json& name = at(mode, "mode");
  if (name == "pipelined") return "m2";
  if (name == "sfr") return "m3";
  if (name == "afr") return "m4";
  return at(mode, "label") == "single" ? "m0" : "m1";
}

std::string figureHtml(std::string_view caption, std::string_view note, std::string_view svg) {
  return fmt::format("<figure>\n<figcaption>{} {}</figcaption>\n{}</figure>\n", element("strong", caption),
                     element("span", note), svg);
}

std::string frameTimesFigure(const json& scene, const PlotLimits& limits) {
  const std::vector<Panel> panels = panelsOf(scene);
  if (panels.empty()) return {};
  double most = 0.0;
  for (const Panel& panel : panels) most = std::max(most, std::ranges::max(together(panel.runs)));
  Svg svg(static_cast<double>(panels.size()) * kPanel + kFoot,
          "Frame times in milliseconds by frame: " + textOf(at(scene, "name")));
  for (size_t index = 0; index < panels.size(); ++index) {
    const Panel& panel = panels[index];
    const std::vector<double> all = together(panel.runs);
    const Plot plot{boxOfPanel(index), tightAxis(0.0, static_cast<double>(all.size()), 3), roundAxis(0.0, most, 2)};
    drawHead(svg, plot.box, *panel.mode,
             fmt::format("median {:.2f} ms, longest {:.2f} ms", median(all), std::ranges::max(all)));
    drawX(svg, plot);
    drawY(svg, plot);
    drawRuns(svg, plot, panel, limits.points);
  }
  svg.text({kRight, static_cast<double>(panels.size()) * kPanel + 8.0}, "end", "frame; ms from bottom to top", "tick");
  return figureHtml("Frame times", "Every timed frame; repeats one after another, a thin line between them.",
                    svg.finish());
}

std::string histogramFigure(const json& scene) {
  const std::vector<Panel> panels = panelsOf(scene);
  if (panels.empty()) return {};
  Svg svg(static_cast<double>(panels.size()) * kPanel + kFoot,
          "Histogram of frame times in milliseconds: " + textOf(at(scene, "name")));
  for (size_t index = 0; index < panels.size(); ++index) {
    const std::vector<double> all = together(panels[index].runs);
    const Bins bins = binsOf(all);
    const auto most = static_cast<double>(std::ranges::max(bins.counts));
    const Plot plot{boxOfPanel(index), tightAxis(bins.low, bins.high(), 3), roundAxis(0.0, most, 1)};
    drawHead(svg, plot.box, *panels[index].mode,
             bins.above == 0
                 ? fmt::format("{} frames", all.size())
                 : fmt::format("{} of {} above, to {:.2f} ms", bins.above, all.size(), std::ranges::max(all)));
    drawX(svg, plot);
    drawY(svg, plot);
    drawBins(svg, plot, bins, modeLook(*panels[index].mode));
  }
  svg.text({kRight, static_cast<double>(panels.size()) * kPanel + 8.0}, "end", "ms; frames from bottom to top", "tick");
  return figureHtml("How frame times spread", "Each mode over its own range, to p99 where there is one.", svg.finish());
}

}  // namespace tandem::jobs
