// Brings finished planes to the host: a pass with a side effect that copies into a ring of host-cached buffers, one
// slot per frame in flight. The host reads a slot after the executor says that the frame recorded into it is done, and
// before that slot is set again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "gpu/buffer.h"
#include "graph/graph.h"
#include "graph/recording.h"

namespace tandem::gpu {
class Commands;
}

namespace tandem::output {

/// One plane, one ring. Outlives the graph it was added to. Render thread; the bytes of a finished slot may be read
/// from any thread.
class Readback {
 public:
  explicit Readback(uint32_t slots);
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;

  /// Adds the pass `passName`, which copies the whole of `plane`. Once.
  template <class T>
  void addTo(graph::Graph& graph, std::string passName, graph::Resource<T> plane);

  /// The slot that the next recording copies into, and whether it copies at all.
  void setSlot(uint32_t slot, bool copies = true);

  /// What the last finished recording left in `slot`. Nothing recorded there yet is a broken promise.
  std::span<const std::byte> bytes(uint32_t slot) const;

 private:
  void record(gpu::Commands& commands, const std::vector<graph::RowRun>& runs);

  std::string name_;
  uint64_t bytes_ = 0;
  uint64_t rowBytes_ = 0;
  uint32_t slot_ = 0;
  bool copies_ = true;
  std::vector<gpu::Buffer> ring_;  // made when first recorded, on the device that records
};

template <class T>
void Readback::addTo(graph::Graph& graph, std::string passName, graph::Resource<T> plane) {
  TANDEM_CHECK(bytes_ == 0, "readback {} has a plane already", passName);
  const graph::BufferDesc& desc = graph.resources().at(plane.index);
  name_ = passName;
  bytes_ = desc.bytes();
  rowBytes_ = desc.rowBytes;
  graph.addPass(
      std::move(passName),
      [&](graph::PassBuilder& pass) {
        pass.readRows(plane);
        pass.sideEffect();
      },
      [this, plane](graph::Recording& recording) { record(recording.commands(), recording.runs(plane)); });
}

}  // namespace tandem::output
