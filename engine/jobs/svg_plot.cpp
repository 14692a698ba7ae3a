#include "jobs/svg_plot.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "jobs/html.h"

namespace tandem::jobs {
namespace {

constexpr double kMostTicks = 50.0;

/// 1, 2 or 5 times a power of ten, the most that is not above `rough`.
double roundStep(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= rough * (1.0 + 1e-9)) return factor * power;
  }
  return power;
}

/// One decimal is a fifth of a pixel on most screens.
std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string classed(std::string_view look) { return look.empty() ? "" : fmt::format(" class=\"{}\"", look); }

std::string closing(std::string_view tag, std::string_view title) {
  return title.empty() ? "/>\n" : fmt::format(">{}</{}>\n", element("title", title), tag);
}

}  // namespace

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-6);
  const double count = std::floor(high / step + 1e-6) - first + 1.0;
  if (!(count >= 1.0)) return ticks;
  for (int i = 0; i < static_cast<int>(std::min(count, kMostTicks + 1.0)); ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::string Axis::label(double tick) const {
  const int decimals = static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 9.0));
  return fmt::format("{:.{}f}", std::abs(tick) < step * 1e-3 ? 0.0 : tick, decimals);
}

Axis tightAxis(double low, double high, int steps) {
  // All values alike, or so near that doubles cannot tell the ticks apart.
  const double least = std::max(std::abs(low), std::abs(high)) * 1e-6 + 1e-9;
  if (high - low < least) high = low + least;
  return {low, high, roundStep((high - low) / steps)};
}

Axis roundAxis(double low, double high, int steps) {
  Axis axis = tightAxis(low, high, steps);
  axis.low = std::floor(axis.low / axis.step + 1e-6) * axis.step;
  axis.high = std::ceil(axis.high / axis.step - 1e-6) * axis.step;
  return axis;
}

std::vector<Point> decimated(std::span<const double> values, size_t most, double first) {
  TANDEM_CHECK(most >= 4, "a line of at most {} points", most);
  std::vector<Point> points;
  const auto add = [&](size_t index) { points.push_back({first + static_cast<double>(index), values[index]}); };
  if (values.size() <= most) {
    for (size_t index = 0; index < values.size(); ++index) add(index);
    return points;
  }
  const size_t stretches = most / 2;
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    const size_t begin = stretch * values.size() / stretches;
    const size_t end = (stretch + 1) * values.size() / stretches;
    const auto [least, largest] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                                      values.begin() + static_cast<std::ptrdiff_t>(end));
    const auto low = static_cast<size_t>(least - values.begin()), high = static_cast<size_t>(largest - values.begin());
    add(std::min(low, high));
    if (low != high) add(std::max(low, high));
  }
  return points;
}

double textWidth(std::string_view text) {
  // Letters of UTF-8, not bytes.
  const auto letters = std::ranges::count_if(text, [](char letter) { return (letter & 0xc0) != 0x80; });
  return 6.3 * static_cast<double>(letters);
}

Svg::Svg(double height, std::string_view title) : height_(height), title_(title) {}

void Svg::line(Point from, Point to, std::string_view look) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", coordinate(from.x), coordinate(from.y),
                       coordinate(to.x), coordinate(to.y), classed(look));
}

void Svg::rect(const Box& box, std::string_view look, std::string_view title) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", coordinate(box.left),
                       coordinate(box.top), coordinate(std::max(box.right - box.left, 0.0)),
                       coordinate(std::max(box.bottom - box.top, 0.0)), classed(look)) +
           closing("rect", title);
}

void Svg::circle(Point centre, double radius, std::string_view look, std::string_view title) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}", coordinate(centre.x), coordinate(centre.y),
                       coordinate(radius), classed(look)) +
           closing("circle", title);
}

void Svg::text(Point at, std::string_view anchor, std::string_view text, std::string_view look) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", coordinate(at.x), coordinate(at.y),
                       anchor, classed(look), escaped(text));
}

void Svg::polyline(std::span<const Point> points, std::string_view look) {
  body_ += fmt::format("<polyline{} points=\"", classed(look));
  for (const Point& point : points) body_ += coordinate(point.x) + "," + coordinate(point.y) + " ";
  if (!points.empty()) body_.pop_back();
  body_ += "\"/>\n";
}

std::string Svg::finish() const {
  const std::string title = escaped(title_);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n<title>{}</title>\n", kPlotWidth,
                     coordinate(height_), title, title) +
         body_ + "</svg>\n";
}

void drawX(Svg& svg, const Plot& plot) {
  for (const double tick : plot.x.ticks()) {
    const double x = plot.atX(tick);
    svg.line({x, plot.box.top}, {x, plot.box.bottom}, "grid");
    svg.text({x, plot.box.bottom + 15.0}, "middle", plot.x.label(tick), "tick");
  }
}

void drawY(Svg& svg, const Plot& plot) {
  for (const double tick : plot.y.ticks()) {
    const double y = plot.atY(tick);
    svg.line({plot.box.left, y}, {plot.box.right, y}, "grid");
    svg.text({plot.box.left - 6.0, y + 4.0}, "end", plot.y.label(tick), "tick");
  }
}

}  // namespace tandem::jobs
