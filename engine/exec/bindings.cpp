#include "exec/bindings.h"

#include <algorithm>
#include <set>

#include "gpu/commands.h"

namespace tandem::exec {
namespace {

using Crossing = std::pair<uint32_t, uint32_t>;  // (transfer, item)

/// How each resource is used on each node.
struct Usage {
  std::set<PlaceKey> present;                                // the node reads, makes or changes it
  std::map<PlaceKey, uint32_t> writers;                      // passes of the node that make or change it
  std::map<PlaceKey, std::vector<Crossing>> sent, received;  // current content only
  std::set<PlaceKey> rings;                                  // graph::needsRing
};

void usePass(Usage& usage, const graph::Graph& graph, const graph::Plan& plan, uint32_t index, uint32_t node) {
  for (const auto& read : graph.passes()[index].reads) {
    // Parts made elsewhere are present because they are received.
    const uint32_t maker = graph.sharedMaker(read.resource);
    const uint32_t own = maker == UINT32_MAX ? 0 : partMadeBy(plan, maker, node);
    if (own != UINT32_MAX) usage.present.insert({node, read.resource, own});
  }
  const uint32_t part = partMadeBy(plan, index, node);
  for (const auto& write : graph.passes()[index].writes) {
    usage.present.insert({node, write.resource, part});
    ++usage.writers[{node, write.resource, part}];
  }
}

void findRings(Usage& usage, const graph::Graph& graph, const graph::Plan& plan) {
  for (const graph::Batch& early : plan.batches) {
    if (!early.early) continue;
    for (const uint32_t pass : early.passes) {
      for (const auto& write : graph.passes()[pass].writes) {
        if (graph::needsRing(graph, plan, early.node, write.resource))
          usage.rings.insert({early.node, write.resource, partMadeBy(plan, pass, early.node)});
      }
    }
  }
}

Usage usageOf(const graph::Graph& graph, const graph::Plan& plan) {
  Usage usage;
  for (uint32_t index = 0; index < graph.passes().size(); ++index) {
    for (const uint32_t node : plan.nodesOfPass[index]) usePass(usage, graph, plan, index, node);
  }
  for (uint32_t index = 0; index < plan.transfers.size(); ++index) {
    const graph::Transfer& transfer = plan.transfers[index];
    const graph::LinkNeed& link = plan.links[transfer.link];
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (item.previous) continue;
      const PlaceKey from{link.from, item.resource, item.part}, to{link.to, item.resource, item.part};
      usage.sent[from].push_back({index, position});
      usage.received[to].push_back({index, position});
      usage.present.insert(from);
      usage.present.insert(to);
    }
  }
  findRings(usage, graph, plan);
  return usage;
}

bool keepsHistory(const graph::Plan& plan, const PlaceKey& key) {
  return plan.hasHistory[key.resource] && plan.homeOfResource[key.resource] == key.node;
}

uint32_t copiesOf(const Usage& usage, const graph::Plan& plan, const PlaceKey& key) {
  if (keepsHistory(plan, key)) return 2;
  return usage.rings.contains(key) ? kLinkSlots : 1;
}

/// Direct use of a slot: the only content that this node ever makes of it goes over one link once, or arrives over one
/// link once.
Place choosePlace(const Usage& usage, const PlaceKey& key, bool history) {
  const auto sent = usage.sent.find(key);
  const auto received = usage.received.find(key);
  const auto writers = usage.writers.find(key);
  const uint32_t writes = writers == usage.writers.end() ? 0 : writers->second;
  Place place;
  if (!history && sent != usage.sent.end() && sent->second.size() == 1 && received == usage.received.end() &&
      writes == 1) {
    place.transfer = sent->second[0].first;
    place.item = sent->second[0].second;
    place.isSource = true;
  } else if (!history && received != usage.received.end() && received->second.size() == 1 && sent == usage.sent.end() &&
             writes == 0) {
    place.transfer = received->second[0].first;
    place.item = received->second[0].second;
  }
  return place;
}

}  // namespace

uint32_t partsOf(const graph::Graph& graph, const graph::Plan& plan, uint32_t resource) {
  const uint32_t maker = graph.sharedMaker(resource);
  return maker == UINT32_MAX ? 1 : static_cast<uint32_t>(plan.nodesOfPass[maker].size());
}

