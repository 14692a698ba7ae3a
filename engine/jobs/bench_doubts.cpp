#include "jobs/bench_doubts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "jobs/bench_document.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::json;

/// As people write it: texts without quotes.
std::string shown(const json& value) {
  if (value.is_null()) return std::string(kNotAvailable);
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void tellIfOther(std::vector<std::string>& doubts, const std::string& what, const json& before, const json& after) {
  if (before != after) doubts.push_back(fmt::format("{}: {} -> {}", what, shown(before), shown(after)));
}

void tellOfMachines(std::vector<std::string>& doubts, const json& before, const json& after) {
  for (const char* fact : {"cpu", "threads", "memoryBytes", "kernel"})
    tellIfOther(doubts, fmt::format("another machine, {}", fact), at(before, fact), at(after, fact));
  const json& adapters = listOf(at(before, "adapters"));
  const json& newAdapters = listOf(at(after, "adapters"));
  if (adapters.size() != newAdapters.size())
    doubts.push_back(fmt::format("another machine, adapters: {} -> {}", adapters.size(), newAdapters.size()));
  for (size_t adapter = 0; adapter < std::min(adapters.size(), newAdapters.size()); ++adapter) {
    for (const char* fact : {"name", "driver", "type"}) {
      tellIfOther(doubts, fmt::format("another machine, {} of adapter {}", fact, adapter), at(adapters[adapter], fact),
                  at(newAdapters[adapter], fact));
    }
    // Another card of the same make is a doubt too, but a smaller one.
    if (at(adapters[adapter], "name") == at(newAdapters[adapter], "name"))
      tellIfOther(doubts, fmt::format("another card, uuid of adapter {}", adapter), at(adapters[adapter], "uuid"),
                  at(newAdapters[adapter], "uuid"));
  }
}

void tellOfSettings(std::vector<std::string>& doubts, const json& before, const json& after) {
  std::set<std::string> names;
  for (const json* settings : {&before, &after}) {
    if (!settings->is_object()) continue;
    for (const auto& entry : settings->items()) names.insert(entry.key());
  }
  for (const std::string& name : names)
    tellIfOther(doubts, "another setting, " + name, at(before, name), at(after, name));
}

bool usedSoftware(const json& document) {
  for (const json& scene : listOf(at(document, "scenes"))) {
    for (const json& mode : listOf(at(scene, "modes"))) {
      for (const json& node : listOf(at(mode, "nodes"))) {
        if (at(node, "type") == "cpu") return true;
      }
    }
  }
  return false;
}

void tellOfOne(std::vector<std::string>& doubts, const std::string& name, const json& document) {
  if (at(document, "partial") == true)
    doubts.push_back(name + " was interrupted: it holds what was measured until then");
  if (usedSoftware(document)) doubts.push_back(name + " ran on a software device: its times say nothing about GPUs");
  if (at(document, "settings", "simulateDual") == true)
    doubts.push_back(name + " opened one GPU twice: its speed-ups say nothing about two GPUs");
  if (numberOf(at(document, "validationMessages")).value_or(0.0) > 0.0)
    doubts.push_back(name + " has messages of the validation layers");
}

}  // namespace

std::vector<std::string> doubtsOf(const json& before, const json& after) {
  std::vector<std::string> doubts;
  tellOfOne(doubts, "the report before", before);
  tellOfOne(doubts, "the report after", after);
  tellOfMachines(doubts, at(before, "machine"), at(after, "machine"));
  tellIfOther(doubts, "another build", at(before, "build"), at(after, "build"));
  tellOfSettings(doubts, at(before, "settings"), at(after, "settings"));
  return doubts;
}

std::vector<std::string> otherWork(const json& sceneBefore, const json& sceneAfter) {
  std::vector<std::string> differences;
  for (const char* what : {"size", "samples", "bounces", "triangles", "camera"})
    tellIfOther(differences, what, at(sceneBefore, what), at(sceneAfter, what));
  return differences;
}

}  // namespace tandem::jobs
