// What a frame did and when, on the host's steady clock: passes on the nodes, transfers on the links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/clock.h"
#include "topology/topology.h"

namespace tandem::exec {

/// A pass as it ran.
struct PassReport {
  std::string name;
  uint32_t node = 0;
  double milliseconds = 0.0;
  uint64_t beginNs = 0, endNs = 0;  // on the host's steady clock
};

/// A transfer with bytes that has finished.
struct TransferReport {
  uint64_t frame = 0;  // the executor's running number
  uint32_t from = 0, to = 0;
  topology::LinkEvent event;
};

/// The sections of one batch that has finished.
struct BatchSections {
  uint32_t node = 0;
  uint64_t submittedNs = 0;  // just before the submission
  std::vector<gpu::PassTime> times;
};

/// The clocks of a topology's nodes. Render thread.
class NodeClocks {
 public:
  /// `topology` outlives the clocks.
  explicit NodeClocks(topology::Topology& topology);

  /// The passes of one frame, batch by batch. `doneNs`: when the wait for the frame had returned.
  std::vector<PassReport> place(const std::vector<BatchSections>& batches, uint64_t doneNs);

 private:
  std::vector<gpu::DeviceClock> clocks_;  // by node
};

}  // namespace tandem::exec
