#include "jobs/bench_html_tables.h"

#include <nlohmann/json.hpp>

#include "jobs/bench_document.h"
#include "jobs/html.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;
using Columns = std::vector<HtmlTable::Column>;

/// The figure in another unit: bytes in MB are `scaled(value, 1e-6, 2)`.
std::string scaled(const json& value, double factor, int decimals) {
  const auto number = numberOf(value);
  return figure(number ? std::optional(*number * factor) : std::nullopt, decimals);
}

std::string wordsOf(const json& list) {
  if (!list.is_array()) return std::string(kNotAvailable);
  std::string words;
  for (const json& word : list) words += (words.empty() ? "" : ", ") + textOf(word);
  return words.empty() ? "none" : words;
}

/// "1980 -> 1965 MHz"; once where both are the same.
std::string beforeAfter(const json& adapter, const char* key, const char* unit, int decimals) {
  const std::string before = figureOf(at(adapter, "before", key), decimals);
  const std::string after = figureOf(at(adapter, "after", key), decimals);
  if (before == after) return before == kNotAvailable ? before : fmt::format("{} {}", before, unit);
  return fmt::format("{} \u2192 {} {}", before, after, unit);
}

std::string reasonsText(const json& adapter) {
  const std::string before = wordsOf(at(adapter, "before", "throttleReasons"));
  const std::string after = wordsOf(at(adapter, "after", "throttleReasons"));
  return before == after ? before : fmt::format("{} \u2192 {}", before, after);
}

std::string adaptersTable(const json& adapters) {
  Columns columns{{"", true}};
  for (const json& adapter : adapters)
    columns.push_back({fmt::format("GPU {}", figureOf(at(adapter, "index"), 0)), true});
  HtmlTable table("GPUs", columns);
  const auto row = [&](const char* name, auto cell) {
    std::vector<std::string> cells{name};
    for (const json& adapter : adapters) cells.push_back(cell(adapter));
    table.row(cells);
  };
  const auto textRow = [&](const char* name, const char* key) {
    row(name, [&](const json& adapter) { return textOf(at(adapter, key)); });
  };
  const auto stateRow = [&](const char* name, const char* key, const char* unit, int decimals) {
    row(name, [&](const json& adapter) { return beforeAfter(adapter, key, unit, decimals); });
  };
  for (const auto& [name, key] : {std::pair{"Name", "name"},
                                  {"Type", "type"},
                                  {"Driver", "driver"},
                                  {"Vulkan", "apiVersion"},
                                  {"PCI", "pci"},
                                  {"UUID", "uuid"}})
    textRow(name, key);
  row("Memory", [](const json& adapter) {
    const std::string size = scaled(at(adapter, "memoryBytes"), 1.0 / (1 << 30), 1);
    return size == kNotAvailable ? size : size + " GiB";
  });
  textRow("Watched by", "watcher");
  stateRow("Graphics clock", "graphicsMHz", "MHz", 0);
  stateRow("Memory clock", "memoryMHz", "MHz", 0);
  stateRow("Power", "powerW", "W", 0);
  stateRow("Power limit", "powerLimitW", "W", 0);
  stateRow("Temperature", "temperatureC", "\u00b0C", 0);
  row("Throttled by", reasonsText);
  return table.html();
}

std::string definition(std::string_view term, std::string_view text) {
  return element("dt", term) + element("dd", text) + "\n";
}

std::string stutterText(const json& stutter) { return figureOf(at(stutter, "count"), 0); }

std::vector<std::string> speedRow(const json& mode) {
  const json& summary = at(mode, "summary");
  const json& times = at(summary, "frameMs");
  const json& speedup = at(mode, "speedup");
  return {textOf(at(mode, "label")),
          figureOf(at(summary, "fps"), 2),
          intervalText(at(summary, "fpsLow"), at(summary, "fpsHigh"), 2),
          figureOf(at(speedup, "value"), 3),
          intervalText(at(speedup, "low"), at(speedup, "high"), 3),
          figureOf(at(times, "p50"), 2),
          figureOf(at(times, "p90"), 2),
          figureOf(at(times, "p95"), 2),
          figureOf(at(times, "p99"), 2),
          figureOf(at(summary, "onePercentLow", "byP99"), 2),
          figureOf(at(summary, "onePercentLow", "timeWeighted"), 2),
          stutterText(at(summary, "stutter")),
          figureOf(at(summary, "power", "joulesPerFrame"), 3)};
}

