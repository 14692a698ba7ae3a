#include "gpu/device.h"

#include <algorithm>
#include <new>

#include "base/log.h"
#include "gpu/pipelines.h"
#include "gpu/ray_pipelines.h"

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
namespace {

/// Copies get a second queue of the main family where no family is made for them.
bool secondMainQueue(const Adapter& adapter) {
  return adapter.transferFamily == UINT32_MAX && adapter.queuesInFamily > 1;
}

/// How many queues of each family are made: each seat gets its own as far as the family has enough.
uint32_t mainQueues(const Adapter& adapter, const ObjectHooks& hooks) {
  return std::min(adapter.queuesInFamily, hooks.seats() * (secondMainQueue(adapter) ? 2 : 1));
}
uint32_t transferQueues(const Adapter& adapter, const ObjectHooks& hooks) {
  return std::min(adapter.queuesInTransferFamily, hooks.seats());
}

constexpr double kSettleSeconds = 5.0;

}  // namespace

Device::Device(Instance& instance, const Adapter& adapter, DeviceOptions options)
    : adapter_(adapter), options_(std::move(options)), debugUtils_(instance.hasDebugUtils()) {
  TANDEM_CHECK(adapter.usable(), "device made on an unusable adapter: {}", adapter.name);
  TANDEM_CHECK(!options_.rayTracing || adapter.rayTracing, "{} has no ray-tracing pipelines", adapter.name);
  if (!options_.hooks) options_.hooks = std::make_shared<ObjectHooks>();
  logical_ = options_.logical;
  if (!logical_) createDevice();
  createAllocator(instance.handle());
  createQueues();
  pipelines_ = std::make_unique<Pipelines>(*this);
  if (options_.rayTracing) rayPipelines_ = std::make_unique<RayPipelines>(*this);
}

void Device::createDevice() {
  VkPhysicalDeviceVulkan13Features f13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  f13.pNext = const_cast<void*>(options_.hooks->deviceCreateNext());
  f13.synchronization2 = VK_TRUE;
  f13.maintenance4 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
  f12.bufferDeviceAddress = VK_TRUE;
  f12.bufferDeviceAddressMultiDevice = options_.hooks->seats() > 1 ? VK_TRUE : VK_FALSE;
  f12.scalarBlockLayout = VK_TRUE;
  f12.timelineSemaphore = VK_TRUE;
  f12.runtimeDescriptorArray = VK_TRUE;
  f12.shaderSampledImageArrayNonUniformIndexing = VK_TRUE;
  f12.descriptorBindingPartiallyBound = VK_TRUE;
  f12.descriptorBindingVariableDescriptorCount = VK_TRUE;
  f12.hostQueryReset = VK_TRUE;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, &f12, VK_TRUE};
  const bool told = adapter_.has(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = told ? static_cast<void*>(&executables) : &f12;
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structures{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR};
  structures.accelerationStructure = VK_TRUE;
  VkPhysicalDeviceRayTracingPipelineFeaturesKHR rays{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR, &structures};
  rays.rayTracingPipeline = VK_TRUE;
  if (options_.rayTracing) structures.pNext = std::exchange(features.pNext, &rays);
  features.features.shaderInt64 = VK_TRUE;

  const std::vector<float> priorities(2 * options_.hooks->seats(), 1.0f);
  std::vector<VkDeviceQueueCreateInfo> queues(1, {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO});
  queues[0].queueFamilyIndex = adapter_.queueFamily;
  queues[0].queueCount = mainQueues(adapter_, *options_.hooks);
  queues[0].pQueuePriorities = priorities.data();
  if (adapter_.transferFamily != UINT32_MAX) {
    queues.push_back({VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO});
    queues[1].queueFamilyIndex = adapter_.transferFamily;
    queues[1].queueCount = transferQueues(adapter_, *options_.hooks);
    queues[1].pQueuePriorities = priorities.data();
  }

  std::vector<const char*> extensions;
  for (const char* wanted : {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
                             VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME,
                             VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME}) {
    if (adapter_.has(wanted)) extensions.push_back(wanted);
  }
  if (options_.rayTracing)
    extensions.insert(extensions.end(), kRayTracingExtensions.begin(), kRayTracingExtensions.end());
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  check(vkCreateDevice(adapter_.physical, &info, nullptr, &device), "vkCreateDevice", options_.name);
  logical_ = std::make_shared<LogicalDevice>();
  volkLoadDeviceTable(&logical_->table, device);
  logical_->handle = device;
  nameObject(VK_OBJECT_TYPE_DEVICE, reinterpret_cast<uint64_t>(device), options_.name);
}

void Device::createQueues() {
  const uint32_t seat = options_.hooks->seatIndex(), seats = options_.hooks->seats();
  const uint32_t count = mainQueues(adapter_, *options_.hooks);
  VkQueue queue = VK_NULL_HANDLE;
  api().vkGetDeviceQueue(handle(), adapter_.queueFamily, seat % count, &queue);
  queue_ = std::make_unique<Queue>(*this, queue, adapter_.queueFamily, options_.name + " queue");
  bufferFamilies_ = {adapter_.queueFamily};
  const bool ownFamily = adapter_.transferFamily != UINT32_MAX;
  if (!ownFamily && !secondMainQueue(adapter_)) return;
  const uint32_t family = ownFamily ? adapter_.transferFamily : adapter_.queueFamily;
  const uint32_t index = ownFamily ? seat % transferQueues(adapter_, *options_.hooks) : (seats + seat) % count;
  api().vkGetDeviceQueue(handle(), family, index, &queue);
  transferQueue_ = std::make_unique<Queue>(*this, queue, family, options_.name + " transfer queue");
  if (ownFamily) bufferFamilies_.push_back(family);
}

