// From passes to batches and transfers, in one walk over the passes in their order. What makes the result right:
//   - A version is sent from the batch that holds its writer, and that batch is closed then: what a node sends is its
//   memory at the
//     batch's end, so no later pass may be added that could change it.
//   - A batch that receives is opened after every batch it receives from; so the order of opening is an order of
//   submission.
//   - A transfer may gain items later. They land at its batch's start, before passes that did not ask for them; none of
//   those can
//     want an older version, because all of them were declared after the sending batch was closed.
#include <algorithm>
#include <optional>
#include <set>

#include "graph/plan.h"

namespace tandem::graph {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Passes that a side effect depends on: through versions read, versions changed in place, and history.
std::vector<bool> livePasses(const Graph& graph) {
  const auto& passes = graph.passes();
  std::vector<std::vector<uint32_t>> makers(graph.resources().size());  // [resource][version] -> pass
  for (uint32_t pass = 0; pass < passes.size(); ++pass) {
    for (const Access& write : passes[pass].writes) makers[write.resource].push_back(pass);
  }
  std::vector<bool> live(passes.size(), false);
  std::vector<uint32_t> open;
  const auto want = [&](uint32_t pass) {
    if (!live[pass]) open.push_back(pass);
    live[pass] = true;
  };
  for (uint32_t pass = 0; pass < passes.size(); ++pass) {
    if (passes[pass].sideEffect) want(pass);
  }
  while (!open.empty()) {
    const Pass& pass = passes[open.back()];
    open.pop_back();
    for (const Access& read : pass.reads) want(makers[read.resource].at(read.version));
    for (const Access& write : pass.writes) {
      if (write.version > 0) want(makers[write.resource].at(write.version - 1));
    }
    for (uint32_t resource : pass.previous) want(makers[resource].back());
  }
  return live;
}

/// Something that a pass needs on its node and that is not there.
struct Need {
  uint32_t fromBatch = 0;
  SentItem item;
};

class Compiler {
 public:
  Compiler(const Graph& graph, const Placement& placement) : graph_(graph), nodes_(placement.nodes) {
    place(placement);
    openBatch_.assign(nodes_, kNone);
    historyBatch_.assign(nodes_, kNone);
    writerBatches_.resize(graph.resources().size());
    present_.resize(graph.resources().size());
    previousPresent_.resize(graph.resources().size());
  }

  Plan run() {
    makeHistoryBatches();
    for (uint32_t pass = 0; pass < graph_.passes().size(); ++pass) {
      const std::vector<uint32_t>& nodes = plan_.nodesOfPass[pass];
      for (uint32_t part = 0; part < nodes.size(); ++part) addPass(pass, part);
    }
    for (Batch& batch : plan_.batches) batch.early = isEarly(batch);
    return std::move(plan_);
  }

 private:
  void place(const Placement& placement);
  void makeHistoryBatches();
  void addPass(uint32_t index, uint32_t part);
  bool isEarly(const Batch& batch) const;
  std::vector<Need> needsOf(const Pass& pass, uint32_t node);
  void batchFor(uint32_t node, const std::vector<Need>& needs);
  void send(uint32_t node, Need need);
  uint32_t findTransfer(uint32_t fromBatch, uint32_t node) const;
  uint32_t addTransfer(uint32_t fromBatch, uint32_t toBatch);
  uint32_t findOrAddLink(uint32_t from, uint32_t to);
  uint32_t addBatch(uint32_t node);
  SentItem item(uint32_t resource, uint32_t version, bool previous, uint32_t part = 0) const {
    return {resource, version, previous, part, graph_.resources()[resource].bytes(), 0};
  }

