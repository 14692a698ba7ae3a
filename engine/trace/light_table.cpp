#include "trace/light_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace tandem::trace {

AliasTable makeAliasTable(std::span<const double> weights) {
  const size_t count = weights.size();
  AliasTable table;
  std::vector<double> share(count);
  for (size_t i = 0; i < count; i++) {
    share[i] = std::isfinite(weights[i]) ? std::max(weights[i], 0.0) : 0.0;
    table.total += share[i];
  }
  for (size_t i = 0; i < count; i++) table.bins.push_back({1.0f, static_cast<uint32_t>(i)});
  if (!(table.total > 0.0)) return table;
  std::vector<uint32_t> small, large;
  for (size_t i = 0; i < count; i++) {
    share[i] *= static_cast<double>(count) / table.total;
    (share[i] < 1.0 ? small : large).push_back(static_cast<uint32_t>(i));
  }
  while (!small.empty() && !large.empty()) {
    const uint32_t under = small.back(), over = large.back();
    small.pop_back();
    table.bins[under] = {static_cast<float>(share[under]), over};
    share[over] -= 1.0 - share[under];
    if (share[over] < 1.0) {
      large.pop_back();
      small.push_back(over);
    }
  }
  return table;  // what is left over stands for itself, but for rounding
}

namespace {

/// Integral over each texel of the bilinear interpolant of its row's luminances, along one axis: 1/8, 3/4, 1/8 of the
/// neighbours.
double cellIntegral(double before, double here, double after) { return 0.125 * before + 0.75 * here + 0.125 * after; }

/// Luminances of a row, integrated along x. Wraps around.
std::vector<double> smoothedRow(const scene::Environment& e, uint32_t y) {
  std::vector<double> row(e.width);
  const vec3* texels = e.radiance.data() + size_t{y} * e.width;
  for (uint32_t x = 0; x < e.width; x++) {
    row[x] = cellIntegral(luminance(texels[(x + e.width - 1) % e.width]), luminance(texels[x]),
                          luminance(texels[(x + 1) % e.width]));
  }
  return row;
}

/// Appends the cumulative shares of `weights`, from 0 to 1; uniform where all are 0. Returns their sum.
double appendCumulative(std::vector<float>& to, const std::vector<double>& weights) {
  double total = 0.0;
  for (double w : weights) total += w;
  double sum = 0.0;
  to.push_back(0.0f);
  for (size_t i = 0; i < weights.size(); i++) {
    sum += total > 0.0 ? weights[i] / total : 1.0 / static_cast<double>(weights.size());
    to.push_back(i + 1 == weights.size() ? 1.0f : std::min(static_cast<float>(sum), 1.0f));
  }
  return total;
}

/// Appends the guide to a cumulative array's last `cells` cells.
void appendGuide(std::vector<uint32_t>& to, std::span<const float> cumulative, size_t cells) {
  const std::span<const float> begins = cumulative.last(cells + 1);
  uint32_t cell = 0;
  for (size_t k = 0; k <= cells; k++) {
    const double place = static_cast<double>(k) / static_cast<double>(cells) * (1.0 - 1e-6);
    while (cell + 1 < cells && begins[cell + 1] <= place) cell++;
    to.push_back(cell);
  }
}

}  // namespace

EnvironmentTable makeEnvironmentTable(const scene::Environment& e) {
  EnvironmentTable table;
  if (e.width == 0 || e.height == 0) return table;
  std::vector<double> rowWeights;
  table.columns.reserve(size_t{e.height} * (e.width + 1));
  std::vector<double> before = smoothedRow(e, 0), here = before;
  for (uint32_t y = 0; y < e.height; y++) {
    const std::vector<double> after = smoothedRow(e, std::min(y + 1, e.height - 1));
    std::vector<double> weights(e.width);
    for (uint32_t x = 0; x < e.width; x++) weights[x] = cellIntegral(before[x], here[x], after[x]);
    const double top = std::sin((0.5 - static_cast<double>(y) / e.height) * std::numbers::pi);
    const double bottom = std::sin((0.5 - (y + 1.0) / e.height) * std::numbers::pi);
    rowWeights.push_back(appendCumulative(table.columns, weights) * (top - bottom));
    appendGuide(table.columnGuide, table.columns, e.width);
    before = std::move(here);
    here = after;
  }
  table.black = !(appendCumulative(table.rows, rowWeights) > 0.0);
  appendGuide(table.rowGuide, table.rows, e.height);
  if (table.black) table = {};
  return table;
}

}  // namespace tandem::trace
