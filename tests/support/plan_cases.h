// Random frames for tests of plans without a GPU, and what one node makes of them: the truth. Contents are numbers;
// what never came is poison.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>

#include "graph/plan.h"

namespace tandem::graph::test {

using Rng = std::mt19937_64;
inline constexpr uint32_t kRing = 3;
inline constexpr uint64_t kPoison = 0xdeadbeefdeadbeef;

inline uint32_t below(Rng& rng, size_t end) { return static_cast<uint32_t>(rng() % end); }

/// Finaliser of SplitMix64 (Steele, Lea, Flood 2014, fig. 13), so that any other input gives another content.
inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Case {
  Graph graph;
  Placement placement;
  uint32_t frames = 0;
};

/// What passes made so far, by their handles of now.
using Handles = std::vector<Resource<uint64_t>>;

/// Reads, changes and creates at random. What a shareable pass makes is read by rows only, is never changed and has no
/// past.
inline void declareRandomly(PassBuilder& b, Rng& rng, const Graph& graph, Handles& handles) {
  const bool shareable = below(rng, 3) == 0;
  const size_t older = handles.size();
  const auto inParts = [&](Resource<uint64_t> handle) { return graph.sharedMaker(handle.index) != UINT32_MAX; };
  for (uint32_t reads = older > 0 ? below(rng, 4) : 0; reads > 0; --reads) {
    const auto handle = handles[below(rng, older)];
    inParts(handle) || below(rng, 2) == 0 ? b.readRows(handle) : b.read(handle);
  }
  if (older > 0 && below(rng, 3) == 0) {
    auto& handle = handles[below(rng, older)];
    if (!shareable && !inParts(handle)) handle = b.write(handle);
  }
  const uint32_t rows = 1 + below(rng, 8);
  for (uint32_t creates = older > 0 && !shareable ? below(rng, 3) : 1 + below(rng, 2); creates > 0; --creates) {
    handles.push_back(b.create<uint64_t>({fmt::format("r{}", handles.size()), 1 + below(rng, 64), rows}));
  }
  if (below(rng, 3) == 0 && (!shareable || older > 0)) {
    const auto handle = handles[below(rng, shareable ? older : handles.size())];
    if (!inParts(handle)) b.readPrevious(handle);
  }
  if (below(rng, 4) == 0) b.sideEffect();
  if (shareable) b.shareable();
}

/// Some of the nodes, at least one, in any order.
inline std::vector<uint32_t> randomNodes(Rng& rng, uint32_t nodes) {
  std::vector<uint32_t> some(nodes);
  std::iota(some.begin(), some.end(), 0u);
  std::shuffle(some.begin(), some.end(), rng);
  some.resize(1 + below(rng, nodes));
  return some;
}

inline Case randomCase(Rng& rng) {
  Case made;
  made.placement.nodes = 2 + below(rng, 3);
  const uint32_t passes = 3 + below(rng, 12);
  Handles handles;
  for (uint32_t i = 0; i < passes; ++i) {
    const std::string name = fmt::format("p{}", i);
    const auto declare = [&](PassBuilder& b) {
      declareRandomly(b, rng, made.graph, handles);
      if (i + 1 == passes) b.sideEffect();
    };
    made.graph.addPass(name, declare, {});
    const bool shared = made.graph.passes().back().shareable && below(rng, 4) > 0;
    if (shared) made.placement.sharedBy[name] = randomNodes(rng, made.placement.nodes);
    if (below(rng, 5) > 0) made.placement.nodeOfPass[name] = below(rng, made.placement.nodes);
  }
  // History carries an error one pass further each frame; along the longest way it has reached a side effect by then.
  made.frames = passes + 2;
  return made;
}

/// Value of every side effect: [frame][pass]; 0 for passes without one.
using Effects = std::vector<std::vector<uint64_t>>;

/// What a pass does, wherever it runs. `Memory` has current(resource), previous(resource) and set(resource, value).
template <class Memory>
uint64_t runPass(const Graph& graph, uint32_t index, uint32_t frame, Memory& memory) {
  const Pass& pass = graph.passes()[index];
  uint64_t value = mix(index + 1, frame);
  for (const Access& read : pass.reads) value = mix(value, memory.current(read.resource));
  for (uint32_t resource : pass.previous) value = mix(value, memory.previous(resource));
  for (const Access& write : pass.writes) {
    if (write.version > 0) value = mix(value, memory.current(write.resource));
  }
  for (const Access& write : pass.writes) memory.set(write.resource, mix(value, write.resource));
  return pass.sideEffect ? value : 0;
}

struct OneNode {
  std::vector<uint64_t> now, before;
  uint64_t current(uint32_t resource) const { return now[resource]; }
  uint64_t previous(uint32_t resource) const { return before[resource]; }
  void set(uint32_t resource, uint64_t value) { now[resource] = value; }
};

/// The truth: every pass, in order, on one node. It knows nothing of plans.
inline Effects runInOrder(const Case& c) {
  const size_t resources = c.graph.resources().size();
  OneNode memory{std::vector<uint64_t>(resources, kPoison), std::vector<uint64_t>(resources, 0)};
  Effects effects(c.frames, std::vector<uint64_t>(c.graph.passes().size(), 0));
  for (uint32_t frame = 0; frame < c.frames; ++frame) {
    for (uint32_t pass = 0; pass < c.graph.passes().size(); ++pass) {
      effects[frame][pass] = runPass(c.graph, pass, frame, memory);
    }
    memory.before = memory.now;
  }
  return effects;
}

}  // namespace tandem::graph::test