std::vector<std::string> pairRow(const json& mode) {
  const json& summary = at(mode, "summary");
  const json& bound = at(summary, "bound");
  return {textOf(at(mode, "label")),          scaled(at(mode, "efficiency"), 100.0, 1),
          figureOf(at(mode, "karpFlatt"), 4), scaled(at(mode, "ofSum"), 100.0, 1),
          figureOf(at(bound, "traceMs"), 2),  figureOf(at(bound, "postMs"), 2),
          figureOf(at(bound, "linkMs"), 2),   figureOf(at(bound, "ms"), 2),
          figureOf(at(bound, "distance"), 3), scaled(at(summary, "framesPerDollar"), 1.0, 0)};
}

std::vector<std::string> pacingRow(const json& mode) {
  const json& summary = at(mode, "summary");
  const json& times = at(summary, "frameMs");
  const json& latency = at(summary, "latencyMs");
  const json& delta = at(summary, "deltaMs");
  return {textOf(at(mode, "label")),
          figureOf(at(times, "count"), 0),
          figureOf(at(times, "mean"), 3),
          figureOf(at(times, "deviation"), 3),
          figureOf(at(times, "least"), 3),
          figureOf(at(times, "p999"), 3),
          figureOf(at(times, "most"), 3),
          scaled(at(summary, "stutter", "timeShare"), 100.0, 2),
          figureOf(at(delta, "p50"), 3),
          figureOf(at(delta, "p95"), 3),
          figureOf(at(delta, "p99"), 3),
          figureOf(at(latency, "p50"), 2),
          figureOf(at(latency, "p99"), 2),
          figureOf(at(summary, "latencyFrames"), 2),
          figureOf(at(summary, "power", "watts"), 0)};
}

std::string passesTable(const json& scene) {
  HtmlTable table("Passes, medians", {{"Mode", true}, {"Pass", true}, {"Node"}, {"ms"}, {"MB"}, {"GB/s"}});
  for (const json& mode : listOf(at(scene, "modes"))) {
    for (const json& pass : listOf(at(mode, "summary", "passes"))) {
      table.row({textOf(at(mode, "label")), textOf(at(pass, "name")), figureOf(at(pass, "node"), 0),
                 figureOf(at(pass, "ms"), 3), scaled(at(pass, "bytes"), 1e-6, 3), figureOf(at(pass, "gbps"), 2)});
    }
  }
  return table.empty() ? "" : table.html();
}

/// GPUs that nobody watched have no row.
std::string meanwhileTable(const json& scene) {
  HtmlTable table("Watched meanwhile",
                  {{"Mode", true}, {"GPU"}, {"MHz, mean"}, {"W, most"}, {"\u00b0C, most"}, {"held down by", true}});
  for (const json& mode : listOf(at(scene, "modes"))) {
    for (const json& gpu : listOf(at(mode, "summary", "gpus"))) {
      table.row({textOf(at(mode, "label")), figureOf(at(gpu, "adapter"), 0), figureOf(at(gpu, "meanMHz"), 0),
                 figureOf(at(gpu, "maxWatts"), 0), figureOf(at(gpu, "maxTemperatureC"), 0),
                 wordsOf(at(gpu, "throttleReasons"))});
    }
  }
  return table.empty() ? "" : table.html();
}

}  // namespace

std::string intervalText(const json& low, const json& high, int decimals) {
  if (!numberOf(low) || !numberOf(high)) return std::string(kNotAvailable);
  return fmt::format("{}\u2013{}", figureOf(low, decimals), figureOf(high, decimals));
}

std::string machineTables(const json& machine) {
  const std::string memory = scaled(at(machine, "memoryBytes"), 1.0 / (1 << 30), 1);
  std::string html = "<dl>\n" + definition("CPU", textOf(at(machine, "cpu"))) +
                     definition("Threads", figureOf(at(machine, "threads"), 0)) +
                     definition("Memory", memory == kNotAvailable ? memory : memory + " GiB") +
                     definition("Kernel", textOf(at(machine, "kernel"))) +
                     definition("Load before", figureOf(at(machine, "loadAverage"), 2));
  const std::string interval = figureOf(at(machine, "samplingMs"), 0);
  html += definition("GPUs watched", interval == kNotAvailable ? interval : fmt::format("every {} ms", interval));
  html += "</dl>\n";
  const json& adapters = listOf(at(machine, "adapters"));
  return adapters.empty() ? html : html + adaptersTable(adapters);
}

