// Row tables: for planes that are read row by row, one 64-bit device address per row, in memory of the node that reads.
// One table a plane, batch and slot; uploaded by the batch itself, only when it differs from what the slot holds.
// Render thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/buffer.h"
#include "graph/plan.h"
#include "graph/recording.h"
#include "topology/topology.h"

namespace tandem::exec {

class RowTables {
 public:
  RowTables(topology::Topology& topology, const graph::Graph& graph, const graph::Plan& plan, uint32_t slots);

  /// Records what brings the tables of a batch up to date. `runs`: where the rows of a resource lie in this frame. A
  /// barrier must follow.
  void update(gpu::Commands& commands, size_t batch, uint64_t frame,
              const std::function<std::vector<graph::RowRun>(uint32_t resource)>& runs);
  /// Device address of the table that `batch` has for `resource`.
  uint64_t address(size_t batch, uint32_t resource, uint64_t frame) const;

 private:
  struct Slot {
    gpu::Buffer buffer;
    std::vector<uint64_t> content;
  };
  struct Batch {
    std::vector<uint32_t> resources;
    std::vector<uint64_t> offsets;  // in rows, per resource
    std::vector<Slot> slots;
  };
  const graph::Graph& graph_;
  std::vector<Batch> batches_;
};

}  // namespace tandem::exec
