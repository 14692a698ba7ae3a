#include "topology/link_staged.h"

namespace tandem::topology {
namespace {

double sum(const std::vector<gpu::PassTime>& times) {
  double ms = 0.0;
  for (const auto& time : times) ms += time.milliseconds;
  return ms;
}

}  // namespace

void StagedLink::makeSlot(uint32_t slot) {
  Stage stage;
  for (size_t item = 0; item < desc().itemBytes.size(); ++item) {
    stage.legs.push_back(makeLeg(desc().itemBytes[item], fmt::format("{} item {} slot {}", desc().name, item, slot)));
  }
  stage.sendCommands = std::make_unique<gpu::Commands>(sender(), fmt::format("{} slot {} send", desc().name, slot),
                                                       sender().transferQueue());
  stage.receiveCommands = std::make_unique<gpu::Commands>(
      receiver(), fmt::format("{} slot {} receive", desc().name, slot), receiver().transferQueue());
  stages_.push_back(std::move(stage));
}

gpu::SyncPoint StagedLink::depart(uint32_t slot, std::span<const uint64_t> itemBytes, gpu::SyncPoint ready) {
  Stage& stage = stages_[slot];
  gpu::Commands& commands = *stage.sendCommands;
  commands.begin();
  commands.barrier();  // where one queue does all, its earlier batches are not waited for by semaphore
  commands.beginSection("send");
  for (uint32_t item = 0; item < itemBytes.size(); ++item) {
    if (itemBytes[item] > 0) commands.copy(source(item, slot), stage.legs[item].outbound, itemBytes[item]);
  }
  commands.endSection();
  commands.barrierToHost();
  commands.end();
  const gpu::SyncPoint waits[] = {ready};
  return sender().transferQueue().submit(commands.handle(), waits, desc().name + " send");
}

gpu::SyncPoint StagedLink::deliver(uint32_t slot, std::span<const uint64_t> itemBytes) {
  Stage& stage = stages_[slot];
  const auto start = LinkPacer::Clock::now();
  carry(stage.legs, itemBytes);
  stage.hostMs = std::chrono::duration<double, std::milli>(LinkPacer::Clock::now() - start).count();

  gpu::Commands& commands = *stage.receiveCommands;
  commands.begin();
  commands.barrier();
  commands.beginSection("receive");
  for (uint32_t item = 0; item < itemBytes.size(); ++item) {
    if (itemBytes[item] > 0) commands.copy(stage.legs[item].inbound, target(item, slot), itemBytes[item]);
  }
  commands.endSection();
  commands.end();
  return receiver().transferQueue().submit(commands.handle(), {}, desc().name + " receive");
}

BridgedLink::LegTimes StagedLink::legTimes(uint32_t slot) {
  const Stage& stage = stages_[slot];
  return {departMs(slot), stage.hostMs, sum(stage.receiveCommands->times()), 0.0};
}

double StagedLink::departMs(uint32_t slot) { return sum(stages_[slot].sendCommands->times()); }

}  // namespace tandem::topology
