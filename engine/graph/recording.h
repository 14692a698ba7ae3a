// What a pass gets while its commands are recorded: a command buffer on some device, and where its resources lie there.
// A pass sees addresses and nothing else: not which node it runs on, nor how many there are.
#pragma once

#include "graph/graph.h"

namespace tandem::gpu {
class Buffer;
class Commands;
}  // namespace tandem::gpu

namespace tandem::graph {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual gpu::Commands& commands() = 0;

  /// Buffer of a resource that the pass has declared; anything else is a broken promise.
  template <class T>
  const gpu::Buffer& buffer(Resource<T> handle) const {
    return bufferOf(handle.index, false);
  }
  /// The same resource as it was at the end of the previous frame.
  template <class T>
  const gpu::Buffer& previous(Resource<T> handle) const {
    return bufferOf(handle.index, true);
  }

 protected:
  virtual const gpu::Buffer& bufferOf(uint32_t resource, bool previous) const = 0;
};

}  // namespace tandem::graph
