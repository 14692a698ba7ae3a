#include "exec/executor.h"

#include <algorithm>

#include "base/log.h"
#include "graph/recording.h"

namespace tandem::exec {
namespace {

/// A pass's view of its resources: only what it declared, wherever it lies on the node that runs it.
class NodeRecording final : public graph::Recording {
 public:
  NodeRecording(gpu::Commands& commands, const graph::Pass& pass, const Bindings& bindings, uint32_t node,
                uint64_t frame)
      : commands_(commands), pass_(pass), bindings_(bindings), node_(node), frame_(frame) {}
  gpu::Commands& commands() override { return commands_; }

 protected:
  const gpu::Buffer& bufferOf(uint32_t resource, bool previous) const override {
    const auto names = [&](const graph::Access& access) { return access.resource == resource; };
    const bool declared = previous ? std::count(pass_.previous.begin(), pass_.previous.end(), resource) > 0
                                   : std::any_of(pass_.reads.begin(), pass_.reads.end(), names) ||
                                         std::any_of(pass_.writes.begin(), pass_.writes.end(), names);
    TANDEM_CHECK(declared, "pass '{}' uses a resource that it has not declared", pass_.name);
    return bindings_.buffer(node_, resource, previous, frame_);
  }

 private:
  gpu::Commands& commands_;
  const graph::Pass& pass_;
  const Bindings& bindings_;
  uint32_t node_;
  uint64_t frame_;
};

}  // namespace

Executor::Executor(topology::Topology& topology, const graph::Graph& graph, graph::Plan plan, uint32_t framesInFlight)
    : topology_(topology), graph_(graph), plan_(std::move(plan)), framesInFlight_(framesInFlight) {
  TANDEM_CHECK(framesInFlight >= 1 && framesInFlight <= kLinkSlots, "{} frames in flight, 1 to {} are possible",
               framesInFlight, kLinkSlots);
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
      if (made->plan_.batches[batch].node == made->plan_.links[transfer.link].to) last = batch;
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

uint64_t Executor::start() {
  TANDEM_CHECK(running_.size() < framesInFlight_, "{} frames are under way already; finish one first", running_.size());
  const uint64_t frame = started_++;
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  for (auto& link : links_) link->acquire(slot);

  auto ticket = std::make_shared<FrameTicket>(plan_.batches.size());
  running_.push_back({frame, ticket});
  std::vector<std::shared_ptr<LaneBatch>> batches;
  for (size_t index = 0; index < plan_.batches.size(); ++index) {
    auto batch = std::make_shared<LaneBatch>();
    batch->commands = &commandsOf(index, frame);
    batch->name = fmt::format("frame {} batch {}", frame, index);
    batch->missingArrivals = plan_.batches[index].receives.size();
    batch->ticket = ticket;
    batches.push_back(std::move(batch));
  }
  try {
    for (size_t index = 0; index < batches.size(); ++index) record(index, *batches[index]->commands, frame);
  } catch (...) {
    abandon(std::current_exception());
    throw;
  }
  for (size_t index = 0; index < batches.size(); ++index) {
    // A batch holds the batches that wait for it, never the other way round: no cycle keeps them alive.
    std::vector<std::shared_ptr<LaneBatch>> receivers;
    for (const uint32_t send : plan_.batches[index].sends) receivers.push_back(batches[plan_.transfers[send].toBatch]);
    batches[index]->onSubmitted = [this, index, frame, receivers](gpu::SyncPoint point) {
      onSubmitted(index, frame, point, receivers);
    };
    lanes_[plan_.batches[index].node]->enqueue(batches[index]);
  }
  return frame;
}

void Executor::record(size_t batchIndex, gpu::Commands& commands, uint64_t frame) {
  const graph::Batch& batch = plan_.batches[batchIndex];
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  commands.begin();
  commands.barrier();  // earlier frames of this queue are done with what this one writes
  for (const uint32_t index : batch.receives) {
    const graph::Transfer& transfer = plan_.transfers[index];
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (!bindings_->copiesIn(transfer, item)) continue;
      const gpu::Buffer& own = bindings_->buffer(batch.node, item.resource, false, frame);
      commands.copy(links_[index]->target(position, slot), own, item.bytes);
    }
  }
  commands.barrier();
  for (const uint32_t pass : batch.passes) recordPass(pass, batch.node, commands, frame);
  for (const uint32_t index : batch.sends) {
    const graph::Transfer& transfer = plan_.transfers[index];
    for (uint32_t position = 0; position < transfer.items.size(); ++position) {
      const graph::SentItem& item = transfer.items[position];
      if (!bindings_->copiesOut(transfer, item)) continue;
      const gpu::Buffer& own = bindings_->buffer(batch.node, item.resource, item.previous, frame);
      commands.copy(own, links_[index]->source(position, slot), item.bytes);
    }
  }
  commands.barrier();
  commands.end();
}

void Executor::recordPass(uint32_t passIndex, uint32_t node, gpu::Commands& commands, uint64_t frame) {
  const graph::Pass& pass = graph_.passes()[passIndex];
  NodeRecording recording(commands, pass, *bindings_, node, frame);
  commands.beginSection(pass.name);
  pass.record(recording);
  commands.endSection();
  commands.barrier();
}

/// Runs on whichever thread submitted the batch: the render thread or a bridge. `receivers`: per send, the batch that
/// waits for it.
void Executor::onSubmitted(size_t batchIndex, uint64_t frame, gpu::SyncPoint point,
                           const std::vector<std::shared_ptr<LaneBatch>>& receivers) {
  const auto slot = static_cast<uint32_t>(frame % kLinkSlots);
  const std::vector<uint32_t>& sends = plan_.batches[batchIndex].sends;
  for (size_t send = 0; send < sends.size(); ++send) {
    const std::shared_ptr<LaneBatch>& receiver = receivers[send];
    Lane& lane = *lanes_[plan_.links[plan_.transfers[sends[send]].link].to];
    links_[sends[send]]->send(slot, point,
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

  std::vector<PassReport> reports;
  for (size_t index = 0; index < plan_.batches.size(); ++index) {
    for (const auto& time : commandsOf(index, frame).times())
      reports.push_back({time.name, plan_.batches[index].node, time.milliseconds});
  }
  for (uint32_t node = 0; node < topology_.nodes(); ++node) topology_.device(node).collect();
  return reports;
}

std::vector<LinkUse> Executor::linkReports() {
  TANDEM_CHECK(running_.empty(), "link reports are asked for while {} frames are under way", running_.size());
  std::vector<LinkUse> uses;
  for (size_t index = 0; index < links_.size(); ++index) {
    const graph::Transfer& transfer = plan_.transfers[index];
    uint64_t planned = 0;
    for (const auto& item : transfer.items) planned += item.bytes;
    uses.push_back({plan_.links[transfer.link].from, plan_.links[transfer.link].to, planned, links_[index]->report()});
  }
  return uses;
}

}  // namespace tandem::exec
