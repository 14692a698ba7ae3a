// Where the time goes: sums per node, and the lanes of a few frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/bench_plots.h"
#include "jobs/svg_plot.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;

constexpr double kRight = kPlotWidth - 12.0;

struct Part {
  const char* name;
  const char* look;
};
constexpr std::array<Part, 4> kParts{{{"busy", "busy"},
                                      {"waits for the link", "wait-link"},
                                      {"waits for the other GPU", "wait-node"},
                                      {"waits for the CPU", "wait-cpu"}}};

struct NodeBar {
  std::string name;
  std::array<double, kParts.size()> ms{};
  double sum() const { return ms[0] + ms[1] + ms[2] + ms[3]; }
};

std::vector<NodeBar> nodeBars(const json& scene) {
  std::vector<NodeBar> bars;
  for (const json& mode : listOf(at(scene, "modes"))) {
    for (const json& node : listOf(at(mode, "summary", "nodes"))) {
      const auto ms = [&](const json& value) { return std::max(numberOf(value).value_or(0.0), 0.0); };
      bars.push_back({fmt::format("{}, node {}", textOf(at(mode, "label")), figureOf(at(node, "node"), 0)),
                      {ms(at(node, "busyMs")), ms(at(node, "idle", "link")), ms(at(node, "idle", "otherNode")),
                       ms(at(node, "idle", "cpu"))}});
    }
  }
  return bars;
}

void drawParts(Svg& svg, const Plot& plot, const NodeBar& bar, double top) {
  double from = 0.0;
  for (size_t part = 0; part < kParts.size(); ++part) {
    if (bar.ms[part] <= 0.0) continue;
    const Box box{plot.atX(from), top, plot.atX(from + bar.ms[part]), top + 16.0};
    const std::string figures = fmt::format("{:.2f}", bar.ms[part]);
    svg.rect(box, fmt::format("part {}", kParts[part].look),
             fmt::format("{}: {} {} ms a frame", bar.name, kParts[part].name, figures));
    if (textWidth(figures) + 6.0 < box.right - box.left)
      svg.text({(box.left + box.right) / 2.0, top + 12.5}, "middle", figures, "inside");
    from += bar.ms[part];
  }
}

struct Event {
  double begin = 0.0, end = 0.0;
  long long frame = 0;
  std::string name;
  size_t row = 0;  // within its lane
};

struct Lane {
  std::string name;
  std::vector<Event> events;
  size_t rows = 1;
};

/// Events that overlap stand in rows of their own.
void deal(Lane& lane) {
  std::ranges::stable_sort(lane.events, {}, &Event::begin);
  std::vector<double> ends;
  for (Event& event : lane.events) {
    auto row = std::ranges::find_if(ends, [&](double end) { return end <= event.begin + 1e-6; });
    if (row == ends.end()) row = ends.insert(ends.end(), 0.0);
    *row = event.end;
    event.row = static_cast<size_t>(row - ends.begin());
  }
  lane.rows = std::max<size_t>(ends.size(), 1);
}

/// Nodes before links, each in the order of their names. Of too many events the last begun are left out.
std::vector<Lane> lanesOf(const json& timeline, size_t most) {
  std::vector<std::pair<double, const json*>> order;
  for (const json& event : listOf(timeline)) {
    const auto begin = numberOf(at(event, "beginMs")), end = numberOf(at(event, "endMs"));
    if (begin && end && *end >= *begin) order.emplace_back(*begin, &event);
  }
  std::ranges::stable_sort(order, {}, &std::pair<double, const json*>::first);
  order.resize(std::min(order.size(), most));
  std::map<std::pair<bool, std::string>, Lane> lanes;
  for (const auto& [begin, event] : order) {
    const std::string name = textOf(at(*event, "lane"));
    Lane& lane = lanes[{name.starts_with("link"), name}];
    lane.name = name;
    lane.events.push_back({begin, numberOf(at(*event, "endMs")).value_or(begin),
                           static_cast<long long>(numberOf(at(*event, "frame")).value_or(0.0)),
                           textOf(at(*event, "name"))});
  }
  std::vector<Lane> dealt;
  for (auto& [key, lane] : lanes) {
    deal(lane);
    dealt.push_back(std::move(lane));
  }
  return dealt;
}

constexpr double kRow = 24.0;

std::string frameLook(long long frame) { return fmt::format("event e{}", ((frame % 4) + 4) % 4); }

