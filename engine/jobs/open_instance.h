// The Vulkan instance, with an answer that helps where there is no device.
#pragma once

#include <memory>

#include "base/check.h"
#include "gpu/instance.h"

namespace tandem::jobs {

/// Opens the instance. Refuses as Instance::open, and (NoUsableGpu) where no device answers at all; names the variables
/// that hide drivers.
Expected<std::unique_ptr<gpu::Instance>> openInstance(bool validation);

}  // namespace tandem::jobs
