#include "exec/executor.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/log.h"
#include "graph/recording.h"

namespace tandem::exec {
namespace {

constexpr size_t kMostSentFrames = 4096;  // where nobody takes the transfers

/// A pass's view of its resources: only what it declared, wherever it lies on the node that runs it.
class NodeRecording final : public graph::Recording {
 public:
  struct Context {
    gpu::Commands& commands;
    const graph::Pass& pass;
    const Bindings& bindings;
    const RowTables& tables;
    size_t batch;
    uint32_t node, part;
    uint64_t frame;
    const graph::RowDeal* deal;  // of a shareable pass
    std::function<std::vector<graph::RowRun>(uint32_t resource)> runs;
  };
  explicit NodeRecording(Context context) : c_(std::move(context)) {}
  gpu::Commands& commands() override { return c_.commands; }

  graph::RowShare share() const override {
    TANDEM_CHECK(c_.deal != nullptr, "pass '{}' asks for its share of rows and is not shareable", c_.pass.name);
    return {c_.deal->bandTops(c_.part), c_.deal->rowsOf(c_.part)};
  }

 protected:
  const gpu::Buffer& bufferOf(uint32_t resource, bool previous) const override {
    const bool declared = previous ? std::ranges::count(c_.pass.previous, resource) > 0
                                   : names(c_.pass.reads, resource) || names(c_.pass.writes, resource);
    TANDEM_CHECK(declared, "pass '{}' uses a resource that it has not declared", c_.pass.name);
    TANDEM_CHECK(std::ranges::count(c_.pass.rowReads, resource) == 0,
                 "pass '{}' takes a plane as one piece that it declared to read row by row", c_.pass.name);
    if (previous) return c_.bindings.previous(c_.node, resource, c_.frame);
    const uint32_t part = names(c_.pass.writes, resource) ? c_.part : 0;
    return c_.bindings.buffer({c_.node, resource, part}, c_.frame);
  }
  uint64_t rowTableOf(uint32_t resource) const override { return c_.tables.address(c_.batch, resource, c_.frame); }
  std::vector<graph::RowRun> runsOf(uint32_t resource) const override {
    TANDEM_CHECK(std::ranges::count(c_.pass.rowReads, resource) > 0,
                 "pass '{}' copies rows of what it has not declared", c_.pass.name);
    return c_.runs(resource);
  }