uint32_t partMadeBy(const graph::Plan& plan, uint32_t pass, uint32_t node) {
  const std::vector<uint32_t>& nodes = plan.nodesOfPass[pass];
  if (nodes.size() == 1) return nodes[0] == node ? 0 : UINT32_MAX;
  const auto found = std::ranges::find(nodes, node);
  return found == nodes.end() ? UINT32_MAX : static_cast<uint32_t>(found - nodes.begin());
}

Bindings::Bindings(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan,
                   const std::vector<std::unique_ptr<topology::Link>>& links)
    : graph_(graph), plan_(plan), links_(links) {
  const Usage usage = usageOf(graph, plan);
  for (const PlaceKey& key : usage.present) {
    Place place = choosePlace(usage, key, keepsHistory(plan, key));
    const graph::BufferDesc& desc = graph.resources()[key.resource];
    for (uint32_t copy = 0; !place.transfer && copy < copiesOf(usage, plan, key); ++copy) {
      place.own.emplace_back(topology.device(key.node), desc.bytes(), gpu::Memory::Device, desc.name);
    }
    places_.emplace(key, std::move(place));
  }
  for (uint32_t index = 0; index < plan.transfers.size(); ++index) {
    const graph::Transfer& transfer = plan.transfers[index];
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      if (!transfer.items[position].previous) continue;
      Place place;
      place.transfer = index;
      place.item = position;
      previousPlaces_.emplace(std::pair{plan.links[transfer.link].to, transfer.items[position].resource},
                              std::move(place));
    }
  }
}

const Place& Bindings::place(const PlaceKey& key) const {
  const auto found = places_.find(key);
  TANDEM_CHECK(found != places_.end(), "part {} of '{}' is not on node {}", key.part,
               graph_.resources()[key.resource].name, key.node);
  return found->second;
}

const gpu::Buffer& Bindings::previous(uint32_t node, uint32_t resource, uint64_t frame) const {
  if (const auto arrived = previousPlaces_.find({node, resource}); arrived != previousPlaces_.end()) {
    return links_[*arrived->second.transfer]->target(arrived->second.item, static_cast<uint32_t>(frame % kLinkSlots));
  }
  const Place& home = place({node, resource, 0});
  TANDEM_CHECK(home.own.size() == 2, "'{}' keeps no history on node {}", graph_.resources()[resource].name, node);
  return home.own[(frame + 1) % 2];
}

const gpu::Buffer& Bindings::buffer(const PlaceKey& key, uint64_t frame) const {
  const Place& found = place(key);
  if (!found.transfer) return found.own[frame % found.own.size()];
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  const topology::Link& link = *links_[*found.transfer];
  return found.isSource ? link.source(found.item, slot) : link.target(found.item, slot);
}

bool Bindings::copiesOut(const graph::Transfer& transfer, const graph::SentItem& item) const {
  if (item.previous) return true;
  const Place& from = place({plan_.links[transfer.link].from, item.resource, item.part});
  return !(from.transfer && from.isSource);
}

bool Bindings::copiesIn(const graph::Transfer& transfer, const graph::SentItem& item) const {
  return !item.previous && !place({plan_.links[transfer.link].to, item.resource, item.part}).transfer;
}

void Bindings::clearHistory(topology::Topology& topology) const {
  for (uint32_t node = 0; node < topology.nodes(); ++node) {
    if (topology.device(node).lost()) continue;
    gpu::runOnce(topology.device(node), "clear history", [&](gpu::Commands& commands) {
      for (const auto& [key, place] : places_) {
        if (key.node != node || !keepsHistory(plan_, key)) continue;
        for (const gpu::Buffer& buffer : place.own) commands.fill(buffer, 0);
      }
    });
  }
}

std::vector<uint64_t> Bindings::estimateBytes(const graph::Graph& graph, const graph::Plan& plan, uint32_t slots) {
  const Usage usage = usageOf(graph, plan);
  uint32_t nodes = 1;
  for (const auto& batch : plan.batches) nodes = std::max(nodes, batch.node + 1);
  std::vector<uint64_t> bytes(nodes, 0);
  for (const PlaceKey& key : usage.present) {
    if (!choosePlace(usage, key, keepsHistory(plan, key)).transfer)
      bytes[key.node] += graph.resources()[key.resource].bytes() * copiesOf(usage, plan, key);
  }
  for (const auto& link : plan.links) {
    bytes[link.from] += slots * link.bytesPerFrame();
    bytes[link.to] += slots * link.bytesPerFrame();
  }
  return bytes;
}

}  // namespace tandem::exec
