#include "exec/bindings.h"

#include <set>

#include "gpu/commands.h"

namespace tandem::exec {
namespace {

using Key = std::pair<uint32_t, uint32_t>;  // (node, resource)

/// How each resource is used on each node.
struct Usage {
  std::set<Key> present;            // the node reads, makes or changes it
  std::map<Key, uint32_t> writers;  // passes of the node that make or change it
  std::map<Key, std::vector<std::pair<uint32_t, uint32_t>>> sent, received;  // (transfer, item), current content only
};

Usage usageOf(const graph::Graph& graph, const graph::Plan& plan) {
  Usage usage;
  for (size_t index = 0; index < graph.passes().size(); ++index) {
    const uint32_t node = plan.nodeOfPass[index];
    if (node == UINT32_MAX) continue;
    for (const auto& read : graph.passes()[index].reads) usage.present.insert({node, read.resource});
    for (const auto& write : graph.passes()[index].writes) {
      usage.present.insert({node, write.resource});
      ++usage.writers[{node, write.resource}];
    }
  }
  for (uint32_t index = 0; index < plan.transfers.size(); ++index) {
    const graph::Transfer& transfer = plan.transfers[index];
    const graph::LinkNeed& link = plan.links[transfer.link];
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (item.previous) continue;
      usage.sent[{link.from, item.resource}].push_back({index, position});
      usage.received[{link.to, item.resource}].push_back({index, position});
      usage.present.insert({link.from, item.resource});
      usage.present.insert({link.to, item.resource});
    }
  }
  return usage;
}

/// Direct use of a slot: the only content that this node ever makes of it goes over one link once, or arrives over one
/// link once.
Place choosePlace(const Usage& usage, const Key& key, bool history) {
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

bool keepsHistory(const graph::Plan& plan, const Key& key) {
  return plan.hasHistory[key.second] && plan.homeOfResource[key.second] == key.first;
}

}  // namespace

Bindings::Bindings(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan,
                   const std::vector<std::unique_ptr<topology::Link>>& links)
    : graph_(graph), plan_(plan), links_(links) {
  const Usage usage = usageOf(graph, plan);
  for (const Key& key : usage.present) {
    const bool history = keepsHistory(plan, key);
    Place place = choosePlace(usage, key, history);
    const graph::BufferDesc& desc = graph.resources()[key.second];
    for (uint32_t copy = 0; !place.transfer && copy < (history ? 2u : 1u); ++copy) {
      place.own.emplace_back(topology.device(key.first), desc.bytes(), gpu::Memory::Device, desc.name);
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
      previousPlaces_.emplace(Key{plan.links[transfer.link].to, transfer.items[position].resource}, std::move(place));
    }
  }
}

const Place& Bindings::place(uint32_t node, uint32_t resource) const {
  const auto found = places_.find({node, resource});
  TANDEM_CHECK(found != places_.end(), "'{}' is not on node {}", graph_.resources()[resource].name, node);
  return found->second;
}

const gpu::Buffer& Bindings::buffer(uint32_t node, uint32_t resource, bool previous, uint64_t frame) const {
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  if (previous) {
    if (const auto arrived = previousPlaces_.find({node, resource}); arrived != previousPlaces_.end()) {
      return links_[*arrived->second.transfer]->target(arrived->second.item, slot);
    }
    const Place& home = place(node, resource);
    TANDEM_CHECK(home.own.size() == 2, "'{}' keeps no history on node {}", graph_.resources()[resource].name, node);
    return home.own[(frame + 1) % 2];
  }
  const Place& found = place(node, resource);
  if (!found.transfer) return found.own[frame % found.own.size()];
  const topology::Link& link = *links_[*found.transfer];
  return found.isSource ? link.source(found.item, slot) : link.target(found.item, slot);
}

bool Bindings::copiesOut(const graph::Transfer& transfer, const graph::SentItem& item) const {
  if (item.previous) return true;
  const Place& from = place(plan_.links[transfer.link].from, item.resource);
  return !(from.transfer && from.isSource);
}

bool Bindings::copiesIn(const graph::Transfer& transfer, const graph::SentItem& item) const {
  return !item.previous && !place(plan_.links[transfer.link].to, item.resource).transfer;
}

void Bindings::clearHistory(topology::Topology& topology) const {
  for (uint32_t node = 0; node < topology.nodes(); ++node) {
    gpu::runOnce(topology.device(node), "clear history", [&](gpu::Commands& commands) {
      for (const auto& [key, place] : places_) {
        if (key.first != node || place.own.size() != 2) continue;
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
  for (const Key& key : usage.present) {
    const bool history = keepsHistory(plan, key);
    if (!choosePlace(usage, key, history).transfer)
      bytes[key.first] += graph.resources()[key.second].bytes() * (history ? 2 : 1);
  }
  for (const auto& link : plan.links) {
    bytes[link.from] += slots * link.bytesPerFrame();
    bytes[link.to] += slots * link.bytesPerFrame();
  }
  return bytes;
}

}  // namespace tandem::exec
