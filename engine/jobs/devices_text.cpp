// What `tandem devices` prints, for people.
#include <fmt/format.h>

#include "jobs/devices.h"

namespace tandem::jobs {
namespace {

std::string gibibytes(uint64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30)); }

std::string apiText(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

std::string queuesText(const gpu::Adapter& adapter) {
  if (adapter.queueFamily == UINT32_MAX) return "none that fits";
  std::string text = fmt::format("family {} ({} queue{})", adapter.queueFamily, adapter.queuesInFamily,
                                 adapter.queuesInFamily == 1 ? "" : "s");
  if (adapter.transferFamily != UINT32_MAX) {
    text += fmt::format("; copies on family {} ({} timestamps)", adapter.transferFamily,
                        adapter.transferTimestamps ? "with" : "without");
  } else {
    text += adapter.queuesInFamily > 1 ? "; copies on its second queue" : "; copies on the same queue";
  }
  return text;
}

std::string pcieText(const MachineFacts& facts, const gpu::Adapter& adapter) {
  const DisplayDevice* device = adapter.pci ? facts.displayAt(adapter.pci->text()) : nullptr;
  if (device == nullptr || !device->link) return "N/A";
  const PcieLink& link = *device->link;
  return fmt::format("{} x{} now, {} x{} at most", link.speed, link.width, link.maxSpeed.empty() ? "?" : link.maxSpeed,
                     link.maxWidth);
}

std::string adapterText(const MachineFacts& facts, const gpu::Adapter& adapter) {
  std::string text = fmt::format("GPU {}: {} ({})\n", adapter.index, adapter.name, gpu::adapterTypeName(adapter.type));
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("  {:<12}{}\n", label, value);
  };
  line("usable",
       adapter.usable() ? std::string("yes") : fmt::format("no: it {}", fmt::join(adapter.refusals, "; it ")));
  line("UUID", adapter.uuidText());
  line("PCI", adapter.pci ? adapter.pci->text() : "none");
  line("PCIe link", pcieText(facts, adapter));
  line("display", displayOf(facts, adapter));
  line("driver", adapter.driver);
  line("Vulkan", apiText(adapter.apiVersion));
  line("queues", queuesText(adapter));
  for (const gpu::HeapInfo& heap : adapter.heaps) {
    line("memory", fmt::format("{}, {} free, {}", gibibytes(heap.bytes), gibibytes(heap.budget),
                               heap.deviceLocal ? "device-local" : "host"));
  }
  line("limits", fmt::format("buffer {}, allocation {}, subgroup {}", gibibytes(adapter.maxBufferSize),
                             gibibytes(adapter.maxAllocationSize), adapter.subgroupSize));
  line("tracers", adapter.rayTracing ? "compute, rt" : "compute");
  line("host import", adapter.minImportedHostPointerAlignment > 0
                          ? fmt::format("yes, alignment {} B", adapter.minImportedHostPointerAlignment)
                          : "no: VK_EXT_external_memory_host is absent");
  return text;
}

std::string figure(double value) { return value > 0.0 ? fmt::format("{:.1f}", value) : "N/A"; }

std::string directionText(const topology::LinkFigures& figures) {
  return fmt::format("{} GB/s in a stream, {} one at a time, {} the copies alone; hop {} us (p99 {})",
                     figure(figures.streamGbps), figure(figures.transferGbps), figure(figures.copyGbps),
                     figure(figures.hopMedianUs), figure(figures.hopP99Us));
}

std::string pairText(const PairReport& pair) {
  std::string text = fmt::format("links of GPU {} {}, {:.1f} MB a transfer:\n", pair.a,
                                 pair.a == pair.b ? "with itself, opened twice" : fmt::format("with GPU {}", pair.b),
                                 static_cast<double>(pair.probe.bytes) / 1e6);
  const topology::KindProbe* best = pair.probe.best();
  for (const topology::KindProbe& kind : pair.probe.kinds) {
    const std::string_view name = topology::linkKindName(kind.kind);
    if (!kind.passed()) {
      text += fmt::format("  {:<12}no: {}\n", name, kind.refusal);
      continue;
    }
    text += fmt::format("  {:<12}pass{}\n", name, &kind == best ? ", the best" : "");
    text += fmt::format("    there     {}\n", directionText(kind.there));
    text += fmt::format("    back      {}\n", directionText(kind.back));
  }
  return text;
}

}  // namespace

std::string devicesText(const DeviceReport& report) {
  std::string text;
  for (const gpu::Adapter& adapter : report.adapters) text += adapterText(report.facts, adapter);
  text += "device groups:";
  for (const auto& group : report.groups) text += fmt::format(" [{}]", fmt::join(group, ", "));
  const auto owner = displayOwner(report.facts, report.adapters);
  text += fmt::format("\ndisplay: {}\n", owner ? fmt::format("GPU {}", *owner) : "N/A");
  for (const PairReport& pair : report.pairs) text += pairText(pair);
  if (report.prediction) text += predictionText(*report.prediction);
  for (const Finding& finding : report.findings)
    text += fmt::format("problem: {}\n  what to do: {}\n", finding.message, finding.advice);
  return text;
}

}  // namespace tandem::jobs
