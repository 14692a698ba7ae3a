#include "jobs/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cache_folder.h"
#include "jobs/open_instance.h"

namespace tandem::jobs {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

/// Every two GPUs that can be used. Where there are no two: the best device with itself, opened twice.
Pairs pairsOf(const std::vector<gpu::Adapter>& adapters) {
  std::vector<uint32_t> hardware;
  std::optional<uint32_t> any;
  for (const gpu::Adapter& adapter : adapters) {
    if (!adapter.usable()) continue;
    if (!any) any = adapter.index;
    if (!adapter.software()) hardware.push_back(adapter.index);
  }
  if (hardware.empty() && !any) return {};
  if (hardware.size() < 2) {
    const uint32_t lone = hardware.empty() ? *any : hardware.front();
    return {{lone, lone}};
  }
  Pairs pairs;
  for (size_t a = 0; a < hardware.size(); ++a) {
    for (size_t b = a + 1; b < hardware.size(); ++b) pairs.emplace_back(hardware[a], hardware[b]);
  }
  return pairs;
}

/// Tries `kinds` between two GPUs, opened in one topology.
Expected<topology::PairProbe> probeIn(gpu::Instance& instance, std::pair<uint32_t, uint32_t> pair,
                                      topology::TopologyKind kind, std::span<const topology::LinkKind> kinds) {
  const topology::TopologyRequest request{
      .adapters = {pair.first, pair.second}, .link = topology::LinkKind::Auto, .kind = kind};
  const auto opened = topology::open(instance, request);
  if (!opened) return opened.refusal();
  gpu::Device& a = (*opened)->device(0);
  gpu::Device& b = (*opened)->device(1);
  return topology::probePair(a, b, kinds, topology::effortFor(a, b));
}

/// The kinds of a linked group are tried in one, the others between two devices apart.
Expected<PairReport> probe(gpu::Instance& instance, std::pair<uint32_t, uint32_t> pair) {
  using topology::LinkKind;
  constexpr LinkKind kPeer[] = {LinkKind::Peer};
  PairReport report{pair.first, pair.second, {}};
  topology::KindProbe refused;
  refused.kind = LinkKind::Peer;
  const auto linked = probeIn(instance, pair, topology::TopologyKind::Group, kPeer);
  if (!linked) refused.refusal = linked.refusal().message;
  auto apart = probeIn(instance, pair, topology::TopologyKind::Independent, topology::independentKinds());
  if (!apart) return apart.refusal();
  const auto& adapters = instance.adapters();
  const bool software = adapters.at(pair.first).software() || adapters.at(pair.second).software();
  if (!software) {
    topology::ProbeCache(gpu::cacheFolder()).store(adapters.at(pair.first), adapters.at(pair.second), *apart);
  }
  report.probe = std::move(*apart);
  report.probe.kinds.insert(report.probe.kinds.begin(), linked ? linked->kinds.front() : refused);
  return report;
}

/// What the doctor found, appended to the one line that says why there is no device.
Refusal withFindings(const Refusal& why, const std::vector<Finding>& findings) {
  Refusal refusal = why;
  for (const Finding& finding : findings) refusal.message += fmt::format("; {}: {}", finding.message, finding.advice);
  return refusal;
}

}  // namespace

bool DeviceReport::anyUsable() const {
  return std::ranges::any_of(adapters, [](const gpu::Adapter& adapter) { return adapter.usable(); });
}

Expected<DeviceReport> inspectDevices(const DeviceRequest& request) {
  DeviceReport report;
  report.facts = gatherFacts(MachineRoots::real());
  const auto instance = openInstance(false);
  if (!instance) return withFindings(instance.refusal(), diagnose(report.facts, {}));
  report.adapters = (*instance)->adapters();
  report.groups = (*instance)->groups();
  report.findings = diagnose(report.facts, report.adapters);
  if (request.probe || request.predict) {
    for (const auto& pair : pairsOf(report.adapters)) {
      auto probed = probe(**instance, pair);
      if (!probed) return probed.refusal();
      report.pairs.push_back(std::move(*probed));
    }
  }
  if (request.predict && report.anyUsable()) {
    const bool two = !report.pairs.empty() && report.pairs.front().a != report.pairs.front().b;
    auto predicted = predictScene(**instance, *request.predict, two ? report.pairs.front().probe.best() : nullptr);
    if (!predicted) return predicted.refusal();
    report.prediction = std::move(*predicted);
  }
  return report;
}

}  // namespace tandem::jobs
