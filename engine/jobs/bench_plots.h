// The drawings on the benchmark's page, made of parts of its document (bench_document.h). Each is a whole <figure>, or
// empty where there is nothing to draw. Modes have their colours and dashes by class: m0 to m4 (modeLook). Pure;
// thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tandem::jobs {

/// What keeps the page small: for one mode, points of its line of frame times and bars of its timeline.
struct PlotLimits {
  size_t points = 1500;
  size_t events = 300;
};

/// Full limits for a few modes, less for each where the document has many.
PlotLimits limitsFor(const nlohmann::json& document);

/// "m0" single, "m1" single on another GPU, "m2" pipelined, "m3" sfr, "m4" afr.
std::string modeLook(const nlohmann::json& mode);

/// `note`: what is to be known to read it.
std::string figureHtml(std::string_view caption, std::string_view note, std::string_view svg);

/// Every timed frame of every mode, the repeats one after another. Decimated to `points` a mode by least and most.
std::string frameTimesFigure(const nlohmann::json& scene, const PlotLimits& limits);
/// How often which frame time came, each mode over its own range up to p99 (or the longest, of fewer than 100).
std::string histogramFigure(const nlohmann::json& scene);
/// Busy and idle per node and frame, idle by what was waited for.
std::string whereTimeGoesFigure(const nlohmann::json& scene);
/// Passes and transfers of a few frames of one mode, in lanes.
std::string timelineFigure(const nlohmann::json& mode, const PlotLimits& limits);
/// Rates of the passes whose bytes are known against the device's copies; of the first mode that has such.
std::string passRatesFigure(const nlohmann::json& scene);
/// Speed-ups over the sizes or samples of the cases of each series; one figure a series. All of them.
std::string scalingFigures(const nlohmann::json& document);

}  // namespace tandem::jobs
