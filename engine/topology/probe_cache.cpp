#include "topology/probe_cache.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace tandem::topology {
namespace {

using json = nlohmann::ordered_json;

constexpr double kTie = 0.98;  // measured speeds that differ by less are the same

constexpr LinkKind kKinds[] = {LinkKind::Peer, LinkKind::Cuda, LinkKind::HostImport, LinkKind::HostCopy};

json toJson(const LinkFigures& figures) {
  return {{"hopMedianUs", figures.hopMedianUs},
          {"hopP99Us", figures.hopP99Us},
          {"copyGbps", figures.copyGbps},
          {"transferGbps", figures.transferGbps},
          {"streamGbps", figures.streamGbps}};
}

LinkFigures figuresFrom(const json& object) {
  const auto number = [&](const char* name) {
    const double value = object.at(name).get<double>();
    if (!std::isfinite(value) || value < 0.0) throw std::invalid_argument(name);
    return value;
  };
  return {number("hopMedianUs"), number("hopP99Us"), number("copyGbps"), number("transferGbps"), number("streamGbps")};
}

json toJson(const PairProbe& probe) {
  json kinds = json::array();
  for (const KindProbe& kind : probe.kinds) {
    kinds.push_back({{"kind", linkKindName(kind.kind)},
                     {"path", kind.path},
                     {"refusal", kind.refusal},
                     {"there", toJson(kind.there)},
                     {"back", toJson(kind.back)}});
  }
  return {{"bytes", probe.bytes}, {"kinds", std::move(kinds)}};
}

PairProbe probeFrom(const json& object) {
  PairProbe probe;
  probe.bytes = object.at("bytes").get<uint64_t>();
  for (const json& entry : object.at("kinds")) {
    KindProbe kind;
    const std::string name = entry.at("kind").get<std::string>();
    const auto known = std::ranges::find(kKinds, name, linkKindName);
    if (known == std::end(kKinds)) throw std::invalid_argument(name);
    kind.kind = *known;
    kind.path = entry.at("path").get<std::string>();
    kind.refusal = entry.at("refusal").get<std::string>();
    kind.there = figuresFrom(entry.at("there"));
    kind.back = figuresFrom(entry.at("back"));
    probe.kinds.push_back(std::move(kind));
  }
  return probe;
}

std::string nameOf(const gpu::Adapter& adapter) {
  return fmt::format("{} {} {:08x}:{:08x}", adapter.uuidText(),
                     adapter.pci ? adapter.pci->text() : fmt::format("#{}", adapter.index), adapter.vendorId,
                     adapter.driverVersion);
}

}  // namespace

double KindProbe::streamGbps() const { return std::min(there.streamGbps, back.streamGbps); }
double KindProbe::hopMedianUs() const { return std::max(there.hopMedianUs, back.hopMedianUs); }

const KindProbe* PairProbe::best() const {
  double fastest = 0.0;
  for (const KindProbe& kind : kinds) {
    if (kind.passed()) fastest = std::max(fastest, kind.streamGbps());
  }
  const KindProbe* best = nullptr;
  for (const KindProbe& kind : kinds) {
    if (!kind.passed() || kind.streamGbps() < kTie * fastest) continue;
    if (best == nullptr || kind.hopMedianUs() < best->hopMedianUs()) best = &kind;
  }
  return best;
}

std::string ProbeCache::keyOf(const gpu::Adapter& a, const gpu::Adapter& b) { return nameOf(a) + " -> " + nameOf(b); }

std::optional<PairProbe> ProbeCache::find(const gpu::Adapter& a, const gpu::Adapter& b) const {
  const auto entry = kept_.find(keyOf(a, b));
  if (!entry) return std::nullopt;
  try {
    return probeFrom(*entry);
  } catch (const std::exception& error) {
    log::debug("{}: the entry of this pair is damaged ({}); it is ignored", file().string(), error.what());
    return std::nullopt;
  }
}

void ProbeCache::store(const gpu::Adapter& a, const gpu::Adapter& b, const PairProbe& probe) const {
  kept_.store(keyOf(a, b), toJson(probe));
}

}  // namespace tandem::topology