 private:
  static bool names(const std::vector<graph::Access>& accesses, uint32_t resource) {
    return std::ranges::count(accesses, resource, &graph::Access::resource) > 0;
  }
  Context c_;
};

}  // namespace

Executor::Executor(topology::Topology& topology, const graph::Graph& graph, graph::Plan plan, uint32_t framesInFlight)
    : topology_(topology), graph_(graph), plan_(std::move(plan)), framesInFlight_(framesInFlight), clocks_(topology) {
  const uint32_t most = plan_.transfers.empty() ? kMostFrames : kLinkSlots;
  TANDEM_CHECK(framesInFlight >= 1 && framesInFlight <= most, "{} frames in flight, 1 to {} are possible",
               framesInFlight, most);
  size_t parts = 1;
  for (const auto& nodes : plan_.nodesOfPass) parts = std::max(parts, nodes.size());
  shares_.assign(parts, 1.0);
  dealRows();
}

Expected<std::unique_ptr<Executor>> Executor::make(topology::Topology& topology, const graph::Graph& graph,
                                                   graph::Plan plan, uint32_t framesInFlight) {
  std::unique_ptr<Executor> made(new Executor(topology, graph, std::move(plan), framesInFlight));
  for (const graph::Transfer& transfer : made->plan_.transfers) {
    const graph::LinkNeed& need = made->plan_.links[transfer.link];
    topology::LinkDesc desc{fmt::format("node {} -> node {}", need.from, need.to), {}, kLinkSlots};
    for (const auto& item : transfer.items) desc.itemBytes.push_back(item.bytes);
    auto link = topology.connect(need.from, need.to, std::move(desc));
    if (!link) return link.refusal();
    made->links_.push_back(std::move(*link));
  }
  made->bindings_ = std::make_unique<Bindings>(topology, graph, made->plan_, made->links_);
  made->bindings_->clearHistory(topology);
  made->rowTables_ = std::make_unique<RowTables>(topology, graph, made->plan_, kLinkSlots);
  made->plannedBytes_.assign(made->links_.size(), 0);
  made->sentFrames_.resize(made->links_.size());
  for (uint32_t node = 0; node < topology.nodes(); ++node)
    made->lanes_.push_back(std::make_unique<Lane>(topology.device(node)));
  for (uint32_t slot = 0; slot < framesInFlight; ++slot) {
    for (size_t batch = 0; batch < made->plan_.batches.size(); ++batch) {
      made->commands_.push_back(std::make_unique<gpu::Commands>(topology.device(made->plan_.batches[batch].node),
                                                                fmt::format("batch {} of frame slot {}", batch, slot)));
    }
  }
  for (const graph::Transfer& transfer : made->plan_.transfers) {
    size_t last = transfer.toBatch;
    for (size_t batch = last; batch < made->plan_.batches.size(); ++batch) {
      const graph::Batch& later = made->plan_.batches[batch];
      // An early one may be submitted before the batch that waits for the transfer.
      if (later.node == made->plan_.links[transfer.link].to && !later.early) last = batch;
    }
    made->lastBatchOfTransferReceiver_.push_back(last);
  }
  log::debug("plan:\n{}", made->plan_.text(graph));
  return made;
}

Executor::~Executor() {
  while (!running_.empty()) {
    try {
      finish(running_.front().frame);
    } catch (const std::exception& error) {
      log::debug("while stopping: {}", error.what());  // whoever waited for a failed frame has been told already
    }
  }
  // A bridge that was about to submit may still do so, with the buffers of any link: all of them stop before one goes.
  for (auto& link : links_) link->close();
  links_.clear();
}

/// After one failure nothing behind it can be submitted: all frames under way fail with it, so that nobody waits for
/// them.
void Executor::abandon(const std::exception_ptr& failure) {
  for (const Running& running : running_) running.ticket->fail(failure);
}

gpu::Commands& Executor::commandsOf(size_t batchIndex, uint64_t frame) {
  return *commands_[(frame % framesInFlight_) * plan_.batches.size() + batchIndex];
}

void Executor::setShares(std::vector<double> shares) {
  TANDEM_CHECK(shares.size() == shares_.size(), "{} shares for {} nodes", shares.size(), shares_.size());
  if (shares == shares_) return;
  shares_ = std::move(shares);
  dealRows();
}

void Executor::dealRows() {
  auto deals = std::make_shared<Deals>();
  const double whole[] = {1.0};
  for (uint32_t pass = 0; pass < graph_.passes().size(); ++pass) {
    if (!graph_.passes()[pass].shareable || plan_.nodesOfPass[pass].empty()) continue;
    const uint32_t rows = graph_.resources()[graph_.passes()[pass].writes.at(0).resource].rows;
    const bool shared = plan_.nodesOfPass[pass].size() > 1;
    deals->emplace(pass, graph::RowDeal(rows, shared ? std::span<const double>(shares_) : std::span(whole)));
  }
  deals_ = std::move(deals);
}

std::vector<uint32_t> Executor::rowsOfNode(uint64_t frame) const {
  std::vector<uint32_t> rows(topology_.nodes(), 0);
  const auto running = std::ranges::find(running_, frame, &Running::frame);
  TANDEM_CHECK(running != running_.end(), "frame {} is not under way", frame);
  for (const auto& [pass, deal] : *running->deals) {
    for (uint32_t part = 0; part < deal.parts(); ++part) rows[plan_.nodesOfPass[pass][part]] = deal.rowsOf(part);
  }
  return rows;
}

uint32_t Executor::unfinished() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(running_, [](const Running& running) { return !running.ticket->finished(); }));
}

/// Bytes of each item that cross in a frame with these deals.
std::vector<uint64_t> Executor::itemBytes(const graph::Transfer& transfer, const Deals& deals) const {
  std::vector<uint64_t> bytes;
  for (const graph::SentItem& item : transfer.items) {
    const auto deal = deals.find(graph_.sharedMaker(item.resource));
    bytes.push_back(deal == deals.end() ? item.bytes
                                        : deal->second.rowsOf(item.part) * graph_.resources()[item.resource].rowBytes);
  }
  return bytes;
}

