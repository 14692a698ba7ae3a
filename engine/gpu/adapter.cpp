#include "gpu/adapter.h"

#include <algorithm>
#include <cstring>

namespace tandem::gpu {
namespace {

AdapterType typeOf(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return AdapterType::Discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return AdapterType::Integrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return AdapterType::Virtual;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return AdapterType::Software;
    default:
      return AdapterType::Other;
  }
}

std::vector<std::string> extensionsOf(VkPhysicalDevice physical) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> properties(count);
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, properties.data());
  std::vector<std::string> names;
  for (const auto& property : properties) names.emplace_back(property.extensionName);
  return names;
}

/// Queues: the first family that computes and copies, with graphics preferred, since that is the family every driver
/// schedules best; and a family that only copies, whose engines run beside the shader cores.
void chooseQueueFamilies(Adapter& adapter) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(adapter.physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(adapter.physical, &count, families.data());
  constexpr VkQueueFlags kCopyOnly = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  bool graphics = false;
  for (uint32_t family = 0; family < count; ++family) {
    const VkQueueFlags flags = families[family].queueFlags;
    const bool timed = families[family].timestampValidBits > 0;
    if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && timed) {
      const bool better = (flags & VK_QUEUE_GRAPHICS_BIT) != 0 && !graphics;
      if (adapter.queueFamily != UINT32_MAX && !better) continue;
      graphics = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
      adapter.queueFamily = family;
      adapter.queuesInFamily = families[family].queueCount;
    } else if ((flags & VK_QUEUE_TRANSFER_BIT) != 0 && (flags & ~kCopyOnly) == 0 &&
               adapter.transferFamily == UINT32_MAX) {
      adapter.transferFamily = family;
      adapter.queuesInTransferFamily = families[family].queueCount;
      adapter.transferTimestamps = timed;
    }
  }
}

void fillProperties(Adapter& adapter) {
  VkPhysicalDeviceMaintenance4Properties maintenance4{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                      &maintenance4};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, &maintenance3};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &subgroup};
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, &driver};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id};
  const bool hasHost = adapter.has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  const bool hasPci = adapter.has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  if (hasHost) host.pNext = std::exchange(properties.pNext, &host);
  if (hasPci) pci.pNext = std::exchange(properties.pNext, &pci);
  vkGetPhysicalDeviceProperties2(adapter.physical, &properties);

  adapter.limits = properties.properties.limits;
  adapter.apiVersion = properties.properties.apiVersion;
  adapter.vendorId = properties.properties.vendorID;
  adapter.deviceId = properties.properties.deviceID;
  adapter.driverVersion = properties.properties.driverVersion;
  adapter.driver = fmt::format("{} {}", driver.driverName, driver.driverInfo);
  std::memcpy(adapter.uuid.data(), id.deviceUUID, VK_UUID_SIZE);
  std::memcpy(adapter.driverUuid.data(), id.driverUUID, VK_UUID_SIZE);
  adapter.maxBufferSize = maintenance4.maxBufferSize;
  adapter.maxAllocationSize = maintenance3.maxMemoryAllocationSize;
  adapter.subgroupSize = subgroup.subgroupSize;
  adapter.subgroupBallot = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                           (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0;
  if (hasHost) adapter.minImportedHostPointerAlignment = host.minImportedHostPointerAlignment;
  if (hasPci) adapter.pci = PciAddress{pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction};
}

void findMissingFeatures(Adapter& adapter) {
  VkPhysicalDeviceVulkan13Features f13{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
  vkGetPhysicalDeviceFeatures2(adapter.physical, &features);
  const std::pair<VkBool32, const char*> needed[] = {
      {features.features.shaderInt64, "shaderInt64"},
      {f12.bufferDeviceAddress, "bufferDeviceAddress"},
      {f12.scalarBlockLayout, "scalarBlockLayout"},
      {f12.timelineSemaphore, "timelineSemaphore"},
      {f12.runtimeDescriptorArray, "runtimeDescriptorArray"},
      {f12.shaderSampledImageArrayNonUniformIndexing, "shaderSampledImageArrayNonUniformIndexing"},
      {f12.descriptorBindingPartiallyBound, "descriptorBindingPartiallyBound"},
      {f12.descriptorBindingVariableDescriptorCount, "descriptorBindingVariableDescriptorCount"},
      {f12.hostQueryReset, "hostQueryReset"},
      {f13.synchronization2, "synchronization2"},
      {f13.maintenance4, "maintenance4"},
  };
  for (const auto& [has, name] : needed) {
    if (has == VK_FALSE) adapter.refusals.push_back(fmt::format("lacks the feature {}", name));
  }
}

void findRayTracing(Adapter& adapter) {
  for (const char* needed : kRayTracingExtensions) {
    if (!adapter.has(needed)) return;
  }
  VkPhysicalDeviceRayTracingPipelineFeaturesKHR pipelines{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR};
  VkPhysicalDeviceAccelerationStructureFeaturesKHR structures{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR, &pipelines};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &structures};
  vkGetPhysicalDeviceFeatures2(adapter.physical, &features);
  if (pipelines.rayTracingPipeline == VK_FALSE || structures.accelerationStructure == VK_FALSE) return;
  VkPhysicalDeviceRayTracingPipelinePropertiesKHR pipeline{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR};
  VkPhysicalDeviceAccelerationStructurePropertiesKHR structure{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR, &pipeline};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &structure};
  vkGetPhysicalDeviceProperties2(adapter.physical, &properties);
  adapter.rayTracing = RayTracingLimits{pipeline.shaderGroupHandleSize,
                                        pipeline.shaderGroupHandleAlignment,
                                        pipeline.shaderGroupBaseAlignment,
                                        structure.minAccelerationStructureScratchOffsetAlignment,
                                        structure.maxInstanceCount,
                                        structure.maxPrimitiveCount,
                                        pipeline.maxRayDispatchInvocationCount};
}

