// How fast a GPU copies within its own memory: the yardstick for passes that do little but read and write.
#pragma once

#include <optional>

namespace tandem::gpu {

class Device;

/// 1e9 bytes a second, those read and those written both counted: the better of a copy command and of a shader that
/// copies (on an H200 the shader is five times as fast, 4.2e12 bytes a second), each the median of several copies,
/// timed by the device. Takes 256 MiB of device memory (16 MiB on software devices) and some milliseconds, while
/// nothing else runs on the device. Nothing where the queue has no timestamps. Throws AdverseError where memory is
/// short.
std::optional<double> measureCopyGbps(Device& device);

}  // namespace tandem::gpu