  const Graph& graph_;
  const uint32_t nodes_;
  Plan plan_;
  std::vector<uint32_t> openBatch_;     // per node: the batch that takes its next pass, or kNone
  std::vector<uint32_t> historyBatch_;  // per node: the batch that sends its history, or kNone
  // Per resource: the batch of its last writer so far; of a shared one, the batch of each part.
  std::vector<std::vector<uint32_t>> writerBatches_;
  std::vector<std::set<uint32_t>> present_;  // per resource: nodes that hold all of its version of now
  std::vector<std::set<uint32_t>>
      previousPresent_;  // per resource: nodes beside its home that hold its previous content
};

/// Node of every live pass, home of every resource, and which have history.
void Compiler::place(const Placement& placement) {
  const std::vector<bool> live = livePasses(graph_);
  plan_.nodesOfPass.resize(graph_.passes().size());
  plan_.homeOfResource.assign(graph_.resources().size(), kNone);
  plan_.hasHistory.assign(graph_.resources().size(), false);
  for (uint32_t index = 0; index < graph_.passes().size(); ++index) {
    if (!live[index]) continue;
    const Pass& pass = graph_.passes()[index];
    const auto named = placement.nodeOfPass.find(pass.name);
    plan_.nodesOfPass[index] = {named == placement.nodeOfPass.end() ? 0 : named->second};
    const auto shared = placement.sharedBy.find(pass.name);
    if (shared != placement.sharedBy.end()) plan_.nodesOfPass[index] = shared->second;
    for (const Access& write : pass.writes) plan_.homeOfResource[write.resource] = plan_.nodesOfPass[index][0];
    for (uint32_t resource : pass.previous) plan_.hasHistory[resource] = true;
    plan_.temporal = plan_.temporal || pass.temporal();
  }
}

/// History is there before the frame begins, so it leaves first, from a batch without passes: its reader waits for no
/// work of this frame.
void Compiler::makeHistoryBatches() {
  for (uint32_t index = 0; index < graph_.passes().size(); ++index) {
    for (const uint32_t node : plan_.nodesOfPass[index]) {
      for (uint32_t resource : graph_.passes()[index].previous) {
        const uint32_t home = plan_.homeOfResource[resource];
        if (home != node && historyBatch_[home] == kNone) historyBatch_[home] = addBatch(home);
      }
    }
  }
}

void Compiler::addPass(uint32_t index, uint32_t part) {
  const Pass& pass = graph_.passes()[index];
  const uint32_t node = plan_.nodesOfPass[index][part];
  const std::vector<Need> needs = needsOf(pass, node);
  batchFor(node, needs);
  for (const Need& need : needs) send(node, need);
  plan_.batches[openBatch_[node]].passes.push_back(index);
  const bool shared = plan_.nodesOfPass[index].size() > 1;
  for (const Access& write : pass.writes) {
    if (part == 0) writerBatches_[write.resource].clear();
    writerBatches_[write.resource].push_back(openBatch_[node]);
    present_[write.resource].clear();
    if (!shared) present_[write.resource].insert(node);
  }
}

/// Nothing comes in and nothing is read: neither of this frame nor of the one before. Nor has what it makes a past,
/// which those that wait still read.
bool Compiler::isEarly(const Batch& batch) const {
  if (batch.passes.empty() || !batch.receives.empty()) return false;
  return std::ranges::all_of(batch.passes, [this](uint32_t index) {
    const Pass& pass = graph_.passes()[index];
    return pass.reads.empty() && pass.previous.empty() && std::ranges::all_of(pass.writes, [this](const Access& write) {
             return write.version == 0 && !plan_.hasHistory[write.resource];
           });
  });
}

/// What has to come to `node` for this pass; from here on it counts as present there.
std::vector<Need> Compiler::needsOf(const Pass& pass, uint32_t node) {
  std::vector<Need> needs;
  const auto current = [&](uint32_t resource, uint32_t version) {
    if (!present_[resource].insert(node).second) return;
    const std::vector<uint32_t>& writers = writerBatches_[resource];
    for (uint32_t part = 0; part < writers.size(); ++part) {
      if (plan_.batches[writers[part]].node != node)
        needs.push_back({writers[part], item(resource, version, false, part)});
    }
  };
  for (const Access& read : pass.reads) current(read.resource, read.version);
  for (const Access& write : pass.writes) {
    if (write.version > 0) current(write.resource, write.version - 1);
  }
  for (uint32_t resource : pass.previous) {
    const uint32_t home = plan_.homeOfResource[resource];
    if (home == node || !previousPresent_[resource].insert(node).second) continue;
    needs.push_back({historyBatch_[home], item(resource, graph_.version(resource), true)});
  }
  return needs;
}

/// Closes the batches that send. The node's own open batch stays if all comes by transfers that it, or one before it,
/// waits for anyway.
void Compiler::batchFor(uint32_t node, const std::vector<Need>& needs) {
  for (const Need& need : needs) {
    uint32_t& senders = openBatch_[plan_.batches[need.fromBatch].node];
    if (senders == need.fromBatch) senders = kNone;
    if (findTransfer(need.fromBatch, node) == kNone) openBatch_[node] = kNone;
  }
  if (openBatch_[node] == kNone) openBatch_[node] = addBatch(node);
}

void Compiler::send(uint32_t node, Need need) {
  uint32_t transfer = findTransfer(need.fromBatch, node);
  if (transfer == kNone) transfer = addTransfer(need.fromBatch, openBatch_[node]);
  std::vector<uint64_t>& itemBytes = plan_.links[plan_.transfers[transfer].link].itemBytes;
  need.item.linkItem = static_cast<uint32_t>(itemBytes.size());
  itemBytes.push_back(need.item.bytes);
  plan_.transfers[transfer].items.push_back(need.item);
}

uint32_t Compiler::findTransfer(uint32_t fromBatch, uint32_t node) const {
  for (uint32_t transfer : plan_.batches[fromBatch].sends) {
    if (plan_.links[plan_.transfers[transfer].link].to == node) return transfer;
  }
  return kNone;
}

uint32_t Compiler::addTransfer(uint32_t fromBatch, uint32_t toBatch) {
  const auto transfer = static_cast<uint32_t>(plan_.transfers.size());
  const uint32_t link = findOrAddLink(plan_.batches[fromBatch].node, plan_.batches[toBatch].node);
  plan_.transfers.push_back({link, fromBatch, toBatch, {}});
  plan_.batches[fromBatch].sends.push_back(transfer);
  plan_.batches[toBatch].receives.push_back(transfer);
  return transfer;
}

uint32_t Compiler::findOrAddLink(uint32_t from, uint32_t to) {
  const auto same = [&](const LinkNeed& link) { return link.from == from && link.to == to; };
  const auto found = std::find_if(plan_.links.begin(), plan_.links.end(), same);
  if (found != plan_.links.end()) return static_cast<uint32_t>(found - plan_.links.begin());
  plan_.links.push_back({from, to, {}});
  return static_cast<uint32_t>(plan_.links.size() - 1);
}

uint32_t Compiler::addBatch(uint32_t node) {
  plan_.batches.push_back({node, {}, {}, {}});
  return static_cast<uint32_t>(plan_.batches.size() - 1);
}

/// Refuses a pass or a node that does not exist.
std::optional<Refusal> checkNamed(const Graph& graph, const Placement& placement, const std::string& name,
                                  uint32_t node) {
  if (std::ranges::find(graph.passes(), name, &Pass::name) == graph.passes().end()) {
    std::string names;
    for (const Pass& pass : graph.passes()) names += (names.empty() ? "" : ", ") + pass.name;
    return refuse(ExitCode::WrongUsage, "the placement names pass '{}', which this frame does not have; it has: {}",
                  name, names);
  }
  if (node < placement.nodes) return std::nullopt;
  return refuse(ExitCode::WrongUsage, "the placement puts pass '{}' on node {}, but there are {} nodes, counted from 0",
                name, node, placement.nodes);
}

}  // namespace

Expected<Plan> compile(const Graph& graph, const Placement& placement) {
  if (placement.nodes == 0) return refuse(ExitCode::WrongUsage, "the placement has 0 nodes: at least 1 is needed");
  for (const auto& [name, node] : placement.nodeOfPass) {
    if (auto refusal = checkNamed(graph, placement, name, node)) return *std::move(refusal);
  }
  for (const auto& [name, nodes] : placement.sharedBy) {
    for (const uint32_t node : nodes) {
      if (auto refusal = checkNamed(graph, placement, name, node)) return *std::move(refusal);
    }
    const auto pass = std::ranges::find(graph.passes(), name, &Pass::name);
    const bool twice = std::set<uint32_t>(nodes.begin(), nodes.end()).size() != nodes.size();
    if (nodes.empty() || twice || !pass->shareable) {
      return refuse(ExitCode::WrongUsage, "the placement shares pass '{}' among {} nodes: {}", name, nodes.size(),
                    twice           ? "one is named twice"
                    : nodes.empty() ? "at least 1 is needed"
                                    : "it cannot be shared");
    }
  }
  return Compiler(graph, placement).run();
}

}  // namespace tandem::graph
