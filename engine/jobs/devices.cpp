#include "jobs/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/open_instance.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

std::string gibibytes(uint64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30)); }

std::string apiText(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

std::string adapterText(const gpu::Adapter& adapter) {
  std::string text = fmt::format("GPU {}: {} ({})\n", adapter.index, adapter.name, gpu::adapterTypeName(adapter.type));
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<12}{}\n", label, value);
  };
  std::string reasons;
  for (const std::string& reason : adapter.refusals) reasons += (reasons.empty() ? "" : "; ") + reason;
  line("usable", adapter.usable() ? "yes" : "no: " + reasons);
  line("UUID", adapter.uuidText());
  line("PCI", adapter.pci ? adapter.pci->text() : "none");
  line("driver", adapter.driver);
  line("Vulkan", apiText(adapter.apiVersion));
  for (const gpu::HeapInfo& heap : adapter.heaps) {
    line("memory", fmt::format("{}, {} free, {}", gibibytes(heap.bytes), gibibytes(heap.budget),
                               heap.deviceLocal ? "device-local" : "host"));
  }
  line("limits", fmt::format("buffer {}, allocation {}, subgroup {}", gibibytes(adapter.maxBufferSize),
                             gibibytes(adapter.maxAllocationSize), adapter.subgroupSize));
  line("host import", adapter.minImportedHostPointerAlignment > 0
                          ? fmt::format("yes, alignment {} B", adapter.minImportedHostPointerAlignment)
                          : "no: VK_EXT_external_memory_host is absent");
  return text;
}

json adapterJson(const gpu::Adapter& adapter) {
  json heaps = json::array();
  for (const gpu::HeapInfo& heap : adapter.heaps) {
    heaps.push_back({{"bytes", heap.bytes}, {"budget", heap.budget}, {"deviceLocal", heap.deviceLocal}});
  }
  return {{"index", adapter.index},
          {"name", adapter.name},
          {"type", gpu::adapterTypeName(adapter.type)},
          {"uuid", adapter.uuidText()},
          {"pci", adapter.pci ? adapter.pci->text() : ""},
          {"driver", adapter.driver},
          {"api", apiText(adapter.apiVersion)},
          {"usable", adapter.usable()},
          {"refusals", adapter.refusals},
          {"heaps", heaps},
          {"maxBufferBytes", adapter.maxBufferSize},
          {"maxAllocationBytes", adapter.maxAllocationSize},
          {"maxStorageBufferRange", adapter.limits.maxStorageBufferRange},
          {"subgroupSize", adapter.subgroupSize},
          {"hostImportAlignment", adapter.minImportedHostPointerAlignment}};
}

}  // namespace

bool DeviceList::anyUsable() const {
  return std::ranges::any_of(adapters, [](const gpu::Adapter& adapter) { return adapter.usable(); });
}

Expected<DeviceList> listDevices() {
  const auto instance = openInstance(false);
  if (!instance) return instance.refusal();
  return DeviceList{(*instance)->adapters(), (*instance)->groups()};
}

std::string devicesText(const DeviceList& list) {
  std::string text;
  for (const gpu::Adapter& adapter : list.adapters) text += adapterText(adapter);
  text += "device groups:";
  for (const auto& group : list.groups) text += fmt::format(" [{}]", fmt::join(group, ", "));
  return text + "\n";
}

std::string devicesJson(const DeviceList& list) {
  json document = {{"schema", 1}, {"adapters", json::array()}, {"groups", list.groups}};
  for (const gpu::Adapter& adapter : list.adapters) document["adapters"].push_back(adapterJson(adapter));
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
