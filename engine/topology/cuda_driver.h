// The part of the CUDA driver API (libcuda.so.1) that the cuda link needs, opened while running: neither a header nor a
// library of CUDA takes part in the build, and a machine without it loses nothing but this link. Types and constants
// are those of the driver's binary interface; names follow it without the prefix `cu`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace tandem::topology::cuda {

using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 2;
constexpr Result kNotReady = 600;

using DeviceOrdinal = int;
using DevicePointer = uint64_t;
using AllocationHandle = uint64_t;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Uuid = std::array<uint8_t, 16>;

/// CUmemLocation: memory on a device.
struct Location {
  int type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  DeviceOrdinal id = 0;
};

/// CUmemAllocationProp: pinned memory that can be exported as a file descriptor.
struct AllocationProperties {
  int type = 1;                  // CU_MEM_ALLOCATION_TYPE_PINNED
  int requestedHandleTypes = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  Location location;
  void* win32HandleMetaData = nullptr;
  uint8_t compressionType = 0;
  uint8_t gpuDirectRdmaCapable = 0;
  uint16_t usage = 0;
  uint8_t reserved[4] = {};
};
static_assert(sizeof(AllocationProperties) == 32);

/// CUmemAccessDesc: a device that may read and write a mapping.
struct Access {
  Location location;
  int flags = 3;  // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};
static_assert(sizeof(Access) == 12);

constexpr int kPosixFileDescriptor = 1;        // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int kGranularityRecommended = 1;     // CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
constexpr unsigned kStreamNonBlocking = 1;     // CU_STREAM_NON_BLOCKING
constexpr int kAttributeVirtualMemory = 102;   // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
constexpr int kAttributeFileDescriptor = 103;  // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED

/// The entry points. All are thread-safe.
struct Driver {
  Result (*init)(unsigned flags) = nullptr;
  Result (*getErrorName)(Result, const char** name) = nullptr;
  Result (*deviceGetCount)(int* count) = nullptr;
  Result (*deviceGet)(DeviceOrdinal*, int ordinal) = nullptr;
  Result (*deviceGetUuid)(Uuid*, DeviceOrdinal) = nullptr;
  Result (*deviceGetAttribute)(int* value, int attribute, DeviceOrdinal) = nullptr;
  Result (*deviceCanAccessPeer)(int* can, DeviceOrdinal device, DeviceOrdinal peer) = nullptr;
  Result (*devicePrimaryCtxRetain)(Context*, DeviceOrdinal) = nullptr;
  Result (*devicePrimaryCtxRelease)(DeviceOrdinal) = nullptr;
  Result (*ctxGetCurrent)(Context*) = nullptr;
  Result (*ctxSetCurrent)(Context) = nullptr;
  Result (*memGetAllocationGranularity)(size_t*, const AllocationProperties*, int option) = nullptr;
  Result (*memCreate)(AllocationHandle*, size_t bytes, const AllocationProperties*, uint64_t flags) = nullptr;
  Result (*memRelease)(AllocationHandle) = nullptr;
  Result (*memAddressReserve)(DevicePointer*, size_t bytes, size_t alignment, DevicePointer at,
                              uint64_t flags) = nullptr;
  Result (*memAddressFree)(DevicePointer, size_t bytes) = nullptr;
  Result (*memMap)(DevicePointer, size_t bytes, size_t offset, AllocationHandle, uint64_t flags) = nullptr;
  Result (*memUnmap)(DevicePointer, size_t bytes) = nullptr;
  Result (*memSetAccess)(DevicePointer, size_t bytes, const Access*, size_t count) = nullptr;
  Result (*memExportToShareableHandle)(void* handle, AllocationHandle, int type, uint64_t flags) = nullptr;
  Result (*memcpyDtoDAsync)(DevicePointer to, DevicePointer from, size_t bytes, Stream) = nullptr;
  Result (*streamCreate)(Stream*, unsigned flags) = nullptr;
  Result (*streamDestroy)(Stream) = nullptr;
  Result (*streamQuery)(Stream) = nullptr;

  /// Throws AdverseError naming the call, the object, the code and what to do, unless `result` is success.
  void require(Result result, std::string_view call, std::string_view object) const;
  /// "CUDA_ERROR_OUT_OF_MEMORY (2)".
  std::string resultText(Result result) const;
};

/// Opens a driver library and initialises it; never closed again. Refuses where it is absent, too old or finds no GPU.
Expected<const Driver*> loadDriver(const char* library);
/// The process's driver, libcuda.so.1, opened once.
const Expected<const Driver*>& driver();

/// The device of this UUID as CUDA counts them. Refuses where CUDA knows none (ordinals of Vulkan and CUDA differ, so
/// nothing else tells which is which).
Expected<DeviceOrdinal> findDevice(const Driver& driver, const Uuid& uuid, std::string_view name);

}  // namespace tandem::topology::cuda
