#include "topology/probe.h"

#include "base/log.h"
#include "gpu/cache_folder.h"
#include "topology/link_cuda.h"
#include "topology/link_host_copy.h"
#include "topology/link_host_import.h"
#include "topology/link_peer.h"
#include "topology/probe_trial.h"

namespace tandem::topology {
namespace {

constexpr uint64_t kSmallBytes = 64 << 10;
constexpr uint64_t kFrameBytes = 132'710'400;  // 3840 x 2160 pixels, 16 bytes each: radiance, depth and motion
constexpr LinkKind kIndependent[] = {LinkKind::Cuda, LinkKind::HostImport, LinkKind::HostCopy};

bool anySoftware(const gpu::Device& a, const gpu::Device& b) {
  return a.adapter().software() || b.adapter().software();
}

/// Tries one direction: a link for the pattern, and a fresh one for the figures, so that its report holds nothing else.
LinkFigures tryDirection(KindProbe& probe, gpu::Device& from, gpu::Device& to, const ProbeEffort& effort,
                         const LinkMaker& make) {
  const LinkDesc desc{fmt::format("probe of {}", linkKindName(probe.kind)), {effort.patternBytes.back()}, kTrialSlots};
  {
    auto link = make(probe.kind, from, to, desc);
    if (!link) {
      probe.refusal = link.refusal().message;
      return {};
    }
    const auto fault = patternFault(from, to, **link, effort);
    probe.path = (*link)->report().path;
    if (fault) {
      probe.refusal = fmt::format("{}: {}, from {} to {}", linkKindName(probe.kind), *fault, from.name(), to.name());
      return {};
    }
  }
  auto link = make(probe.kind, from, to, desc);
  if (!link) {
    probe.refusal = link.refusal().message;
    return {};
  }
  return measureLink(from, to, **link, effort);
}

KindProbe tryKind(LinkKind kind, gpu::Device& a, gpu::Device& b, const ProbeEffort& effort, const LinkMaker& make) {
  KindProbe probe;
  probe.kind = kind;
  try {
    probe.there = tryDirection(probe, a, b, effort, make);
    if (probe.passed()) probe.back = tryDirection(probe, b, a, effort, make);
  } catch (const gpu::DeviceLost&) {
    throw;
  } catch (const AdverseError& error) {
    probe.refusal = fmt::format("{}: {}", linkKindName(kind), error.what());
  }
  if (!probe.passed()) probe.there = probe.back = {};
  // What the links' buffers held comes free before the next kind asks for as much.
  a.drain();
  b.drain();
  return probe;
}

}  // namespace

ProbeEffort effortFor(const gpu::Device& a, const gpu::Device& b) {
  if (anySoftware(a, b)) return {{kSmallBytes, 1 << 20}, 16, 4, 9};
  return {{kSmallBytes, kFrameBytes}, 200, 8, 24};
}

std::span<const LinkKind> independentKinds() { return kIndependent; }

Expected<std::unique_ptr<Link>> makeLinkOf(LinkKind kind, gpu::Device& from, gpu::Device& to, LinkDesc desc) {
  switch (kind) {
    case LinkKind::Cuda:
      return makeCudaLink(from, to, std::move(desc));
    case LinkKind::HostImport:
      return makeHostImportLink(from, to, std::move(desc));
    case LinkKind::HostCopy:
      return makeHostCopyLink(from, to, std::move(desc));
    case LinkKind::Peer:
      if (&from != &to && from.handle() == to.handle()) return makePeerLink(from, to, std::move(desc));
      break;
    case LinkKind::Auto:
      break;
  }
  return refuse(ExitCode::NoUsableGpu,
                "{}: {} and {} are not in one linked group; --link host-import or host-copy works", linkKindName(kind),
                from.name(), to.name());
}

PairProbe probePair(gpu::Device& a, gpu::Device& b, std::span<const LinkKind> kinds, const ProbeEffort& effort,
                    const LinkMaker& make) {
  TANDEM_CHECK(!effort.patternBytes.empty() && effort.patternBytes.back() > 0, "a probe without bytes");
  PairProbe result;
  result.bytes = effort.patternBytes.back();
  for (const LinkKind kind : kinds) result.kinds.push_back(tryKind(kind, a, b, effort, make));
  return result;
}

Expected<LinkKind> bestLink(gpu::Device& a, gpu::Device& b) {
  if (anySoftware(a, b)) {
    const bool both =
        a.adapter().minImportedHostPointerAlignment > 0 && b.adapter().minImportedHostPointerAlignment > 0;
    return both ? LinkKind::HostImport : LinkKind::HostCopy;
  }
  const ProbeCache cache(gpu::cacheFolder());
  auto probe = cache.find(a.adapter(), b.adapter());
  if (!probe || probe->best() == nullptr) {
    log::info("trying the links between {} and {}, once; the result is kept", a.name(), b.name());
    probe = probePair(a, b, kIndependent, effortFor(a, b));
    if (probe->best() != nullptr) cache.store(a.adapter(), b.adapter(), *probe);
  }
  if (const KindProbe* best = probe->best()) return best->kind;
  std::string reasons;
  for (const KindProbe& kind : probe->kinds) reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", kind.refusal);
  return refuse(ExitCode::NoUsableGpu, "no link between {} and {} works: {}; --mode single needs none", a.name(),
                b.name(), reasons);
}

}  // namespace tandem::topology
