// What `tandem devices --json` prints, for programs.
#include <nlohmann/json.hpp>

#include "jobs/devices.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

json queuesJson(const gpu::Adapter& adapter) {
  if (adapter.queueFamily == UINT32_MAX) return nullptr;
  json queues = {{"family", adapter.queueFamily}, {"count", adapter.queuesInFamily}, {"transferFamily", nullptr}};
  if (adapter.transferFamily != UINT32_MAX) {
    queues["transferFamily"] = adapter.transferFamily;
    queues["transferTimestamps"] = adapter.transferTimestamps;
  }
  return queues;
}

json pcieJson(const DisplayDevice* device) {
  if (device == nullptr || !device->link) return nullptr;
  return {{"speed", device->link->speed},
          {"width", device->link->width},
          {"maxSpeed", device->link->maxSpeed},
          {"maxWidth", device->link->maxWidth}};
}

json adapterJson(const MachineFacts& facts, const gpu::Adapter& adapter) {
  json heaps = json::array();
  for (const gpu::HeapInfo& heap : adapter.heaps) {
    heaps.push_back({{"bytes", heap.bytes}, {"budget", heap.budget}, {"deviceLocal", heap.deviceLocal}});
  }
  const DisplayDevice* display = adapter.pci ? facts.displayAt(adapter.pci->text()) : nullptr;
  const bool told = facts.connectorsTold && display != nullptr;
  return {{"index", adapter.index},
          {"name", adapter.name},
          {"type", gpu::adapterTypeName(adapter.type)},
          {"uuid", adapter.uuidText()},
          {"pci", adapter.pci ? adapter.pci->text() : ""},
          {"driver", adapter.driver},
          {"api", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(adapter.apiVersion),
                              VK_API_VERSION_MINOR(adapter.apiVersion), VK_API_VERSION_PATCH(adapter.apiVersion))},
          {"usable", adapter.usable()},
          {"refusals", adapter.refusals},
          {"heaps", heaps},
          {"queues", queuesJson(adapter)},
          {"pcie", pcieJson(display)},
          {"connected", told ? json(display->connected) : json(nullptr)},
          {"bootVga", display != nullptr ? json(display->bootVga) : json(nullptr)},
          {"maxBufferBytes", adapter.maxBufferSize},
          {"maxAllocationBytes", adapter.maxAllocationSize},
          {"maxStorageBufferRange", adapter.limits.maxStorageBufferRange},
          {"subgroupSize", adapter.subgroupSize},
          {"rayTracingPipelines", adapter.rayTracing.has_value()},
          {"hostImportAlignment", adapter.minImportedHostPointerAlignment}};
}

/// 0 stands for "not measured".
json figure(double value) { return value > 0.0 ? json(value) : json(nullptr); }

json figuresJson(const topology::KindProbe& kind, const topology::LinkFigures& figures) {
  if (!kind.passed()) return nullptr;
  return {{"streamGbps", figure(figures.streamGbps)},
          {"transferGbps", figure(figures.transferGbps)},
          {"copyGbps", figure(figures.copyGbps)},
          {"hopMedianUs", figure(figures.hopMedianUs)},
          {"hopP99Us", figure(figures.hopP99Us)}};
}

json pairJson(const PairReport& pair) {
  const topology::KindProbe* best = pair.probe.best();
  json kinds = json::array();
  for (const topology::KindProbe& kind : pair.probe.kinds) {
    kinds.push_back({{"kind", topology::linkKindName(kind.kind)},
                     {"pass", kind.passed()},
                     {"reason", kind.refusal},
                     {"path", kind.path},
                     {"there", figuresJson(kind, kind.there)},
                     {"back", figuresJson(kind, kind.back)}});
  }
  return {{"from", pair.a},
          {"to", pair.b},
          {"bytes", pair.probe.bytes},
          {"best", best != nullptr ? json(topology::linkKindName(best->kind)) : json(nullptr)},
          {"kinds", std::move(kinds)}};
}

}  // namespace

std::string devicesJson(const DeviceReport& report) {
  const auto owner = displayOwner(report.facts, report.adapters);
  json document = {{"schema", 1},
                   {"adapters", json::array()},
                   {"groups", report.groups},
                   {"displayOwner", owner ? json(*owner) : json(nullptr)},
                   {"findings", json::array()},
                   {"links", json::array()}};
  for (const gpu::Adapter& adapter : report.adapters)
    document["adapters"].push_back(adapterJson(report.facts, adapter));
  for (const Finding& finding : report.findings) {
    document["findings"].push_back({{"id", finding.id}, {"message", finding.message}, {"advice", finding.advice}});
  }
  for (const PairReport& pair : report.pairs) document["links"].push_back(pairJson(pair));
  document["prediction"] = report.prediction ? predictionJson(*report.prediction) : json(nullptr);
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