void Device::createAllocator(VkInstance instance) {
  VmaVulkanFunctions functions{};
  functions.vkGetInstanceProcAddr = vkGetInstanceProcAddr;
  functions.vkGetDeviceProcAddr = vkGetDeviceProcAddr;
  VmaAllocatorCreateInfo info{};
  info.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
  if (adapter_.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) info.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
  info.physicalDevice = adapter_.physical;
  info.device = handle();
  info.instance = instance;
  info.vulkanApiVersion = VK_API_VERSION_1_3;
  info.pVulkanFunctions = &functions;
  check(vmaCreateAllocator(&info, &allocator_), "vmaCreateAllocator", options_.name);
}

Device::~Device() {
  if (!settle()) {
    // Freeing what a GPU may still write to is worse than leaving it to the end of the process.
    log::error("{} does not come to an end: its objects are left to the end of the process", options_.name);
    static_cast<void>(queue_.release());
    static_cast<void>(transferQueue_.release());
    static_cast<void>(pipelines_.release());
    static_cast<void>(rayPipelines_.release());
    static_cast<void>(new (std::nothrow) std::shared_ptr<LogicalDevice>(logical_));  // left like all that stands on it
    return;
  }
  rayPipelines_.reset();  // into the graves
  for (auto& grave : graves_) grave.destroy();
  // The timelines' last values have been seen, yet Mesa's queue thread (25.0) may still hold the semaphore for a
  // moment: destroying it then crashes that thread. Idle means that it has let go. Only after the bounded wait has
  // succeeded: this one has no limit of its own.
  if (!queue_->waitIdle() || !transferQueue().waitIdle()) log::debug("{} is not idle at its end", options_.name);
  pipelines_.reset();
  transferQueue_.reset();
  queue_.reset();
  vmaDestroyAllocator(allocator_);
}

/// Waits for all submitted work, without the seam: even a device that tests (or a wait's limit) call lost has objects
/// to free. True: no work is under way any more.
bool Device::settle() {
  const double limit = lost_ ? kSettleSeconds : waitLimitSeconds();
  bool settled = queue_->settle(limit);
  if (transferQueue_) settled = transferQueue_->settle(limit) && settled;
  return settled;
}

bool Device::passSeam(SeamPoint point, std::string_view what) {
  if (lost_ && point != SeamPoint::Barrier) {
    const std::lock_guard lock(graveMutex_);
    throw DeviceLost(fmt::format("{} was lost before '{}': {}", options_.name, what, lostBy_), this);
  }
  if (!options_.seam) return true;
  switch (options_.seam({point, this, what})) {
    case SeamReply::Proceed:
      return true;
    case SeamReply::Skip:
      return false;
    case SeamReply::FailLost:
      require(VK_ERROR_DEVICE_LOST, "injected fault", what);
      break;
    case SeamReply::FailMemory:
      require(VK_ERROR_OUT_OF_DEVICE_MEMORY, "injected fault", what);
      break;
    case SeamReply::FailTimeout:
      markLost(fmt::format("injected fault: '{}' did not finish in time", what));
      throw DeviceLost(fmt::format("injected fault: '{}' on {} did not finish in time", what, options_.name), this);
  }
  return true;
}

void Device::markLost(std::string_view why) {
  const std::lock_guard lock(graveMutex_);
  if (!lost_) lostBy_ = why;
  lost_ = true;
}

void Device::require(VkResult result, std::string_view call, std::string_view object) {
  if (result == VK_ERROR_DEVICE_LOST) markLost(fmt::format("{} for '{}' answered VK_ERROR_DEVICE_LOST", call, object));
  check(result, call, fmt::format("{}' on '{}", object, options_.name), this);
}

double Device::waitLimitSeconds() const { return adapter_.software() ? 3600.0 : 60.0; }

void Device::retire(std::function<void()> destroy) {
  const std::lock_guard lock(graveMutex_);
  graves_.push_back(
      {queue_->lastSubmitted(), transferQueue_ ? transferQueue_->lastSubmitted() : 0, std::move(destroy)});
}

void Device::collect() {
  const uint64_t done = queue_->completed();
  const uint64_t transferred = transferQueue_ ? transferQueue_->completed() : 0;
  std::deque<Grave> due;
  {
    const std::lock_guard lock(graveMutex_);
    while (!graves_.empty() && graves_.front().value <= done && graves_.front().transferValue <= transferred) {
      due.push_back(std::move(graves_.front()));
      graves_.pop_front();
    }
  }
  for (auto& grave : due) grave.destroy();
}

void Device::drain() {
  queue_->wait(queue_->lastSubmitted(), "all submitted work");
  if (transferQueue_) transferQueue_->wait(transferQueue_->lastSubmitted(), "all submitted copies");
  collect();
}

void Device::nameObject(VkObjectType type, uint64_t handle, std::string_view name) const {
  if (!debugUtils_) return;
  const std::string copy(name);
  VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = copy.c_str();
  vkSetDebugUtilsObjectNameEXT(logical_->handle, &info);
}

uint64_t Device::memoryBudget() const {
  Adapter now = adapter_;
  now.heaps = queryHeaps(adapter_.physical, adapter_.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
  return now.deviceLocalBudget();
}

}  // namespace tandem::gpu