uint64_t Executor::start() {
  TANDEM_CHECK(running_.size() < framesInFlight_, "{} frames are under way already; finish one first", running_.size());
  const uint64_t frame = started_++;
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  for (auto& link : links_) link->acquire(slot);

  auto ticket = std::make_shared<FrameTicket>(plan_.batches.size());
  running_.push_back({frame, ticket, deals_, {}});
  std::vector<std::shared_ptr<LaneBatch>> batches;
  for (size_t index = 0; index < plan_.batches.size(); ++index) {
    auto batch = std::make_shared<LaneBatch>();
    batch->commands = &commandsOf(index, frame);
    batch->name = fmt::format("frame {} batch {}", frame, index);
    batch->missingArrivals = plan_.batches[index].receives.size();
    batch->early = plan_.batches[index].early;
    batch->ticket = ticket;
    batches.push_back(std::move(batch));
  }
  try {
    for (size_t index = 0; index < batches.size(); ++index) record(index, *batches[index]->commands, frame);
  } catch (...) {
    abandon(std::current_exception());
    throw;
  }
  running_.back().batches = batches;
  for (size_t index = 0; index < batches.size(); ++index) {
    // A batch holds the batches that wait for it, never the other way round: no cycle keeps them alive.
    std::vector<std::shared_ptr<LaneBatch>> receivers;
    std::vector<std::vector<uint64_t>> bytes;
    for (const uint32_t send : plan_.batches[index].sends) {
      receivers.push_back(batches[plan_.transfers[send].toBatch]);
      bytes.push_back(itemBytes(plan_.transfers[send], *deals_));
      const uint64_t sum = std::accumulate(bytes.back().begin(), bytes.back().end(), uint64_t{0});
      plannedBytes_[send] += sum;
      if (sum == 0) continue;
      if (sentFrames_[send].size() == kMostSentFrames) sentFrames_[send].pop_front();
      sentFrames_[send].push_back(frame);
    }
    batches[index]->onSubmitted = [this, index, frame, receivers, bytes](gpu::SyncPoint point) {
      onSubmitted(index, frame, bytes, point, receivers);
    };
    lanes_[plan_.batches[index].node]->enqueue(batches[index]);
  }
  return frame;
}

std::vector<graph::RowRun> Executor::runsOf(uint32_t node, uint32_t resource, uint64_t frame) const {
  const uint32_t rows = graph_.resources()[resource].rows;
  const uint32_t parts = partsOf(graph_, plan_, resource);
  if (parts == 1) return {{&bindings_->buffer({node, resource, 0}, frame), 0, 0, rows}};
  std::vector<graph::RowRun> runs;
  for (const graph::RowDeal::Run& run : running_.back().deals->at(graph_.sharedMaker(resource)).runs())
    runs.push_back({&bindings_->buffer({node, resource, run.part}, frame), run.partRow, run.row, run.count});
  return runs;
}

void Executor::record(size_t batchIndex, gpu::Commands& commands, uint64_t frame) {
  const graph::Batch& batch = plan_.batches[batchIndex];
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  commands.begin();
  commands.barrier();  // earlier frames of this queue are done with what this one writes
  rowTables_->update(commands, batchIndex, frame,
                     [&](uint32_t resource) { return runsOf(batch.node, resource, frame); });
  for (const uint32_t index : batch.receives) {
    const graph::Transfer& transfer = plan_.transfers[index];
    const std::vector<uint64_t> bytes = itemBytes(transfer, *running_.back().deals);
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (bytes[position] == 0 || !bindings_->copiesIn(transfer, item)) continue;
      const gpu::Buffer& own = bindings_->buffer({batch.node, item.resource, item.part}, frame);
      commands.copy(links_[index]->target(position, slot), own, bytes[position]);
    }
  }
  commands.barrier();
  for (const uint32_t pass : batch.passes) recordPass(pass, batchIndex, commands, frame);
  for (const uint32_t index : batch.sends) {
    const graph::Transfer& transfer = plan_.transfers[index];
    const std::vector<uint64_t> bytes = itemBytes(transfer, *running_.back().deals);
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (bytes[position] == 0 || !bindings_->copiesOut(transfer, item)) continue;
      const gpu::Buffer& own = item.previous ? bindings_->previous(batch.node, item.resource, frame)
                                             : bindings_->buffer({batch.node, item.resource, item.part}, frame);
      commands.copy(own, links_[index]->source(position, slot), bytes[position]);
    }
  }
  commands.barrier();
  commands.end();
}

void Executor::recordPass(uint32_t passIndex, size_t batchIndex, gpu::Commands& commands, uint64_t frame) {
  const graph::Pass& pass = graph_.passes()[passIndex];
  const uint32_t node = plan_.batches[batchIndex].node;
  const auto deal = running_.back().deals->find(passIndex);
  NodeRecording recording({commands, pass, *bindings_, *rowTables_, batchIndex, node,
                           partMadeBy(plan_, passIndex, node), frame,
                           deal == running_.back().deals->end() ? nullptr : &deal->second,
                           [this, node, frame](uint32_t resource) { return runsOf(node, resource, frame); }});
  commands.beginSection(pass.name);
  pass.record(recording);
  if (passIndex == slowPass_) recordSpins(commands, slowSpins_[node]);
  commands.endSection();
  commands.barrier();
}

