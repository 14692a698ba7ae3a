// A GPU as the Linux kernel's files show it: the drivers of AMD (amdgpu) and Intel (i915, xe) offer a "hwmon" folder
// below the PCI device. Names and units as the kernel's document "sysfs-interface" of hwmon gives them.
#pragma once

#include <filesystem>
#include <memory>

#include "base/check.h"
#include "jobs/gpu_probe.h"

namespace tandem::jobs {

/// Reads <devices>/<pci>/hwmon/hwmon*/: power1_average or power1_input (microwatts), power1_cap or power1_max
/// (microwatts), temp1_input (thousandths of a degree Celsius), freq1_input and freq2_input (hertz: amdgpu's shader and
/// memory clocks), energy1_input (microjoules). These files say nothing of throttling. Refuses, naming the folder,
/// where there is none.
Expected<std::unique_ptr<GpuProbe>> makeSysfsProbe(const gpu::PciAddress& pci,
                                                   const std::filesystem::path& devices = "/sys/bus/pci/devices");

}  // namespace tandem::jobs
