// What a pass gets while its commands are recorded: a command buffer on some device, and where its resources lie there.
// A pass sees addresses and nothing else: not which node it runs on, nor how many there are.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace tandem::gpu {
class Buffer;
class Commands;
}  // namespace tandem::gpu

namespace tandem::graph {

/// The rows that a shareable pass makes where it is recorded: all of them, or some node's share.
struct RowShare {
  std::span<const uint32_t> bandTops;  // row of the picture at which each band of kBandRows rows begins
  uint32_t rows = 0;                   // in all; written densely, in the order of the bands. May be 0.
};

/// Rows that lie one behind the other in a buffer as they do in the picture.
struct RowRun {
  const gpu::Buffer* buffer = nullptr;
  uint32_t bufferRow = 0;
  uint32_t row = 0;
  uint32_t count = 0;
};

class Recording {
 public:
  virtual ~Recording() = default;
  virtual gpu::Commands& commands() = 0;

  /// Buffer of a resource that the pass has declared; anything else is a broken promise. Of what a shareable pass
  /// makes: where its own rows go.
  template <class T>
  const gpu::Buffer& buffer(Resource<T> handle) const {
    return bufferOf(handle.index, false);
  }
  /// The same resource as it was at the end of the previous frame.
  template <class T>
  const gpu::Buffer& previous(Resource<T> handle) const {
    return bufferOf(handle.index, true);
  }

  /// For a plane declared by readRows: device address of its row table, one 64-bit device address per row of the
  /// picture, where that row's first texel lies.
  template <class T>
  uint64_t rows(Resource<T> handle) const {
    return rowTableOf(handle.index);
  }
  /// The same for copies: where its rows lie, from top to bottom.
  template <class T>
  std::vector<RowRun> runs(Resource<T> handle) const {
    return runsOf(handle.index);
  }
  /// For a shareable pass.
  virtual RowShare share() const = 0;

 protected:
  virtual const gpu::Buffer& bufferOf(uint32_t resource, bool previous) const = 0;
  virtual uint64_t rowTableOf(uint32_t resource) const = 0;
  virtual std::vector<RowRun> runsOf(uint32_t resource) const = 0;
};

}  // namespace tandem::graph
