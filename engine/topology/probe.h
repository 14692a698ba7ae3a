// Which links two devices can have, found by trying: each kind carries a pattern that is checked word by word at the
// other end, and is measured both ways. What is allowed and what works are two things (drivers import memory and then
// show other bytes), so nothing is believed that was not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "gpu/device.h"
#include "topology/link.h"
#include "topology/probe_cache.h"
#include "topology/topology.h"

namespace tandem::topology {

/// How hard a pair is tried.
struct ProbeEffort {
  std::vector<uint64_t> patternBytes;  // multiples of 4, ascending; speed is measured at the last, a frame's size
  uint32_t hops = 0;                   // without bytes, for the latency
  uint32_t transfers = 0;              // one at a time
  uint32_t streamed = 0;               // back to back
};

/// Hardware: 64 KiB and 132 MB (a 4K frame of radiance, depth and motion), 200 hops; software devices: little.
ProbeEffort effortFor(const gpu::Device& a, const gpu::Device& b);

/// Makes a link of exactly this kind, or refuses with the reason.
using LinkMaker =
    std::function<Expected<std::unique_ptr<Link>>(LinkKind kind, gpu::Device& from, gpu::Device& to, LinkDesc desc)>;

/// The maker for any two devices: `peer` is refused where they are not seats of one linked group.
Expected<std::unique_ptr<Link>> makeLinkOf(LinkKind kind, gpu::Device& from, gpu::Device& to, LinkDesc desc);

/// Tries `kinds` from a to b and back. Takes about a second on hardware. Used by one thread while nothing else runs on
/// the devices. Throws DeviceLost where a device was lost by it; every other failure is that kind's reason.
PairProbe probePair(gpu::Device& a, gpu::Device& b, std::span<const LinkKind> kinds, const ProbeEffort& effort,
                    const LinkMaker& make = makeLinkOf);

/// The kinds worth trying between two devices of no common group, in the order of expected speed.
std::span<const LinkKind> independentKinds();

/// The kind that `--link auto` takes between two independent devices: of the cache where these two were probed under
/// these drivers before, else by a probe, which is then kept. Software devices are not probed, since nothing is to be
/// won: host-import where both can, else host-copy. Refuses, with every kind's reason, where none works.
Expected<LinkKind> bestLink(gpu::Device& a, gpu::Device& b);

}  // namespace tandem::topology
