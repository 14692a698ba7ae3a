// The Vulkan instance: loader, validation layers, and the record of what they said.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "gpu/adapter.h"
#include "gpu/vulkan.h"

namespace tandem::gpu {

/// Messages of the validation layers, counted. Thread-safe: layers call from any thread that calls Vulkan.
class MessageLog {
 public:
  void add(std::string message);
  size_t count() const;
  std::vector<std::string> messages() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

struct InstanceOptions {
  bool validation = false;  // core and synchronization validation; refused where the layer is not installed
};

/// Owner of the VkInstance. Outlives all devices made from it.
class Instance {
 public:
  /// Refuses (NoUsableGpu) without a loader or a 1.3 instance, (WrongUsage) when validation is asked for and its layer
  /// is missing.
  static Expected<std::unique_ptr<Instance>> open(const InstanceOptions& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return instance_; }
  bool hasDebugUtils() const { return debugUtils_; }
  bool validating() const { return validating_; }
  MessageLog& messages() { return *messages_; }
  const std::vector<Adapter>& adapters() const { return adapters_; }
  std::vector<std::vector<uint32_t>> groups() const { return listDeviceGroups(instance_, adapters_); }

 private:
  Instance() = default;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  bool debugUtils_ = false;
  bool validating_ = false;
  std::unique_ptr<MessageLog> messages_;
  std::vector<Adapter> adapters_;
};

}  // namespace tandem::gpu
