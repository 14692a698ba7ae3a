#include "jobs/gpu_probe.h"

#include "base/log.h"
#include "jobs/nvml.h"
#include "jobs/sysfs_gpu.h"

namespace tandem::jobs {
namespace {

constexpr uint32_t kVendorNvidia = 0x10de;

std::unique_ptr<GpuProbe> nvmlProbe(const gpu::Adapter& adapter) {
  const auto& library = nvml::library();
  if (!library) {
    log::debug("{} is not watched by NVML: {}", adapter.name, library.refusal().message);
    return nullptr;
  }
  const auto device = nvml::findDevice(*library, adapter);
  if (!device) {
    log::debug("{} is not watched: {}", adapter.name, device.refusal().message);
    return nullptr;
  }
  return nvml::makeProbe(*library, *device);
}

std::unique_ptr<GpuProbe> sysfsProbe(const gpu::Adapter& adapter) {
  if (!adapter.pci) {
    log::debug("{} is not watched by the kernel's files: its driver tells no PCI address", adapter.name);
    return nullptr;
  }
  auto probe = makeSysfsProbe(*adapter.pci);
  if (!probe) {
    log::debug("{} is not watched: {}", adapter.name, probe.refusal().message);
    return nullptr;
  }
  return std::move(*probe);
}

bool readsAnything(GpuProbe& probe) { return probe.state() != GpuState{} || probe.energyJoules().has_value(); }

}  // namespace

std::unique_ptr<GpuProbe> makeProbe(const gpu::Adapter& adapter) {
  if (adapter.software()) return nullptr;
  if (adapter.vendorId == kVendorNvidia) {
    if (auto probe = nvmlProbe(adapter); probe && readsAnything(*probe)) return probe;
  }
  // NVIDIA's GPUs come here too: under the open kernel driver (nouveau) the kernel's files are what there is.
  if (auto probe = sysfsProbe(adapter); probe && readsAnything(*probe)) return probe;
  return nullptr;
}

}  // namespace tandem::jobs
