// Drawings for a page: axes with round ticks, lines, bars. Colours, dashes and letters come from the page's style by
// class. A drawing is kPlotWidth units wide and is scaled to the width that there is; 13 units of letters stay readable
// on a phone. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::jobs {

inline constexpr double kPlotWidth = 480.0;

/// Values from `low` to `high`, both multiples of `step`: 1, 2 or 5 times a power of ten.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  double step = 1.0;
  std::vector<double> ticks() const;
  /// As many digits as the step needs: "0.05" for steps of 0.01.
  std::string label(double tick) const;
};

/// `steps` to 3 x `steps` steps, that cover all from `low` to `high`. Finite values.
Axis roundAxis(double low, double high, int steps);

/// The same ticks, the ends where the values end.
Axis tightAxis(double low, double high, int steps);

/// Where a plot is, in units from the drawing's upper left corner.
struct Box {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
};

struct Point {
  double x = 0.0, y = 0.0;
};

/// At most `most` points (at least 4) that show the same line: the least and the most of each stretch, in order.
/// x: index of the value, plus `first`.
std::vector<Point> decimated(std::span<const double> values, size_t most, double first = 0.0);

/// The width of a text of 12 units' height, near enough to see whether it fits.
double textWidth(std::string_view text);

class Svg {
 public:
  /// `title`: what it shows, for those who cannot see it.
  Svg(double height, std::string_view title);

  void line(Point from, Point to, std::string_view look);
  void rect(const Box& box, std::string_view look, std::string_view title = {});
  void circle(Point centre, double radius, std::string_view look, std::string_view title = {});
  /// `anchor`: "start", "middle" or "end". `look` may be empty.
  void text(Point at, std::string_view anchor, std::string_view text, std::string_view look = {});
  void polyline(std::span<const Point> points, std::string_view look);
  std::string finish() const;

 private:
  std::string body_;
  double height_;
  std::string title_;
};

/// Places values in a box.
struct Plot {
  Box box;
  Axis x, y;
  double atX(double value) const { return box.left + (value - x.low) / (x.high - x.low) * (box.right - box.left); }
  double atY(double value) const { return box.bottom - (value - y.low) / (y.high - y.low) * (box.bottom - box.top); }
  Point at(double valueX, double valueY) const { return {atX(valueX), atY(valueY)}; }
};

/// Grid lines and their labels below the box.
void drawX(Svg& svg, const Plot& plot);
/// Grid lines and their labels left of the box.
void drawY(Svg& svg, const Plot& plot);

}  // namespace tandem::jobs
