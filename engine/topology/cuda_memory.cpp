#include "topology/cuda_memory.h"

#include <chrono>
#include <thread>

#include "base/log.h"

namespace tandem::topology::cuda {

PrimaryContext::PrimaryContext(const Driver& driver, DeviceOrdinal device, std::string_view name)
    : driver_(driver), device_(device) {
  driver.require(driver.devicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain", name);
}

PrimaryContext::~PrimaryContext() { driver_.devicePrimaryCtxRelease(device_); }

CurrentContext::CurrentContext(const Driver& driver, const PrimaryContext& context) : driver_(driver) {
  driver.require(driver.ctxGetCurrent(&before_), "cuCtxGetCurrent", "link");
  driver.require(driver.ctxSetCurrent(context.handle()), "cuCtxSetCurrent", "link");
}

CurrentContext::~CurrentContext() { driver_.ctxSetCurrent(before_); }

CopyStream::CopyStream(const Driver& driver, const PrimaryContext& context, std::string name)
    : driver_(driver), context_(context), name_(std::move(name)) {
  const CurrentContext current(driver_, context_);
  driver_.require(driver_.streamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate", name_);
}

/// A failure between two copies may have left one under way: memory must not go while it is.
CopyStream::~CopyStream() {
  try {
    if (!wait(5.0, false)) log::error("copies of '{}' do not come to an end", name_);
    const CurrentContext current(driver_, context_);
    driver_.streamDestroy(stream_);
  } catch (const std::exception& error) {
    log::debug("while closing '{}': {}", name_, error.what());  // whoever waited for the copy has been told already
  }
}

void CopyStream::copy(DevicePointer to, DevicePointer from, uint64_t bytes) {
  const CurrentContext current(driver_, context_);
  driver_.require(driver_.memcpyDtoDAsync(to, from, bytes, stream_), "cuMemcpyDtoDAsync", name_);
}

bool CopyStream::wait(double seconds, bool spin) {
  using Clock = std::chrono::steady_clock;
  const CurrentContext current(driver_, context_);
  const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const Result result = driver_.streamQuery(stream_);
    if (result == kSuccess) return true;
    if (result != kNotReady) driver_.require(result, "cuStreamQuery", name_);
    if (Clock::now() > limit) return false;
    if (!spin) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Delegates first: from then on the destructor frees what a failure leaves behind.
SharedMemory::SharedMemory(const Driver& driver, DeviceOrdinal owner, DeviceOrdinal other, uint64_t bytes,
                           std::string name)
    : SharedMemory(driver, std::move(name)) {
  AllocationProperties properties;
  properties.location.id = owner;
  size_t granularity = 0;
  driver_.require(driver_.memGetAllocationGranularity(&granularity, &properties, kGranularityRecommended),
                  "cuMemGetAllocationGranularity", name_);
  TANDEM_CHECK(bytes > 0 && granularity > 0, "'{}' of {} bytes, in steps of {}", name_, bytes, granularity);
  bytes_ = (bytes + granularity - 1) / granularity * granularity;
  driver_.require(driver_.memCreate(&handle_, bytes_, &properties, 0), "cuMemCreate", name_);
  allocated_ = true;
  driver_.require(driver_.memAddressReserve(&pointer_, bytes_, granularity, 0, 0), "cuMemAddressReserve", name_);
  driver_.require(driver_.memMap(pointer_, bytes_, 0, handle_, 0), "cuMemMap", name_);
  mapped_ = true;
  std::vector<Access> access(owner == other ? 1 : 2);
  access.front().location.id = owner;
  access.back().location.id = other;
  driver_.require(driver_.memSetAccess(pointer_, bytes_, access.data(), access.size()), "cuMemSetAccess", name_);
}

SharedMemory::~SharedMemory() {
  if (mapped_) driver_.memUnmap(pointer_, bytes_);
  if (pointer_ != 0) driver_.memAddressFree(pointer_, bytes_);
  if (allocated_) driver_.memRelease(handle_);
}

int SharedMemory::exportDescriptor() const {
  int descriptor = -1;
  driver_.require(driver_.memExportToShareableHandle(&descriptor, handle_, kPosixFileDescriptor, 0),
                  "cuMemExportToShareableHandle", name_);
  return descriptor;
}

}  // namespace tandem::topology::cuda
