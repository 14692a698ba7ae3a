#include "gpu/device.h"

#include "base/log.h"
#include "gpu/pipelines.h"

// The allocator's implementation stands here, once. It is another project's header: our warnings do not apply to it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#define VMA_IMPLEMENTATION
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#include <vk_mem_alloc.h>
#pragma GCC diagnostic pop

namespace tandem::gpu {

Device::Device(Instance& instance, const Adapter& adapter, DeviceOptions options)
    : adapter_(adapter), options_(std::move(options)), debugUtils_(instance.hasDebugUtils()) {
  TANDEM_CHECK(adapter.usable(), "device made on an unusable adapter: {}", adapter.name);
  if (!options_.hooks) options_.hooks = std::make_shared<ObjectHooks>();
  createDevice();
  createAllocator(instance.handle());
  VkQueue queue = VK_NULL_HANDLE;
  table_.vkGetDeviceQueue(device_, adapter_.queueFamily, 0, &queue);
  queue_ = std::make_unique<Queue>(*this, queue, adapter_.queueFamily, options_.name + " queue");
  pipelines_ = std::make_unique<Pipelines>(*this);
}

void Device::createDevice() {
  VkPhysicalDeviceVulkan13Features f13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  f13.pNext = const_cast<void*>(options_.hooks->deviceCreateNext());
  f13.synchronization2 = VK_TRUE;
  f13.maintenance4 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
  f12.bufferDeviceAddress = VK_TRUE;
  f12.scalarBlockLayout = VK_TRUE;
  f12.timelineSemaphore = VK_TRUE;
  f12.runtimeDescriptorArray = VK_TRUE;
  f12.shaderSampledImageArrayNonUniformIndexing = VK_TRUE;
  f12.descriptorBindingPartiallyBound = VK_TRUE;
  f12.descriptorBindingVariableDescriptorCount = VK_TRUE;
  f12.hostQueryReset = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
  features.features.shaderInt64 = VK_TRUE;

  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = adapter_.queueFamily;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  std::vector<const char*> extensions;
  for (const char* wanted : {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME}) {
    if (adapter_.has(wanted)) extensions.push_back(wanted);
  }
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(adapter_.physical, &info, nullptr, &device_), "vkCreateDevice", options_.name);
  volkLoadDeviceTable(&table_, device_);
  nameObject(VK_OBJECT_TYPE_DEVICE, reinterpret_cast<uint64_t>(device_), options_.name);
}

void Device::createAllocator(VkInstance instance) {
  VmaVulkanFunctions functions{};
  functions.vkGetInstanceProcAddr = vkGetInstanceProcAddr;
  functions.vkGetDeviceProcAddr = vkGetDeviceProcAddr;
  VmaAllocatorCreateInfo info{};
  info.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
  if (adapter_.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
  info.physicalDevice = adapter_.physical;
  info.device = device_;
  info.instance = instance;
  info.vulkanApiVersion = VK_API_VERSION_1_3;
  info.pVulkanFunctions = &functions;
  check(vmaCreateAllocator(&info, &allocator_), "vmaCreateAllocator", options_.name);
}

Device::~Device() {
  bool drained = false;
  try {
    drain();
    drained = true;
  } catch (const std::exception& error) {
    log::error("while closing {}: {}", options_.name, error.what());  // a lost device still frees its objects
    for (auto& grave : graves_) grave.destroy();
  }
  // The timeline's last value has been seen, yet Mesa's queue thread (25.0) may still hold the semaphore for a moment:
  // destroying it then crashes that thread. Idle means that it has let go.
  // Only after the bounded wait has succeeded: this one has no limit of its own.
  if (drained && table_.vkDeviceWaitIdle(device_) != VK_SUCCESS) log::debug("{} is not idle at its end", options_.name);
  pipelines_.reset();
  queue_.reset();
  vmaDestroyAllocator(allocator_);
  table_.vkDestroyDevice(device_, nullptr);
}

bool Device::passSeam(SeamPoint point, std::string_view what) const {
  if (!options_.seam) return true;
  switch (options_.seam({point, this, what})) {
    case SeamReply::Proceed:
      return true;
    case SeamReply::Skip:
      return false;
    case SeamReply::FailLost:
      check(VK_ERROR_DEVICE_LOST, "injected fault", what);
      break;
    case SeamReply::FailMemory:
      check(VK_ERROR_OUT_OF_DEVICE_MEMORY, "injected fault", what);
      break;
    case SeamReply::FailTimeout:
      throw adverse("injected fault: '{}' on {} did not finish in time", what, options_.name);
  }
  return true;
}

double Device::waitLimitSeconds() const { return adapter_.software() ? 3600.0 : 60.0; }

void Device::retire(std::function<void()> destroy) {
  const std::lock_guard lock(graveMutex_);
  graves_.push_back({queue_->lastSubmitted(), std::move(destroy)});
}

void Device::collect() {
  const uint64_t done = queue_->completed();
  std::deque<Grave> due;
  {
    const std::lock_guard lock(graveMutex_);
    while (!graves_.empty() && graves_.front().value <= done) {
      due.push_back(std::move(graves_.front()));
      graves_.pop_front();
    }
  }
  for (auto& grave : due) grave.destroy();
}

void Device::drain() {
  queue_->wait(queue_->lastSubmitted(), "all submitted work");
  collect();
}

void Device::nameObject(VkObjectType type, uint64_t handle, std::string_view name) const {
  if (!debugUtils_) return;
  const std::string copy(name);
  VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = copy.c_str();
  vkSetDebugUtilsObjectNameEXT(device_, &info);
}

uint64_t Device::memoryBudget() const {
  Adapter now = adapter_;
  now.heaps = queryHeaps(adapter_.physical, adapter_.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
  return now.deviceLocalBudget();
}

}  // namespace tandem::gpu
