#include "topology/cuda_driver.h"

#include <dlfcn.h>

namespace tandem::topology::cuda {
namespace {

/// Looks entry points up and remembers the first that is missing.
class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}
  template <class Function>
  void operator()(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

/// The names with `_v2` are those of the interface with 64-bit pointers.
const char* loadAll(void* library, Driver& driver) {
  Loader load(library);
  load(driver.init, "cuInit");
  load(driver.getErrorName, "cuGetErrorName");
  load(driver.deviceGetCount, "cuDeviceGetCount");
  load(driver.deviceGet, "cuDeviceGet");
  load(driver.deviceGetUuid, "cuDeviceGetUuid");
  load(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  load(driver.deviceCanAccessPeer, "cuDeviceCanAccessPeer");
  load(driver.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  load(driver.devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  load(driver.ctxGetCurrent, "cuCtxGetCurrent");
  load(driver.ctxSetCurrent, "cuCtxSetCurrent");
  load(driver.memGetAllocationGranularity, "cuMemGetAllocationGranularity");
  load(driver.memCreate, "cuMemCreate");
  load(driver.memRelease, "cuMemRelease");
  load(driver.memAddressReserve, "cuMemAddressReserve");
  load(driver.memAddressFree, "cuMemAddressFree");
  load(driver.memMap, "cuMemMap");
  load(driver.memUnmap, "cuMemUnmap");
  load(driver.memSetAccess, "cuMemSetAccess");
  load(driver.memExportToShareableHandle, "cuMemExportToShareableHandle");
  load(driver.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  load(driver.streamCreate, "cuStreamCreate");
  load(driver.streamDestroy, "cuStreamDestroy_v2");
  load(driver.streamQuery, "cuStreamQuery");
  return load.missing();
}

}  // namespace

std::string Driver::resultText(Result result) const {
  const char* name = nullptr;
  const bool known = getErrorName(result, &name) == kSuccess && name != nullptr;
  return fmt::format("{} ({})", known ? name : "an unnamed result", result);
}

void Driver::require(Result result, std::string_view call, std::string_view object) const {
  if (result == kSuccess) return;
  throw adverse("{} for '{}' failed: {}; {}", call, object, resultText(result),
                result == kOutOfMemory ? "close other programs that use the GPU, or lower --size"
                                       : "--link host-import does without CUDA");
}

Expected<const Driver*> loadDriver(const char* library) {
  void* opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* reason = ::dlerror();
    return refuse(ExitCode::NoUsableGpu, "{} cannot be opened ({}): it comes with NVIDIA's driver", library,
                  reason != nullptr ? reason : "no reason given");
  }
  static Driver loaded;  // like the library, it stays
  Driver fresh;
  if (const char* missing = loadAll(opened, fresh); missing != nullptr) {
    return refuse(ExitCode::NoUsableGpu, "{} has no {}: update NVIDIA's driver (CUDA 11.2 or later)", library, missing);
  }
  if (const Result result = fresh.init(0); result != kSuccess)
    return refuse(ExitCode::NoUsableGpu, "cuInit of {} answered {}", library, fresh.resultText(result));
  loaded = fresh;
  return static_cast<const Driver*>(&loaded);
}

const Expected<const Driver*>& driver() {
  static const Expected<const Driver*> loaded = loadDriver("libcuda.so.1");
  return loaded;
}

Expected<DeviceOrdinal> findDevice(const Driver& driver, const Uuid& uuid, std::string_view name) {
  int count = 0;
  driver.require(driver.deviceGetCount(&count), "cuDeviceGetCount", name);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceOrdinal device = 0;
    Uuid found{};
    driver.require(driver.deviceGet(&device, ordinal), "cuDeviceGet", name);
    driver.require(driver.deviceGetUuid(&found, device), "cuDeviceGetUuid", name);
    if (found == uuid) return device;
  }
  return refuse(ExitCode::NoUsableGpu, "CUDA shows {} GPU{}, none with the UUID of {}: is CUDA_VISIBLE_DEVICES set?",
                count, count == 1 ? "" : "s", name);
}

}  // namespace tandem::topology::cuda