Adapter describe(VkPhysicalDevice physical, uint32_t index) {
  Adapter adapter;
  adapter.index = index;
  adapter.physical = physical;
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physical, &properties);
  adapter.name = properties.deviceName;
  adapter.type = typeOf(properties.deviceType);
  adapter.apiVersion = properties.apiVersion;
  adapter.extensions = extensionsOf(physical);
  adapter.heaps = queryHeaps(physical, adapter.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
  if (adapter.apiVersion < VK_API_VERSION_1_3) {
    adapter.refusals.push_back(fmt::format("its driver offers Vulkan {}.{}, Tandem needs 1.3: update the driver",
                                           VK_API_VERSION_MAJOR(adapter.apiVersion),
                                           VK_API_VERSION_MINOR(adapter.apiVersion)));
    return adapter;
  }
  fillProperties(adapter);
  findMissingFeatures(adapter);
  findRayTracing(adapter);
  chooseQueueFamilies(adapter);
  if (adapter.queueFamily == UINT32_MAX) adapter.refusals.emplace_back("has no compute queue with timestamps");
  return adapter;
}

}  // namespace

std::string_view adapterTypeName(AdapterType type) {
  switch (type) {
    case AdapterType::Discrete:
      return "discrete";
    case AdapterType::Integrated:
      return "integrated";
    case AdapterType::Virtual:
      return "virtual";
    case AdapterType::Software:
      return "cpu";
    case AdapterType::Other:
      return "other";
  }
  return "other";
}

std::string PciAddress::text() const { return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function); }

bool Adapter::has(std::string_view extension) const {
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::string Adapter::uuidText() const {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

uint64_t Adapter::deviceLocalBytes() const {
  uint64_t bytes = 0;
  for (const auto& heap : heaps) bytes += heap.deviceLocal ? heap.bytes : 0;
  return bytes;
}

uint64_t Adapter::deviceLocalBudget() const {
  uint64_t bytes = 0;
  for (const auto& heap : heaps) bytes += heap.deviceLocal ? heap.budget : 0;
  return bytes;
}

std::vector<HeapInfo> queryHeaps(VkPhysicalDevice physical, bool hasBudgetExtension) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  if (hasBudgetExtension) memory.pNext = &budget;
  vkGetPhysicalDeviceMemoryProperties2(physical, &memory);
  std::vector<HeapInfo> heaps;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    HeapInfo info;
    info.bytes = heap.size;
    info.deviceLocal = (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    const uint64_t used = hasBudgetExtension ? budget.heapUsage[i] : 0;
    const uint64_t allowed = hasBudgetExtension ? budget.heapBudget[i] : heap.size;
    info.budget = allowed > used ? allowed - used : 0;
    heaps.push_back(info);
  }
  return heaps;
}

std::vector<Adapter> listAdapters(VkInstance instance) {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  std::vector<Adapter> adapters;
  for (uint32_t i = 0; i < count; ++i) adapters.push_back(describe(devices[i], i));
  return adapters;
}

std::vector<std::vector<uint32_t>> listDeviceGroups(VkInstance instance, const std::vector<Adapter>& adapters) {
  uint32_t count = 0;
  vkEnumeratePhysicalDeviceGroups(instance, &count, nullptr);
  std::vector<VkPhysicalDeviceGroupProperties> groups(count, {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES});
  vkEnumeratePhysicalDeviceGroups(instance, &count, groups.data());
  std::vector<std::vector<uint32_t>> result;
  for (const auto& group : groups) {
    std::vector<uint32_t> members;
    for (uint32_t i = 0; i < group.physicalDeviceCount; ++i) {
      for (const auto& adapter : adapters) {
        if (adapter.physical == group.physicalDevices[i]) members.push_back(adapter.index);
      }
    }
    result.push_back(std::move(members));
  }
  return result;
}

}  // namespace tandem::gpu