std::string modeTables(const json& scene) {
  HtmlTable speed("Modes", {{"Mode", true},
                            {"frames/s"},
                            {"95 %"},
                            {"\u00d7 single"},
                            {"95 %"},
                            {"p50 ms"},
                            {"p90 ms"},
                            {"p95 ms"},
                            {"p99 ms"},
                            {"1 % low (p99)"},
                            {"1 % low (time)"},
                            {"stutters"},
                            {"J/frame"}});
  HtmlTable pair("Two GPUs, and the least that the mode could take", {{"Mode", true},
                                                                      {"efficiency %"},
                                                                      {"Karp\u2013Flatt"},
                                                                      {"% of both alone"},
                                                                      {"trace ms"},
                                                                      {"post ms"},
                                                                      {"link ms"},
                                                                      {"bound ms"},
                                                                      {"\u00d7 bound"},
                                                                      {"frames/$"}});
  HtmlTable pacing("Pacing and latency, in ms", {{"Mode", true},
                                                 {"frames"},
                                                 {"mean"},
                                                 {"deviation"},
                                                 {"least"},
                                                 {"p99.9"},
                                                 {"longest"},
                                                 {"stutter %"},
                                                 {"|\u0394| p50"},
                                                 {"|\u0394| p95"},
                                                 {"|\u0394| p99"},
                                                 {"latency p50"},
                                                 {"latency p99"},
                                                 {"in frames"},
                                                 {"W"}});
  for (const json& mode : listOf(at(scene, "modes"))) {
    speed.row(speedRow(mode));
    pair.row(pairRow(mode));
    pacing.row(pacingRow(mode));
  }
  return speed.empty() ? "" : speed.html() + limitsList(scene) + pair.html() + pacing.html();
}

std::string limitsList(const json& scene) {
  std::string list;
  for (const json& mode : listOf(at(scene, "modes"))) {
    const json& failure = at(mode, "failure");
    list += element("dt", textOf(at(mode, "label"))) +
            (failure.is_string() ? element("dd", textOf(failure), "class=\"bad\"")
                                 : element("dd", textOf(at(mode, "summary", "limit")))) +
            "\n";
  }
  return list.empty() ? "" : "<h3>What limits each mode</h3>\n<dl>\n" + list + "</dl>\n";
}

std::string nodeAndLinkTables(const json& scene) {
  HtmlTable nodes("GPUs in each mode, a frame", {{"Mode", true},
                                                 {"Node"},
                                                 {"busy ms"},
                                                 {"idle ms"},
                                                 {"for the link"},
                                                 {"for the other"},
                                                 {"for the CPU"},
                                                 {"rows"},
                                                 {"Mrays/s"},
                                                 {"copies GB/s"}});
  HtmlTable links(
      "Links", {{"Mode", true}, {"From"}, {"To"}, {"Kind", true}, {"MB/frame"}, {"GB/s"}, {"busy ms"}, {"hidden %"}});
  for (const json& mode : listOf(at(scene, "modes"))) {
    const std::string label = textOf(at(mode, "label"));
    for (const json& node : listOf(at(mode, "summary", "nodes"))) {
      nodes.row({label, figureOf(at(node, "node"), 0), figureOf(at(node, "busyMs"), 3), figureOf(at(node, "idleMs"), 3),
                 figureOf(at(node, "idle", "link"), 3), figureOf(at(node, "idle", "otherNode"), 3),
                 figureOf(at(node, "idle", "cpu"), 3), figureOf(at(node, "rows"), 0),
                 scaled(at(node, "raysPerSecond"), 1e-6, 1), figureOf(at(node, "copyGbps"), 0)});
    }
    for (const json& link : listOf(at(mode, "summary", "links"))) {
      links.row({label, figureOf(at(link, "from"), 0), figureOf(at(link, "to"), 0), textOf(at(link, "kind")),
                 scaled(at(link, "bytesPerFrame"), 1e-6, 3), figureOf(at(link, "gbps"), 2),
                 figureOf(at(link, "busyMs"), 3), scaled(at(link, "hiddenShare"), 100.0, 1)});
    }
  }
  return (nodes.empty() ? "" : nodes.html()) + (links.empty() ? "" : links.html()) + meanwhileTable(scene) +
         passesTable(scene);
}

std::string proofsTable(const json& scene) {
  HtmlTable table("Pictures, by their hash",
                  {{"Mode", true}, {"Frame"}, {"Nodes"}, {"Linear", true}, {"Tone-mapped", true}});
  for (const json& mode : listOf(at(scene, "modes"))) {
    for (const json& proof : listOf(at(mode, "proofs"))) {
      std::string nodes;
      for (const json& node : listOf(at(proof, "nodes"))) nodes += (nodes.empty() ? "" : ", ") + figureOf(node, 0);
      table.row({textOf(at(mode, "label")), figureOf(at(proof, "frame"), 0), nodes, textOf(at(proof, "linearHash")),
                 textOf(at(proof, "ldrHash"))});
    }
  }
  if (table.empty()) return {};
  return "<details><summary>Hashes of the pictures</summary>\n" + table.html() + "</details>\n";
}

}  // namespace tandem::jobs
