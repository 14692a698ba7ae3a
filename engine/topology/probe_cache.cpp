#include "topology/probe_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace tandem::topology {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;
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

/// The whole document, or an empty one of ours.
json readDocument(const std::filesystem::path& file) {
  const json empty = {{"schema", kSchema}, {"pairs", json::object()}};
  std::ifstream in(file, std::ios::binary);
  if (!in) return empty;
  const json document = json::parse(in, nullptr, false);
  const bool ours = document.is_object() && document.value("schema", json()) == kSchema && document.contains("pairs") &&
                    document["pairs"].is_object();
  if (ours) return document;
  log::debug("{} is no link cache of this version; it is ignored and will be rewritten", file.string());
  return empty;
}

/// Beside its place, then renamed: a reader sees the old file or the new one.
void writeWhole(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path part = file.string() + ".part" + std::to_string(::getpid());
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    std::filesystem::remove(part, error);
    log::debug("the link cache was not written to {}", file.string());
  }
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

std::filesystem::path ProbeCache::file() const {
  return folder_.empty() ? std::filesystem::path() : folder_ / "links.json";
}

std::optional<PairProbe> ProbeCache::find(const gpu::Adapter& a, const gpu::Adapter& b) const {
  if (folder_.empty()) return std::nullopt;
  const json document = readDocument(file());
  const auto pair = document["pairs"].find(keyOf(a, b));
  if (pair == document["pairs"].end()) return std::nullopt;
  try {
    return probeFrom(*pair);
  } catch (const std::exception& error) {
    log::debug("{}: the entry of this pair is damaged ({}); it is ignored", file().string(), error.what());
    return std::nullopt;
  }
}

void ProbeCache::store(const gpu::Adapter& a, const gpu::Adapter& b, const PairProbe& probe) const {
  if (folder_.empty()) return;
  json document = readDocument(file());
  document["pairs"][keyOf(a, b)] = toJson(probe);
  writeWhole(file(), document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace tandem::topology
