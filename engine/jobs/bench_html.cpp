#include "jobs/bench_html.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/bench_html_style.h"
#include "jobs/bench_html_tables.h"
#include "jobs/bench_plots.h"
#include "jobs/html.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;

/// Of the fastest mode of two GPUs; null where no speed-up is known.
const json* bestOfTwo(const json& scene) {
  const json* best = nullptr;
  for (const json& mode : listOf(at(scene, "modes"))) {
    const auto value = numberOf(at(mode, "speedup", "value"));
    if (!value || at(mode, "mode") == "single") continue;
    if (best == nullptr || *value > numberOf(at(*best, "speedup", "value")).value_or(0.0)) best = &mode;
  }
  return best;
}

std::string timesHtml(const json& scene) {
  const json* best = bestOfTwo(scene);
  if (best == nullptr) return "<div class=\"times\">\u2013<small>no speed-up measured</small></div>\n";
  const json& speedup = at(*best, "speedup");
  std::string small = textOf(at(*best, "label"));
  if (const std::string interval = intervalText(at(speedup, "low"), at(speedup, "high"), 2); interval != kNotAvailable)
    small += ", " + interval;
  return fmt::format("<div class=\"times\">{}\u00d7{}</div>\n", figureOf(at(speedup, "value"), 2),
                     element("small", small));
}

std::string picturesHtml(const json& scene) {
  const json& words = at(scene, "pictures");
  if (!words.is_string() || words.get_ref<const std::string&>().empty()) return {};
  return element("p", textOf(words), at(scene, "picturesEqual") == false ? "class=\"bad\"" : "class=\"soft\"") + "\n";
}

std::string verdictsHtml(const json& scenes) {
  std::string html = "<ol class=\"verdicts\">\n";
  size_t number = 0;
  for (const json& scene : listOf(scenes)) {
    const json& failure = at(scene, "failure");
    html += "<li>\n" + timesHtml(scene) + "<div><strong>";
    html += element("a", textOf(at(scene, "name")), fmt::format("href=\"#scene-{}\"", ++number)) + "</strong>\n";
    html += failure.is_string() ? element("p", textOf(failure), "class=\"says bad\"")
                                : element("p", textOf(at(scene, "verdict")), "class=\"says\"");
    html += "\n" + picturesHtml(scene) + "</div>\n</li>\n";
  }
  return html + "</ol>\n";
}

std::string notesHtml(const json& document) {
  std::string html;
  const auto note = [&](std::string_view text) { html += element("p", text, "class=\"note\"") + "\n"; };
  if (at(document, "partial") == true) note("Interrupted: this is what was measured until then.");
  if (numberOf(at(document, "validationMessages")).value_or(0.0) > 0.0)
    note(fmt::format("{} messages of the validation layers.", figureOf(at(document, "validationMessages"), 0)));
  for (const json& warning : listOf(at(document, "warnings"))) note(textOf(warning));
  return html;
}

std::string headHtml(const json& document) {
  const json& commit = at(document, "commit");
  const json& suite = at(document, "suite");
  std::string facts = fmt::format("{} \u00b7 version {} \u00b7 commit {} \u00b7 {} build", textOf(at(document, "date")),
                                  textOf(at(document, "version")), textOf(commit), textOf(at(document, "build")));
  if (suite.is_string()) facts += fmt::format(" \u00b7 suite {}", textOf(suite));
  return "<header>\n<h1>Tandem benchmark: one GPU against two</h1>\n" + element("p", facts, "class=\"soft\"") + "\n" +
         verdictsHtml(at(document, "scenes")) + notesHtml(document) + "</header>\n";
}

/// "1,000,000"
std::string grouped(const json& number) {
  std::string digits = figureOf(number, 0);
  if (digits == kNotAvailable) return digits;
  for (size_t left = digits.size(); left > 3;) digits.insert(left -= 3, ",");
  return digits;
}

std::string sceneFacts(const json& scene) {
  std::string facts =
      fmt::format("{} \u00b7 {} \u00b7 {} samples \u00b7 {} bounces", textOf(at(scene, "scene")),
                  sizeText(at(scene, "size")), figureOf(at(scene, "samples"), 0), figureOf(at(scene, "bounces"), 0));
  if (numberOf(at(scene, "triangles"))) facts += fmt::format(" \u00b7 {} triangles", grouped(at(scene, "triangles")));
  if (at(scene, "camera").is_string()) facts += fmt::format(" \u00b7 {}", textOf(at(scene, "camera")));
  return facts;
}

std::string sceneHtml(const json& scene, size_t number, const PlotLimits& limits) {
  std::string html = "<section>\n" + element("h2", textOf(at(scene, "name")), fmt::format("id=\"scene-{}\"", number)) +
                     "\n" + element("p", sceneFacts(scene), "class=\"soft\"") + "\n";
  const json& failure = at(scene, "failure");
  html +=
      failure.is_string() ? element("p", textOf(failure), "class=\"bad\"") : element("p", textOf(at(scene, "verdict")));
  html += "\n" + modeTables(scene);
  std::string figures = frameTimesFigure(scene, limits) + histogramFigure(scene) + whereTimeGoesFigure(scene);
  for (const json& mode : listOf(at(scene, "modes"))) figures += timelineFigure(mode, limits);
  figures += passRatesFigure(scene);
  if (!figures.empty()) html += "<div class=\"figures\">\n" + figures + "</div>\n";
  return html + nodeAndLinkTables(scene) + proofsTable(scene) + "</section>\n";
}

std::string definitionsHtml(const json& definitions) {
  if (!definitions.is_object() || definitions.empty()) return {};
  std::string html = "<section>\n<h2>What the words mean</h2>\n<dl>\n";
  for (const auto& entry : definitions.items())
    html += element("dt", entry.key()) + element("dd", textOf(entry.value())) + "\n";
  return html + "</dl>\n</section>\n";
}

std::string settingsHtml(const json& document) {
  const std::string settings = at(document, "settings").dump(2, ' ', false, json::error_handler_t::replace);
  return "<section>\n<h2>As it was measured</h2>\n" + element("pre", textOf(at(document, "commandLine"))) + "\n" +
         element("pre", settings) + "\n</section>\n";
}

}  // namespace

std::string benchHtml(const json& document) {
  // The policy keeps the page to its promise: nothing is requested, whatever the names in it say.
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
      "data:\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n";
  html += element("title", "Tandem benchmark, " + textOf(at(document, "date"))) + "\n<style>" +
          std::string(kBenchStyle) + "</style>\n</head>\n<body>\n<main>\n" + headHtml(document);
  html += "<section>\n<h2>The machine</h2>\n" + machineTables(at(document, "machine")) + "</section>\n";
  const PlotLimits limits = limitsFor(document);
  size_t number = 0;
  for (const json& scene : listOf(at(document, "scenes"))) html += sceneHtml(scene, ++number, limits);
  if (const std::string scaling = scalingFigures(document); !scaling.empty())
    html += "<section>\n<h2>Over sizes and samples</h2>\n<div class=\"figures\">\n" + scaling + "</div>\n</section>\n";
  html += definitionsHtml(at(document, "definitions")) + settingsHtml(document);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace tandem::jobs
