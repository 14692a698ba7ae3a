#include "schedule/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace tandem::schedule {
namespace {

constexpr double kLeastMs = 1e-6;  // so that rates stay finite
constexpr uint32_t kPostNode = 1;

const NodeCosts& costsOf(const Costs& costs, uint32_t node) {
  return costs.nodes.size() == 1 ? costs.nodes.front() : costs.nodes.at(node);
}

double transferMs(const Costs& costs) {
  return static_cast<double>(costs.bytesPerFrame) / (costs.link.gbps * 1e9) * 1e3;
}

Forecast pipelined(const Costs& costs) {
  const double trace = costsOf(costs, 0).traceMs, post = costsOf(costs, kPostNode).postMs;
  return {std::max({trace, post, transferMs(costs)}), ""};
}

/// Per millisecond of the frame the nodes without post trace `others` frames, as far as the link carries them; node 1
/// traces 1/R of a frame in each millisecond that P leaves. The frame is traced when
/// others * T + (T - P) / R = 1, which gives T; where it is traced before P has passed, P is the frame's time.
Forecast sfr(const Costs& costs) {
  const NodeCosts& second = costsOf(costs, kPostNode);
  double others = 0.0;
  for (uint32_t node = 0; node < costs.count; ++node) {
    if (node != kPostNode) others += 1.0 / std::max(kLeastMs, costsOf(costs, node).traceMs);
  }
  others = std::min(others, 1.0 / std::max(kLeastMs, transferMs(costs)));
  if (others * second.postMs >= 1.0) return {second.postMs, ""};
  const double own = 1.0 / std::max(kLeastMs, second.traceMs);
  return {(1.0 + second.postMs * own) / (others + own), ""};
}

Forecast afr(const Costs& costs) {
  if (costs.temporal) return {{}, "a pass reads its own past"};
  double framesPerMs = 0.0;
  for (uint32_t node = 0; node < costs.count; ++node) {
    const NodeCosts& one = costsOf(costs, node);
    framesPerMs += 1.0 / std::max(kLeastMs, one.traceMs + one.postMs);
  }
  return {1.0 / framesPerMs, ""};
}

std::string forecastText(const Prediction& prediction, Way way) {
  const Forecast& forecast = prediction.at(way);
  if (!forecast.ms) return fmt::format("{} not ({})", wayName(way), forecast.refusal);
  const std::string time = fmt::format("{} {:.1f} ms", wayName(way), *forecast.ms);
  if (way == Way::Single) return time;
  return time + fmt::format(" ({:.2f}x)", *prediction.at(Way::Single).ms / std::max(kLeastMs, *forecast.ms));
}

}  // namespace

std::string_view wayName(Way way) {
  constexpr std::array<std::string_view, 4> kNames{"single", "pipelined", "sfr", "afr"};
  return kNames.at(static_cast<size_t>(way));
}

Prediction predict(const Costs& costs) {
  TANDEM_CHECK(costs.count > 0 && (costs.nodes.size() == 1 || costs.nodes.size() == costs.count),
               "{} nodes with the costs of {}", costs.count, costs.nodes.size());
  for (const NodeCosts& node : costs.nodes) {
    TANDEM_CHECK(std::isfinite(node.traceMs) && node.traceMs >= 0.0 && std::isfinite(node.postMs) && node.postMs >= 0.0,
                 "a node that needs {} ms to trace and {} ms for post", node.traceMs, node.postMs);
  }
  const NodeCosts& first = costsOf(costs, 0);
  Prediction prediction;
  prediction[Way::Single] = {first.traceMs + first.postMs, ""};
  if (costs.count < 2) {
    for (const Way way : {Way::Pipelined, Way::Sfr, Way::Afr}) prediction[way] = {{}, "needs two GPUs"};
    return prediction;
  }
  const bool linked = costs.link.gbps > 0.0;
  prediction[Way::Pipelined] = linked ? pipelined(costs) : Forecast{{}, "no link between the GPUs"};
  prediction[Way::Sfr] = linked ? sfr(costs) : Forecast{{}, "no link between the GPUs"};
  prediction[Way::Afr] = afr(costs);
  return prediction;
}

std::string predictionText(const Prediction& prediction, Way chosen) {
  std::string text = "predicted: ";
  for (const Way way : kWays) text += (way == Way::Single ? "" : ", ") + forecastText(prediction, way);
  return text + fmt::format(": {}", wayName(chosen));
}

Way choose(const Prediction& prediction, const Measured& measured, Way present) {
  const auto expected = [&](Way way) -> std::optional<double> {
    const auto& forecast = prediction.at(way);
    if (!forecast.ms) return std::nullopt;
    const auto found = measured.find(way);
    return found != measured.end() ? found->second : forecast.ms;
  };
  const auto allowed = [&](Way way) {
    const auto single = measured.find(Way::Single), candidate = measured.find(way);
    const bool slower = single != measured.end() && candidate != measured.end() && candidate->second > single->second;
    return expected(way).has_value() && !slower;
  };
  Way best = allowed(present) ? present : Way::Single;
  for (const Way way : kWays) {
    if (allowed(way) && *expected(way) * (1.0 + kHysteresis) < *expected(best)) best = way;
  }
  return best;
}

}  // namespace tandem::schedule