void drawLane(Svg& svg, const Plot& plot, const Lane& lane, double top) {
  svg.text({plot.box.left - 8.0, top + kRow * static_cast<double>(lane.rows) / 2.0 + 4.0}, "end", lane.name, "tick");
  for (const Event& event : lane.events) {
    const double rowTop = top + kRow * static_cast<double>(event.row) + 2.0;
    const double left = plot.atX(event.begin);
    const Box box{left, rowTop, std::max(plot.atX(event.end), left + 0.7), rowTop + kRow - 4.0};
    svg.rect(box, frameLook(event.frame),
             fmt::format("{}, frame {}: {:.3f} to {:.3f} ms", event.name, event.frame, event.begin, event.end));
    if (textWidth(event.name) + 6.0 < box.right - box.left)
      svg.text({(box.left + box.right) / 2.0, box.top + 14.0}, "middle", event.name, "inside");
  }
}

/// Which colour is which frame.
void drawFrames(Svg& svg, const std::vector<Lane>& lanes, double y) {
  std::map<long long, int> frames;
  for (const Lane& lane : lanes) {
    for (const Event& event : lane.events) frames[event.frame] = 0;
  }
  double x = 8.0;
  for (const auto& [frame, nothing] : frames) {
    const std::string text = fmt::format("frame {}", frame);
    if (x + 16.0 + textWidth(text) > kRight) break;
    svg.rect({x, y, x + 12.0, y + 12.0}, frameLook(frame));
    svg.text({x + 17.0, y + 10.5}, "start", text, "tick");
    x += 17.0 + 1.25 * textWidth(text) + 12.0;  // on a phone letters are larger
  }
}

}  // namespace

std::string whereTimeGoesFigure(const json& scene) {
  const std::vector<NodeBar> bars = nodeBars(scene);
  if (bars.empty()) return {};
  constexpr double kBar = 40.0;
  const double height = kBar * static_cast<double>(bars.size());
  const double most = std::ranges::max(bars, {}, &NodeBar::sum).sum();
  const Plot plot{{8.0, 4.0, kRight, height + 4.0}, roundAxis(0.0, most, 3), {}};
  Svg svg(height + 76.0, "Busy and idle time per GPU, in milliseconds a frame: " + textOf(at(scene, "name")));
  drawX(svg, plot);
  for (size_t bar = 0; bar < bars.size(); ++bar) {
    const double top = 4.0 + kBar * static_cast<double>(bar);
    svg.text({8.0, top + 14.0}, "start", bars[bar].name, "label");
    drawParts(svg, plot, bars[bar], top + 19.0);
  }
  for (size_t part = 0; part < kParts.size(); ++part) {
    const double x = part % 2 == 0 ? 8.0 : 216.0, y = height + 30.0 + (part < 2 ? 0.0 : 20.0);
    svg.rect({x, y, x + 12.0, y + 12.0}, fmt::format("part {}", kParts[part].look));
    svg.text({x + 18.0, y + 10.5}, "start", kParts[part].name, "tick");
  }
  svg.text({kRight, height + 40.0}, "end", "ms a frame", "tick");
  return figureHtml("Where each GPU's time goes", "A whole bar is the time of a frame.", svg.finish());
}

std::string timelineFigure(const json& mode, const PlotLimits& limits) {
  const std::vector<Lane> lanes = lanesOf(at(mode, "timeline"), limits.events);
  if (lanes.empty()) return {};
  double rows = 0.0, end = 0.0;
  for (const Lane& lane : lanes) {
    rows += static_cast<double>(lane.rows);
    for (const Event& event : lane.events) end = std::max(end, event.end);
  }
  const Plot plot{{92.0, 4.0, kRight, 8.0 + rows * kRow}, tightAxis(0.0, end, 3), {}};
  const std::string label = textOf(at(mode, "label"));
  Svg svg(plot.box.bottom + 50.0, "Timeline of a few frames in milliseconds, mode " + label);
  drawX(svg, plot);
  double top = 6.0;
  for (const Lane& lane : lanes) {
    drawLane(svg, plot, lane, top);
    top += kRow * static_cast<double>(lane.rows);
    svg.line({8.0, top}, {kRight, top}, "split");
  }
  drawFrames(svg, lanes, plot.box.bottom + 30.0);
  svg.text({kRight, plot.box.bottom + 40.0}, "end", "ms", "tick");
  const bool all = listOf(at(mode, "timeline")).size() <= limits.events;
  return figureHtml("Timeline: " + label,
                    all ? "Frames from the middle of the last run, a colour each."
                        : "The first events of frames from the middle of the last run, a colour for each frame.",
                    svg.finish());
}

}  // namespace tandem::jobs
