// A benchmark's document of schema 2, made by hand: one scene, single, pipelined and sfr, three repeats of 40 frames.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::jobs::test {

using json = nlohmann::json;

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

inline json adapterOf(int index) {
  const json state = {{"graphicsMHz", 1980}, {"memoryMHz", nullptr}, {"powerW", 120.5},
                      {"powerLimitW", 700},  {"temperatureC", 41},   {"throttleReasons", json::array()}};
  return {{"index", index},    {"name", "GPU X"},      {"type", "discrete"},      {"uuid", "00112233"},
          {"pci", nullptr},    {"driver", "driver 1"}, {"apiVersion", "1.3.290"}, {"memoryBytes", 1 << 30},
          {"watcher", "nvml"}, {"before", state},      {"after", state}};
}

inline json sceneOf(const char* name = "terrain-1m") {
  const json link = {{"from", 0},    {"to", 1},       {"kind", "cuda"},     {"bytesPerFrame", 33177600},
                     {"gbps", 40.0}, {"busyMs", 0.8}, {"hiddenShare", 0.95}};
  const json single = summaryOf(
      20.0, 120, {passOf("path_trace", 0, 16.0), passOf("blur", 0, 2.0, 66355200, 33.2), passOf("tonemap", 0, 1.0)},
      json::array({nodeSummaryOf(0, 19.0, 20.0, 1080)}), json::array());
  const json pipelined = summaryOf(
      17.0, 120, {passOf("path_trace", 0, 16.0), passOf("blur", 1, 2.0, 66355200, 33.2), passOf("tonemap", 1, 1.0)},
      {nodeSummaryOf(0, 16.0, 17.0, 1080), nodeSummaryOf(1, 3.0, 17.0, 0)}, json::array({link}));
  const json sfr = summaryOf(
      10.5, 120, {passOf("path_trace", 0, 8.0), passOf("path_trace", 1, 8.0), passOf("blur", 0, 2.0, 66355200, 33.2)},
      {nodeSummaryOf(0, 10.0, 10.5, 540), nodeSummaryOf(1, 8.0, 10.5, 540)}, json::array({link}));
  return {{"name", name},
          {"scene", "builtin:terrain"},
          {"size", {1920, 1080}},
          {"samples", 4},
          {"bounces", 3},
          {"shutterDegrees", 180.0},
          {"whole", true},
          {"sceneBytes", 4096},
          {"raysPerFrame", 1000},
          {"scaling", nullptr},
          {"series", nullptr},
          {"triangles", 1000000},
          {"camera", "orbit"},
          {"failure", nullptr},
          {"verdict", "sfr is 1.90x (1.88 to 1.93) single; the link is hidden"},
          {"picturesEqual", true},
          {"pictures", "pictures are equal in all modes, bit for bit (frame 12)"},
          {"modes",
           {modeOf("single", "single", json::array({0}), 20.0, nullptr, single, json::array({1080})),
            modeOf("pipelined", "pipelined", {0, 1}, 17.0, {{"value", 1.18}, {"low", 1.16}, {"high", 1.2}}, pipelined,
                   {1080, 0}),
            modeOf("sfr", "sfr", {0, 1}, 10.5, {{"value", 1.9}, {"low", 1.88}, {"high", 1.93}}, sfr, {540, 540})}}};
}

inline json benchDocument() {
  return {{"schema", 2},
          {"kind", "tandem bench"},
          {"version", "0.1.0"},
          {"commit", nullptr},
          {"build", "release"},
          {"date", "2026-12-01T12:34:56Z"},
          {"commandLine", "tandem bench"},
          {"suite", nullptr},
          {"partial", false},
          {"interruptedBy", 0},
          {"exit", 0},
          {"validationMessages", 0},
          {"warnings", json::array()},
          {"machine",
           {{"cpu", "CPU Y"},
            {"threads", 16},
            {"memoryBytes", nullptr},
            {"kernel", "Linux 6.1"},
            {"loadAverage", 0.25},
            {"samplingMs", 100},
            {"adapters", {adapterOf(0), adapterOf(1)}}}},
          {"settings",
           {{"size", {1920, 1080}},
            {"samples", 4},
            {"bounces", 3},
            {"seed", 1},
            {"motionBlur", true},
            {"environment", "sky"},
            {"sceneFramesPerSecond", 24.0},
            {"shutterDegrees", 180.0},
            {"frames", 40},
            {"seconds", nullptr},
            {"repeats", 3},
            {"readback", false},
            {"gpus", "auto"},
            {"simulateDual", false},
            {"topology", "auto"},
            {"link", "auto"},
            {"linkGbps", nullptr},
            {"rowsShare", json::array()},
            {"sampling", true},
            {"pricePerHour", nullptr},
            {"validation", false},
            {"slowPass", nullptr}}},
          {"definitions", {{"fps", "timed frames of all runs divided by their seconds"}}},
          {"scenes", json::array({sceneOf()})}};
}

/// Every frame of the mode takes `factor` times as long.
inline void slowDown(json& mode, double factor) {
  for (json& run : mode["runs"]) {
    for (json& ms : run["frameMs"]) ms = ms.get<double>() * factor;
  }
}

}  // namespace tandem::jobs::test
