#include "gpu/copy_speed.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "gpu/device.h"

namespace tandem::gpu {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr const char* kByCommand = "copy by command";
constexpr const char* kByShader = "copy by shader";

struct CopyPush {
  uint64_t from = 0, to = 0;
  uint32_t count = 0;  // of 16 bytes each
};

/// Median milliseconds of the sections of that name; 0: there are none.
double medianOf(const std::vector<PassTime>& times, std::string_view name) {
  std::vector<double> milliseconds;
  for (const PassTime& time : times) {
    if (time.name == name) milliseconds.push_back(time.milliseconds);
  }
  if (milliseconds.empty()) return 0.0;
  std::ranges::nth_element(milliseconds, milliseconds.begin() + std::ssize(milliseconds) / 2);
  return milliseconds[milliseconds.size() / 2];
}

}  // namespace

std::optional<double> measureCopyGbps(Device& device) {
  constexpr int kCopies = 9;  // the first ones warm up; the median does not see them
  constexpr uint32_t kBytesPerThread = 16, kThreads = 256;
  const uint64_t bytes = (device.adapter().software() ? 8 : 128) * kMiB;  // more than caches hold
  const Buffer from(device, bytes, Memory::Device, "copy speed, source");
  const Buffer to(device, bytes, Memory::Device, "copy speed, target");
  const auto count = static_cast<uint32_t>(bytes / kBytesPerThread);
  Commands commands(device, "copy speed");
  commands.begin();
  commands.fill(from, 0);
  for (int i = 0; i < kCopies; ++i) {
    commands.barrier();
    commands.beginSection(kByCommand);
    commands.copy(from, to, bytes);
    commands.endSection();
    commands.barrier();
    commands.beginSection(kByShader);
    commands.dispatch("bench/copy", CopyPush{from.address(), to.address(), count}, {groupsFor(count, kThreads), 1, 1});
    commands.endSection();
  }
  commands.end();
  const SyncPoint done = device.queue().submit(commands.handle(), {}, "copy speed");
  device.queue().wait(done.value, "copy speed");
  const auto times = commands.times();
  double best = 0.0;
  for (const char* name : {kByCommand, kByShader}) {
    if (const double ms = medianOf(times, name); ms > 0.0)
      best = std::max(best, 2.0 * static_cast<double>(bytes) / (ms * 1e6));
  }
  return best > 0.0 ? std::optional(best) : std::nullopt;
}

}  // namespace tandem::gpu
