// A pass made slower on purpose, to see that the benchmark finds and names it. The picture stays the same.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::gpu {
class Commands;
class Device;
}  // namespace tandem::gpu

namespace tandem::exec {

struct SlowPass {
  std::string pass;
  double milliseconds = 0.0;  // that each of its runs takes longer, on every node
};

/// How often shaders/bench/spin.comp must go round on this device to take that long: measured on the spot, while
/// nothing else runs there. Throws AdverseError where the device has no timestamps.
uint32_t spinsFor(gpu::Device& device, double milliseconds);

/// After all that was recorded before, one thread goes round and round.
void recordSpins(gpu::Commands& commands, uint32_t spins);

}  // namespace tandem::exec