std::optional<Refusal> Executor::slowDown(const SlowPass& slow) {
  std::string names;
  for (const graph::Pass& pass : graph_.passes()) names += (names.empty() ? "" : ", ") + pass.name;
  const auto pass = std::ranges::find(graph_.passes(), slow.pass, &graph::Pass::name);
  if (pass == graph_.passes().end())
    return refuse(ExitCode::WrongUsage, "no pass is called '{}': {}", slow.pass, names);
  slowPass_ = static_cast<uint32_t>(pass - graph_.passes().begin());
  for (uint32_t node = 0; node < topology_.nodes(); ++node)
    slowSpins_.push_back(spinsFor(topology_.device(node), slow.milliseconds));
  return std::nullopt;
}

/// Runs on whichever thread submitted the batch: the render thread or a bridge. `receivers`: per send, the batch that
/// waits for it.
void Executor::onSubmitted(size_t batchIndex, uint64_t frame, const std::vector<std::vector<uint64_t>>& bytesOfSends,
                           gpu::SyncPoint point, const std::vector<std::shared_ptr<LaneBatch>>& receivers) {
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  const std::vector<uint32_t>& sends = plan_.batches[batchIndex].sends;
  for (size_t send = 0; send < sends.size(); ++send) {
    const std::shared_ptr<LaneBatch>& receiver = receivers[send];
    Lane& lane = *lanes_[plan_.links[plan_.transfers[sends[send]].link].to];
    links_[sends[send]]->send(slot, point, bytesOfSends[send],
                              [receiver, &lane](const topology::Arrival& arrival) { lane.arrived(receiver, arrival); });
  }
  for (size_t index = 0; index < plan_.transfers.size(); ++index) {
    if (lastBatchOfTransferReceiver_[index] == batchIndex) links_[index]->release(slot, point);
  }
}

std::vector<PassReport> Executor::finish(uint64_t frame) {
  TANDEM_CHECK(!running_.empty() && running_.front().frame == frame, "frame {} is not the oldest under way", frame);
  const Running running = std::move(running_.front());
  running_.pop_front();
  double limit = 0.0;
  for (uint32_t node = 0; node < topology_.nodes(); ++node)
    limit = std::max(limit, topology_.device(node).waitLimitSeconds());
  try {
    running.ticket->wait(limit, fmt::format("frame {}", frame));
  } catch (...) {
    running.ticket->fail(std::current_exception());
    abandon(std::current_exception());
    throw;
  }

  const uint64_t doneNs = gpu::hostNanoseconds();
  std::vector<BatchSections> sections;
  for (size_t index = 0; index < plan_.batches.size(); ++index) {
    sections.push_back(
        {plan_.batches[index].node, running.batches[index]->submittedNs, commandsOf(index, frame).times()});
  }
  std::vector<PassReport> reports = clocks_.place(sections, doneNs);
  for (uint32_t node = 0; node < topology_.nodes(); ++node) {
    if (!topology_.device(node).lost()) topology_.device(node).collect();
  }
  return reports;
}

std::vector<TransferReport> Executor::takeTransfers() {
  std::vector<TransferReport> transfers;
  for (size_t index = 0; index < links_.size(); ++index) {
    const graph::LinkNeed& need = plan_.links[plan_.transfers[index].link];
    for (const topology::LinkEvent& event : links_[index]->takeEvents()) {
      std::deque<uint64_t>& frames = sentFrames_[index];
      if (frames.empty()) break;
      transfers.push_back({frames.front(), need.from, need.to, event});
      frames.pop_front();
    }
  }
  return transfers;
}

std::vector<LinkUse> Executor::linkReports() {
  TANDEM_CHECK(running_.empty(), "link reports are asked for while {} frames are under way", running_.size());
  std::vector<LinkUse> uses;
  for (size_t index = 0; index < links_.size(); ++index) {
    const graph::Transfer& transfer = plan_.transfers[index];
    uint64_t planned = 0;
    for (const auto& item : transfer.items) planned += item.bytes;
    uses.push_back({plan_.links[transfer.link].from, plan_.links[transfer.link].to, planned, plannedBytes_[index],
                    links_[index]->report()});
  }
  return uses;
}

}  // namespace tandem::exec
