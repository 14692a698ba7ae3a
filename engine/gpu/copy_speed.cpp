#include "gpu/copy_speed.h"

#include <algorithm>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "gpu/device.h"

namespace tandem::gpu {

std::optional<double> measureCopyGbps(Device& device) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  constexpr int kCopies = 9;  // the first ones warm up; the median does not see them
  const uint64_t bytes = (device.adapter().software() ? 8 : 128) * kMiB;
  const Buffer from(device, bytes, Memory::Device, "copy speed, source");
  const Buffer to(device, bytes, Memory::Device, "copy speed, target");
  Commands commands(device, "copy speed");
  commands.begin();
  commands.fill(from, 0);
  for (int i = 0; i < kCopies; ++i) {
    commands.barrier();
    commands.beginSection("copy");
    commands.copy(from, to, bytes);
    commands.endSection();
  }
  commands.end();
  const SyncPoint done = device.queue().submit(commands.handle(), {}, "copy speed");
  device.queue().wait(done.value, "copy speed");
  std::vector<double> milliseconds;
  for (const PassTime& time : commands.times()) milliseconds.push_back(time.milliseconds);
  if (milliseconds.empty()) return std::nullopt;
  std::ranges::nth_element(milliseconds, milliseconds.begin() + std::ssize(milliseconds) / 2);
  const double median = milliseconds[milliseconds.size() / 2];
  if (!(median > 0.0)) return std::nullopt;
  return 2.0 * static_cast<double>(bytes) / (median * 1e6);
}

}  // namespace tandem::gpu
