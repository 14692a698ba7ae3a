#include "exec/slow_pass.h"

#include <algorithm>

#include "base/check.h"
#include "gpu/commands.h"
#include "gpu/device.h"

namespace tandem::exec {
namespace {

struct SpinPush {
  uint64_t result = 0;  // address of a word
  uint32_t spins = 0;
};

double millisecondsOf(gpu::Device& device, uint32_t spins) {
  gpu::Commands commands(device, "spin");
  commands.begin();
  commands.beginSection("spin");
  recordSpins(commands, spins);
  commands.endSection();
  commands.end();
  const gpu::SyncPoint done = device.queue().submit(commands.handle(), {}, "spin");
  device.queue().wait(done.value, "spin");
  const auto times = commands.times();
  if (times.empty()) throw adverse("{} has no timestamps: no pass can be made slower by a given time", device.name());
  return times.front().milliseconds;
}

/// The least of some runs: what else the machine does can only make one longer, and one that seems long by such a
/// chance would end the search at far too few spins.
double leastMilliseconds(gpu::Device& device, uint32_t spins) {
  double least = millisecondsOf(device, spins);
  for (int i = 0; i < 3; i++) least = std::min(least, millisecondsOf(device, spins));
  return least;
}

}  // namespace

uint32_t spinsFor(gpu::Device& device, double milliseconds) {
  // Long enough for clocks to rise and for a submission's own time not to count.
  constexpr double kLongEnoughMs = 20.0;
  uint32_t spins = 1u << 16;
  double took = leastMilliseconds(device, spins);
  while (took < kLongEnoughMs && spins < (1u << 30)) {
    spins *= 2;
    took = leastMilliseconds(device, spins);
  }
  return static_cast<uint32_t>(std::clamp(spins * milliseconds / took, 1.0, 4e9));
}

void recordSpins(gpu::Commands& commands, uint32_t spins) {
  const uint64_t word = commands.upload(uint32_t{0});
  commands.barrier();
  commands.dispatch("bench/spin", SpinPush{word, spins}, {1, 1, 1});
}

}  // namespace tandem::exec
