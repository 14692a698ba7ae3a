#include "jobs/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "frame/choose_gpus.h"
#include "gpu/cache_folder.h"
#include "jobs/open_instance.h"

namespace tandem::jobs {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

/// Every two GPUs that can be used; software devices where there is no GPU. Where there are no two: the one with
/// itself, opened twice.
Pairs pairsOf(const std::vector<gpu::Adapter>& adapters) {
  std::vector<uint32_t> hardware, software;
  for (const gpu::Adapter& adapter : adapters) {
    if (adapter.usable()) (adapter.software() ? software : hardware).push_back(adapter.index);
  }
  const std::vector<uint32_t>& gpus = hardware.empty() ? software : hardware;
  if (gpus.size() == 1) return {{gpus[0], gpus[0]}};
  Pairs pairs;
  for (size_t a = 0; a < gpus.size(); ++a) {
    for (size_t b = a + 1; b < gpus.size(); ++b) pairs.emplace_back(gpus[a], gpus[b]);
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

/// The links of two GPUs, of what was probed already or by a probe now.
Expected<PairReport> pairOf(gpu::Instance& instance, const DeviceReport& report, std::pair<uint32_t, uint32_t> pair) {
  for (const PairReport& known : report.pairs) {
    if (std::minmax(known.a, known.b) == std::minmax(pair.first, pair.second)) return known;
  }
  return probe(instance, pair);
}

/// The GPUs that a run would take, and the best link between them. One GPU opened twice stands for two: what it copies
/// within itself then says nothing of a second card, a link through the host does.
Expected<PredictMachine> predictMachine(gpu::Instance& instance, const DeviceReport& report) {
  const auto chosen = frame::chooseGpus(report.adapters, {});
  if (!chosen) return chosen.refusal();
  const bool two = chosen->size() > 1;
  const auto pair = pairOf(instance, report, {chosen->front(), chosen->back()});
  if (!pair) return pair.refusal();
  topology::PairProbe links = pair->probe;
  if (!two) {
    std::erase_if(links.kinds, [](const topology::KindProbe& kind) {
      return kind.kind == topology::LinkKind::Cuda || kind.kind == topology::LinkKind::Peer;
    });
  }
  PredictMachine machine;
  machine.gpus = *chosen;
  for (const uint32_t gpu : *chosen) machine.software = machine.software || report.adapters.at(gpu).software();
  if (const topology::KindProbe* best = links.best()) {
    const topology::LinkFigures& figures = pair->a == chosen->front() ? best->there : best->back;
    machine.link = topology::linkKindName(best->kind);
    machine.linkGbps = figures.streamGbps;
    machine.hopMs = figures.hopMedianUs * 1e-3;
  }
  return machine;
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
  if (request.probe) {
    for (const auto& pair : pairsOf(report.adapters)) {
      auto probed = probe(**instance, pair);
      if (!probed) return probed.refusal();
      report.pairs.push_back(std::move(*probed));
    }
  }
  if (request.predict && report.anyUsable()) {
    const auto machine = predictMachine(**instance, report);
    if (!machine) return machine.refusal();
    auto predicted = predictScene(**instance, *request.predict, *machine);
    if (!predicted) return predicted.refusal();
    report.prediction = std::move(*predicted);
  }
  return report;
}

}  // namespace tandem::jobs
