#include "exec/row_tables.h"

#include <algorithm>

#include "base/check.h"
#include "gpu/commands.h"

namespace tandem::exec {

RowTables::RowTables(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan, uint32_t slots)
    : graph_(graph), batches_(plan.batches.size()) {
  for (size_t index = 0; index < batches_.size(); ++index) {
    Batch& batch = batches_[index];
    uint64_t rows = 0;
    for (const uint32_t pass : plan.batches[index].passes) {
      for (const uint32_t resource : graph.passes()[pass].rowReads) {
        if (std::ranges::find(batch.resources, resource) != batch.resources.end()) continue;
        batch.resources.push_back(resource);
        batch.offsets.push_back(rows);
        rows += graph.resources()[resource].rows;
      }
    }
    for (uint32_t slot = 0; rows > 0 && slot < slots; ++slot) {
      batch.slots.push_back({gpu::Buffer(topology.device(plan.batches[index].node), rows * sizeof(uint64_t),
                                         gpu::Memory::Device, fmt::format("row tables of batch {}", index)),
                             {}});
    }
  }
}

void RowTables::update(gpu::Commands& commands, size_t batchIndex, uint64_t frame,
                       const std::function<std::vector<graph::RowRun>(uint32_t resource)>& runs) {
  Batch& batch = batches_[batchIndex];
  if (batch.slots.empty()) return;
  Slot& slot = batch.slots[frame % batch.slots.size()];
  std::vector<uint64_t> content(slot.buffer.bytes() / sizeof(uint64_t));
  for (size_t i = 0; i < batch.resources.size(); ++i) {
    const uint64_t rowBytes = graph_.resources()[batch.resources[i]].rowBytes;
    for (const graph::RowRun& run : runs(batch.resources[i])) {
      for (uint32_t row = 0; row < run.count; ++row)
        content[batch.offsets[i] + run.row + row] = run.buffer->address() + (run.bufferRow + row) * rowBytes;
    }
  }
  if (content == slot.content) return;
  commands.update(slot.buffer, 0, std::as_bytes(std::span(content)));
  slot.content = std::move(content);
}

uint64_t RowTables::address(size_t batchIndex, uint32_t resource, uint64_t frame) const {
  const Batch& batch = batches_[batchIndex];
  const auto found = std::ranges::find(batch.resources, resource);
  TANDEM_CHECK(found != batch.resources.end(), "'{}' is read row by row without having been declared so",
               graph_.resources()[resource].name);
  const uint64_t offset = batch.offsets[static_cast<size_t>(found - batch.resources.begin())];
  return batch.slots[frame % batch.slots.size()].buffer.address() + offset * sizeof(uint64_t);
}

}  // namespace tandem::exec
