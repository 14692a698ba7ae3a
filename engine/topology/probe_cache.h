// What probing a pair of devices found, and the file in which it is kept between runs: links.json in the cache folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpu/adapter.h"
#include "gpu/kept_json.h"
#include "topology/topology.h"

namespace tandem::topology {

/// One direction of a link. 0: could not be measured.
struct LinkFigures {
  double hopMedianUs = 0.0;   // microseconds, no bytes, from ready on the sender to the end of an empty batch that the
                              // receiver runs on arrival
  double hopP99Us = 0.0;      // the same, nearest rank
  double copyGbps = 0.0;      // 1e9 bytes a second of the copies alone, one leg after the other
  double transferGbps = 0.0;  // one transfer at a time, between the same two moments
  double streamGbps = 0.0;    // transfers back to back, legs overlapped
};

struct KindProbe {
  LinkKind kind = LinkKind::Auto;
  std::string path;     // in words: how bytes travel
  std::string refusal;  // why it cannot be used; empty: it passed
  LinkFigures there, back;

  bool passed() const { return refusal.empty(); }
  /// Of the slower direction.
  double streamGbps() const;
  double hopMedianUs() const;
};

struct PairProbe {
  uint64_t bytes = 0;  // of the transfers that were measured
  std::vector<KindProbe> kinds;

  /// The kind with the highest streamed GB/s; among those within 2 % of it the one with the shortest hop. Null: none
  /// passed.
  const KindProbe* best() const;
};

/// Never stores an index and never trusts across drivers: the key holds UUID, PCI address (or ordinal where there is
/// none) and driver version of both.
class ProbeCache {
 public:
  /// `folder`: gpu::cacheFolder(); empty: nothing is kept.
  explicit ProbeCache(const std::filesystem::path& folder) : kept_(folder, "links.json", "pairs") {}
  std::optional<PairProbe> find(const gpu::Adapter& a, const gpu::Adapter& b) const;
  void store(const gpu::Adapter& a, const gpu::Adapter& b, const PairProbe& probe) const;
  const std::filesystem::path& file() const { return kept_.file(); }  // empty: nothing is kept

  static std::string keyOf(const gpu::Adapter& a, const gpu::Adapter& b);

 private:
  gpu::KeptJson kept_;
};

}  // namespace tandem::topology
