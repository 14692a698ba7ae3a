// The benchmark's page and its drawings.
#include "jobs/bench_html.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <regex>

#include "jobs/bench_plots.h"
#include "jobs/html.h"
#include "jobs/svg_plot.h"
#include "support/bench_document.h"
#include "support/json_schema.h"

namespace tandem::jobs {
namespace {

using test::json;

size_t countOf(const std::string& text, const std::string& words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + words.size())) ++count;
  return count;
}

/// What is wrong with the tags of a page that is to be well-formed as XML after its first line; empty: nothing.
std::string faultOfTags(const std::string& html) {
  static const std::regex kTag(R"re(</?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z0-9:-]+="[^"<]*")*)\s*(/?)>)re");
  std::vector<std::string> open;
  size_t at = html.find('\n');
  for (size_t tag = html.find('<', at); tag != std::string::npos; tag = html.find('<', tag + 1)) {
    const size_t end = html.find('>', tag);
    const std::string text = html.substr(tag, end - tag + 1);
    std::smatch match;
    if (!std::regex_match(text, match, kTag)) return "no tag: " + text.substr(0, 100);
    if (text[1] == '/') {
      if (open.empty() || open.back() != match[1]) return text + " closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
    } else if (match[3].length() == 0) {
      open.push_back(match[1]);
    }
    if (match[1] == "style" && text[1] != '/') tag = html.find("</style>", tag) - 1;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

/// Points of all lines of a drawing.
size_t pointsIn(const std::string& svg) {
  size_t points = 0;
  for (size_t at = svg.find("points=\""); at != std::string::npos; at = svg.find("points=\"", at + 1)) {
    const std::string list = svg.substr(at + 8, svg.find('"', at + 8) - at - 8);
    points += countOf(list, ",");
  }
  return points;
}

TEST(BenchDocument, TheOneOfTheTestsHoldsToTheSchema) {
  const test::JsonSchema schema(json::parse(std::ifstream(TANDEM_SOURCE_DIR "/assets/bench/schema-2.json")));
  EXPECT_EQ(schema.faults(test::benchDocument()), std::vector<std::string>());
  json wrong = test::benchDocument();
  wrong["scenes"][0]["modes"][0]["summary"]["fps"] = "fast";
  wrong["settings"].erase("seed");
  wrong["more"] = 1;
  EXPECT_EQ(schema.faults(wrong).size(), 3u);
}

TEST(BenchHtml, IsWellFormed) {
  const std::string html = benchHtml(test::benchDocument());
  EXPECT_EQ(faultOfTags(html), "");
  EXPECT_NE(faultOfTags("\n<p><b></p></b>"), "") << "the check itself finds nothing";
  EXPECT_NE(faultOfTags("\n<p>"), "");
  EXPECT_NE(faultOfTags("\n<p class=\"a\"b\">x</p>"), "");
}

TEST(BenchHtml, AsksForNothingElse) {
  const std::string html = benchHtml(test::benchDocument());
  for (const char* words : {"<script", "http:", "https:", "src=\"", "@import", "url("})
    EXPECT_EQ(countOf(html, words), 0u) << words;
}

TEST(BenchHtml, VerdictsComeFirst) {
  const std::string html = benchHtml(test::benchDocument());
  EXPECT_LT(html.find("sfr is 1.90x (1.88 to 1.93) single; the link is hidden"), html.find("The machine"));
  // Of the fastest mode of two.
  EXPECT_NE(html.find("1.90\u00d7<small>sfr, 1.88\u20131.93</small>"), std::string::npos);
}

TEST(BenchHtml, HostileNamesAreText) {
  json document = test::benchDocument();
  const std::string hostile = "<script>alert(\"1\")</script>&'\x01";
  json& scene = document["scenes"][0];
  for (const char* key : {"name", "scene", "verdict", "pictures", "camera", "failure", "series"}) scene[key] = hostile;
  scene["modes"][0]["label"] = hostile;
  scene["modes"][1]["failure"] = hostile;
  scene["modes"][2]["summary"]["limit"] = hostile;
  scene["modes"][2]["summary"]["passes"][0]["name"] = hostile;
  scene["modes"][2]["timeline"][0]["lane"] = hostile;
  scene["modes"][2]["timeline"][0]["name"] = hostile;
  document["machine"]["adapters"][0]["name"] = hostile;
  document["definitions"][hostile] = hostile;
  document["commandLine"] = hostile;
  document["settings"]["environment"] = hostile;
  document["warnings"].push_back(hostile);
  document["scenes"].push_back(scene);  // of one series: a drawing over both
  const std::string html = benchHtml(document);
  EXPECT_EQ(countOf(html, "<script"), 0u);
  EXPECT_EQ(countOf(html, "\x01"), 0u);
  EXPECT_EQ(faultOfTags(html), "");
  EXPECT_GT(countOf(html, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"), 10u);
}

TEST(BenchHtml, NullIsNotAvailable) {
  json document = test::benchDocument();
  json& scene = document["scenes"][0];
  const std::string full = benchHtml(document);
  for (json& mode : scene["modes"]) {
    mode["summary"] = nullptr;
    mode["speedup"] = nullptr;
    mode["runs"] = json::array();
    mode["timeline"] = json::array();
  }
  for (auto& entry : document["machine"]["adapters"][0].items()) entry.value() = nullptr;
  const std::string html = benchHtml(document);
  EXPECT_EQ(faultOfTags(html), "");
  EXPECT_EQ(countOf(html, "null"), countOf(full, "null")) << "but in the raw settings";
  EXPECT_EQ(countOf(html, "<svg"), 0u);
  // 12, 9 and 14 figures of each mode, its limit; 14 facts of a GPU.
  EXPECT_GE(countOf(html, "N/A"), 3u * (12 + 9 + 14 + 1) + 14u);
}

TEST(BenchHtml, AnEmptyDocumentIsAPageToo) {
  for (const json& document : {json::object(), json(nullptr), json::array(), json({{"scenes", {1, "a", nullptr}}})})
    EXPECT_EQ(faultOfTags(benchHtml(document)), "") << document;
}

TEST(BenchHtml, WhatWasInterruptedOrFailedSaysSo) {
  json document = test::benchDocument();
  document["partial"] = true;
  document["scenes"][0]["failure"] = "the file cannot be read";
  document["scenes"][0]["picturesEqual"] = false;
  const std::string html = benchHtml(document);
  EXPECT_EQ(countOf(html, "Interrupted: this is what was measured until then."), 1u);
  EXPECT_EQ(countOf(html, "the file cannot be read"), 2u);
}

TEST(BenchHtml, StaysSmallHoweverMuchWasMeasured) {
  json document = test::benchDocument();
  json scene = test::sceneOf();
  for (json& mode : scene["modes"]) {
    for (json& run : mode["runs"]) run = test::runOf(1, 10.0, 10'000, json::array());
    for (int event = 0; event < 500; ++event)
      mode["timeline"].push_back(test::eventOf(event / 100, "node 1", "blur", 0.1 * event, 0.1 * event + 0.05));
  }
  document["scenes"] = json::array();
  for (int copy = 0; copy < 20; ++copy) document["scenes"].push_back(scene);
  EXPECT_LT(benchHtml(document).size(), 3'000'000u);
}

TEST(BenchPlots, EveryFrameIsAPoint) {
  const json scene = test::sceneOf();
  EXPECT_EQ(pointsIn(frameTimesFigure(scene, {})), 3u * 3 * 40);
  EXPECT_LE(pointsIn(frameTimesFigure(scene, {.points = 60, .events = 10})), 3u * 60);
}

TEST(BenchPlots, HistogramsHoldEveryFrame) {
  // Ten frames of 10 ms and thirty of 20: the highest two bars are three times as high as each other.
  json scene = test::sceneOf();
  scene["modes"].erase(2);
  scene["modes"].erase(1);
  std::vector<double> times(40, 20.0);
  std::fill_n(times.begin(), 10, 10.0);
  scene["modes"][0]["runs"] = json::array({test::runOf(1, 10.0, 1, json::array())});
  scene["modes"][0]["runs"][0]["frameMs"] = times;
  const std::string svg = histogramFigure(scene);
  static const std::regex kBar(R"re(height="([0-9.]+)" class="bar)re");
  std::vector<double> heights;
  for (std::sregex_iterator bar(svg.begin(), svg.end(), kBar), end; bar != end; ++bar)
    heights.push_back(std::stod((*bar)[1]));
  ASSERT_EQ(heights.size(), 2u);
  EXPECT_NEAR(heights[1] / heights[0], 3.0, 0.05);
}

TEST(BenchPlots, EveryEventIsABarInItsLane) {
  const std::string svg = timelineFigure(test::sceneOf()["modes"][0], {});
  // Three events and two frames in the legend.
  EXPECT_EQ(countOf(svg, "class=\"event "), 3u + 2u);
  EXPECT_EQ(countOf(svg, "blur, frame 20: 16.000 to 18.000 ms"), 1u);
  EXPECT_EQ(countOf(timelineFigure(test::sceneOf()["modes"][0], {.points = 10, .events = 2}), "class=\"event "), 3u);
}

TEST(BenchPlots, CasesOfOneSeriesMakeOneDrawing) {
  json document = test::benchDocument();
  for (const int width : {3840, 1920}) {
    json scene = test::sceneOf();
    scene["series"] = "sizes";
    scene["size"] = {width, width * 9 / 16};
    document["scenes"].push_back(scene);
  }
  const std::string svg = scalingFigures(document);
  EXPECT_EQ(countOf(svg, "<svg"), 1u);
  EXPECT_EQ(pointsIn(svg), 2u * 2);  // two modes of two GPUs at two sizes
  EXPECT_LT(svg.find(">1920x1080<"), svg.find(">3840x2160<"));
  document["scenes"].erase(2);
  EXPECT_EQ(scalingFigures(document), "") << "one case has nothing to be compared with";
}

TEST(BenchPlots, EveryDrawingSaysWhatItIs) {
  const std::string html = benchHtml(test::benchDocument());
  const size_t drawings = countOf(html, "<svg");
  EXPECT_GT(drawings, 5u);
  EXPECT_EQ(countOf(html, "role=\"img\" aria-label=\""), drawings);
}

TEST(SvgPlot, TicksAreRoundAndCoverAll) {
  const Axis axis = roundAxis(0.0, 47.6, 2);
  EXPECT_EQ(axis.step, 20.0);
  EXPECT_EQ(axis.ticks(), (std::vector<double>{0.0, 20.0, 40.0, 60.0}));
  const Axis small = tightAxis(9.95, 10.05, 3);
  EXPECT_EQ(small.label(small.ticks().front()), "9.96");
  EXPECT_LE(small.ticks().back(), 10.05 + 1e-9);
  for (const auto& [low, high] : {std::pair{5.0, 5.0}, {0.0, 0.0}, {0.0, 1e-12}, {1e12, 1e12}, {0.0, 1e300}}) {
    const Axis odd = roundAxis(low, high, 3);
    EXPECT_LE(odd.low, low);
    EXPECT_GE(odd.high, high);
    EXPECT_GE(odd.ticks().size(), 2u) << high;
    EXPECT_LE(odd.ticks().size(), 51u) << high;
  }
}

TEST(SvgPlot, DecimationKeepsTheExtremes) {
  std::vector<double> values(1000, 10.0);
  values[123] = 50.0;
  values[777] = 1.0;
  const std::vector<Point> points = decimated(values, 100);
  EXPECT_LE(points.size(), 100u);
  EXPECT_EQ(std::ranges::max(points, {}, &Point::y).x, 123.0);
  EXPECT_EQ(std::ranges::min(points, {}, &Point::y).x, 777.0);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &Point::x));
  EXPECT_EQ(decimated(std::span(values).first(100), 100).size(), 100u);
}

}  // namespace
}  // namespace tandem::jobs
