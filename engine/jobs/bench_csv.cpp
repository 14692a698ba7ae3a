#include "jobs/bench_csv.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quotes = "\"";
  for (const char letter : text) quotes += letter == '"' ? "\"\"" : std::string(1, letter);
  return quotes + "\"";
}

/// Calls `visit(scene, mode, run)` in the document's order.
template <class Visit>
void forEachRun(const json& document, Visit visit) {
  for (const json& scene : listOf(at(document, "scenes"))) {
    for (const json& mode : listOf(at(scene, "modes"))) {
      for (const json& run : listOf(at(mode, "runs"))) visit(scene, mode, run);
    }
  }
}

size_t mostNodes(const json& document) {
  size_t nodes = 0;
  forEachRun(document, [&](const json&, const json&, const json& run) {
    for (const json& rows : listOf(at(run, "rowsOfNode"))) nodes = std::max(nodes, rows.size());
  });
  return nodes;
}

const json& elementOf(const json& list, size_t index) {
  static const json kNull;
  return index < listOf(list).size() ? list[index] : kNull;
}

std::string linesOf(const json& run, const std::string& prefix, size_t nodes) {
  std::string lines;
  double milliseconds = 0.0;
  const json& times = listOf(at(run, "frameMs"));
  for (size_t frame = 0; frame < times.size(); ++frame) {
    const auto ms = numberOf(times[frame]);
    milliseconds += ms.value_or(0.0);
    lines += fmt::format("{},{},{:.6f},{},{}", prefix, frame + 1, milliseconds / 1e3, figure(ms, 4),
                         figureOf(elementOf(at(run, "latencyMs"), frame), 4));
    const json& rows = elementOf(at(run, "rowsOfNode"), frame);
    for (size_t node = 0; node < nodes; ++node) lines += "," + figureOf(elementOf(rows, node), 0);
    lines += "\n";
  }
  return lines;
}

}  // namespace

std::string benchCsv(const json& document) {
  const size_t nodes = mostNodes(document);
  std::string text = "Application,Scene,Mode,Repeat,Frame,TimeInSeconds,MsBetweenPresents,DisplayLatency";
  for (size_t node = 0; node < nodes; ++node) text += fmt::format(",RowsNode{}", node);
  text += "\n";
  forEachRun(document, [&](const json& scene, const json& mode, const json& run) {
    const std::string prefix = fmt::format("tandem,{},{},{}", quoted(textOf(at(scene, "name"))),
                                           quoted(textOf(at(mode, "label"))), figureOf(at(run, "repeat"), 0));
    text += linesOf(run, prefix, nodes);
  });
  return text;
}

}  // namespace tandem::jobs
