// The pieces of bench_document.h: runs, summaries and modes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::jobs::test {

using nlohmann::json;

/// Around `ms`, from 1 % less to 1 % more, the same each time.
inline std::vector<double> frameTimes(double ms, size_t frames, size_t seed) {
  std::vector<double> times;
  for (size_t frame = 0; frame < frames; ++frame) {
    const auto step = static_cast<double>((frame * 7 + seed * 3) % 5) - 2.0;  // -2 to 2
    times.push_back(ms * (1.0 + 0.005 * step));
  }
  return times;
}

inline json statisticsOf(double ms, size_t count) {
  return {{"count", count}, {"mean", ms},       {"deviation", 0.01 * ms}, {"least", 0.99 * ms}, {"p50", ms},
          {"p90", ms},      {"p95", 1.01 * ms}, {"p99", 1.01 * ms},       {"p999", nullptr},    {"most", 1.01 * ms}};
}

inline json runOf(size_t repeat, double ms, size_t frames, const json& rows) {
  json run = {{"repeat", repeat},
              {"complete", true},
              {"warmUp", {{"frames", 12}, {"seconds", 1.5}, {"settled", true}}},
              {"seconds", ms * static_cast<double>(frames) / 1e3},
              {"fps", 1e3 / ms},
              {"statistics", statisticsOf(ms, frames)},
              {"frameMs", frameTimes(ms, frames, repeat)},
              {"latencyMs", frameTimes(3.0 * ms, frames, repeat)},
              {"rowsOfNode", json::array()}};
  for (size_t frame = 0; frame < frames; ++frame) run["rowsOfNode"].push_back(rows);
  return run;
}

inline json passOf(const char* name, int node, double ms, json bytes = nullptr, json gbps = nullptr) {
  return {{"name", name}, {"node", node}, {"ms", ms}, {"bytes", bytes}, {"gbps", gbps}};
}

inline json nodeSummaryOf(int node, double busyMs, double frameMs, int rows) {
  return {{"node", node},
          {"busyMs", busyMs},
          {"idleMs", frameMs - busyMs},
          {"idle", {{"link", 0.0}, {"otherNode", frameMs - busyMs}, {"cpu", 0.0}}},
          {"rows", rows},
          {"raysPerSecond", 2.5e9},
          {"copyGbps", 2000.0}};
}

inline json summaryOf(double ms, size_t frames, json passes, json nodes, json links) {
  return {{"fps", 1e3 / ms},
          {"fpsLow", 990.0 / ms},
          {"fpsHigh", 1010.0 / ms},
          {"frameMs", statisticsOf(ms, frames)},
          {"latencyMs", statisticsOf(3.0 * ms, frames)},
          {"latencyFrames", 3.0},
          {"onePercentLow", {{"byP99", 990.0 / ms}, {"timeWeighted", nullptr}}},
          {"stutter", {{"count", 0}, {"timeShare", 0.0}}},
          {"deltaMs", {{"p50", 0.1}, {"p95", 0.2}, {"p99", nullptr}}},
          {"passes", std::move(passes)},
          {"nodes", std::move(nodes)},
          {"links", std::move(links)},
          {"bound", {{"traceMs", 16.0}, {"postMs", 3.0}, {"linkMs", 1.0}, {"ms", 0.9 * ms}, {"distance", 1.0 / 0.9}}},
          {"limit", "node 0 is busy 95 % of the time, longest with path_trace"},
          {"power", {{"joulesPerFrame", 7.5}, {"watts", 400.0}}},
          {"framesPerDollar", nullptr}};
}

inline json eventOf(int frame, const char* lane, const char* name, double begin, double end) {
  return {{"frame", frame}, {"lane", lane}, {"name", name}, {"beginMs", begin}, {"endMs", end}};
}

/// `summary`: of summaryOf. Rows of every frame as given.
inline json modeOf(const char* label, const char* mode, json adapters, double ms, json speedup, json summary,
                   const json& rows, size_t repeats = 3, size_t frames = 40) {
  json report = {
      {"label", label},
      {"mode", mode},
      {"adapters", std::move(adapters)},
      {"failure", nullptr},
      {"ranAs", mode},
      {"topology", "independent"},
      {"speedup", std::move(speedup)},
      {"efficiency", nullptr},
      {"karpFlatt", nullptr},
      {"ofSum", nullptr},
      {"summary", std::move(summary)},
      {"proofs", {{{"frame", 12}, {"linearHash", "0123456789abcdef"}, {"ldrHash", "0f"}, {"nodes", json::array({0})}}}},
      {"nodes", json::array()},
      {"nodeOfPass", nlohmann::json::array({{{"pass", "path_trace"}, {"node", 0}}})},
      {"links", json::array()},
      {"runs", json::array()},
      {"timeline",
       {eventOf(20, "node 0", "path_trace", 0.0, 16.0), eventOf(20, "node 0", "blur", 16.0, 18.0),
        eventOf(21, "node 0", "path_trace", 17.0, 33.0)}}};
  report["nodes"].push_back({{"node", 0},
                             {"adapter", "GPU X"},
                             {"uuid", "00112233-4455-6677-8899-aabbccddeeff"},
                             {"pci", "0000:01:00.0"},
                             {"driver", "driver 1"},
                             {"type", "discrete"},
                             {"tracer", "compute"},
                             {"rows", 1080}});
  for (size_t repeat = 1; repeat <= repeats; ++repeat) report["runs"].push_back(runOf(repeat, ms, frames, rows));
  return report;
}

}  // namespace tandem::jobs::test
