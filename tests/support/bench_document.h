// A benchmark's document of schema 2, made by hand: one scene, single, pipelined and sfr, three repeats of 40 frames.
#pragma once

#include <nlohmann/json.hpp>

#include "support/bench_mode_document.h"

namespace tandem::jobs::test {

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
