// What the cuda link owns of CUDA: a context, a stream, exportable memory.
#pragma once

#include <string>
#include <vector>

#include "topology/cuda_driver.h"

namespace tandem::topology::cuda {

/// The primary context of a device, which all of a process shares.
class PrimaryContext {
 public:
  PrimaryContext(const Driver& driver, DeviceOrdinal device, std::string_view name);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  Context handle() const { return context_; }

 private:
  const Driver& driver_;
  DeviceOrdinal device_;
  Context context_ = nullptr;
};

/// Makes a context current on this thread, and the one before again at its end: the thread may be another library's.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, const PrimaryContext& context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
  Context before_ = nullptr;
};

/// A stream of a context. Used by one thread at a time.
class CopyStream {
 public:
  CopyStream(const Driver& driver, const PrimaryContext& context, std::string name);
  ~CopyStream();
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;

  void copy(DevicePointer to, DevicePointer from, uint64_t bytes);
  /// Waits for all copies so far. False: `seconds` passed and they are not done. `spin`: polls instead of sleeping.
  bool wait(double seconds, bool spin);

 private:
  const Driver& driver_;
  const PrimaryContext& context_;
  std::string name_;
  Stream stream_ = nullptr;
};

/// Memory on one GPU that others can read and write, and that Vulkan can import.
class SharedMemory {
 public:
  /// At least `bytes` (not 0) on `owner`; mapped for `owner` and `other`. Throws AdverseError.
  SharedMemory(const Driver& driver, DeviceOrdinal owner, DeviceOrdinal other, uint64_t bytes, std::string name);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  DevicePointer pointer() const { return pointer_; }
  uint64_t bytes() const { return bytes_; }  // rounded up to what CUDA hands out
  /// A file descriptor that stands for the memory; the caller's to close or to give away.
  int exportDescriptor() const;

 private:
  SharedMemory(const Driver& driver, std::string name) : driver_(driver), name_(std::move(name)) {}

  const Driver& driver_;
  std::string name_;
  uint64_t bytes_ = 0;
  AllocationHandle handle_ = 0;
  bool allocated_ = false, mapped_ = false;
  DevicePointer pointer_ = 0;
};

}  // namespace tandem::topology::cuda
