#include "gpu/instance.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "gpu/cache_folder.h"

namespace tandem::gpu {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  const char* id = data->pMessageIdName != nullptr ? data->pMessageIdName : "?";
  if (std::strcmp(id, "Loader Message") == 0) return VK_FALSE;  // about driver files, not about our calls
  const std::string text = fmt::format("{}: {}", id, data->pMessage);
  if ((severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0) {
    log::error("validation: {}", text);
  } else {
    log::warn("validation: {}", text);
  }
  static_cast<MessageLog*>(user)->add(text);
  return VK_FALSE;
}

bool hasLayer(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(),
                     [&](const auto& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

bool hasExtension(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const auto& extension) { return std::strcmp(extension.extensionName, name) == 0; });
}

VkDebugUtilsMessengerCreateInfoEXT messengerInfo(MessageLog* log) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
  info.pfnUserCallback = onMessage;
  info.pUserData = log;
  return info;
}

}  // namespace

void MessageLog::add(std::string message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(message));
}

size_t MessageLog::count() const {
  const std::lock_guard lock(mutex_);
  return messages_.size();
}

std::vector<std::string> MessageLog::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

Expected<std::unique_ptr<Instance>> Instance::open(const InstanceOptions& options) {
  tuneSoftwareDevice();
  if (volkInitialize() != VK_SUCCESS) {
    return refuse(ExitCode::NoUsableGpu,
                  "no Vulkan loader: libvulkan.so.1 was not found; install your distribution's Vulkan loader "
                  "(Debian: libvulkan1) and a driver (software: mesa-vulkan-drivers)");
  }
  if (volkGetInstanceVersion() < VK_API_VERSION_1_3) {
    return refuse(ExitCode::NoUsableGpu, "the Vulkan loader is older than 1.3; update libvulkan1");
  }
  if (options.validation && !hasLayer(kValidationLayer)) {
    return refuse(ExitCode::WrongUsage, "--validation needs {}; install vulkan-validationlayers", kValidationLayer);
  }
  std::unique_ptr<Instance> made(new Instance);
  made->messages_ = std::make_unique<MessageLog>();
  made->debugUtils_ = hasExtension(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  made->validating_ = options.validation;

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "Tandem";
  application.apiVersion = VK_API_VERSION_1_3;
  const VkValidationFeatureEnableEXT enabled = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messengerInfo(made->messages_.get());
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.pNext = &messenger;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &enabled;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = made->debugUtils_ ? 1 : 0;
  info.ppEnabledExtensionNames = &extension;
  if (options.validation) {
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
  }
  const VkResult result = vkCreateInstance(&info, nullptr, &made->instance_);
  if (result != VK_SUCCESS) {
    return refuse(ExitCode::NoUsableGpu,
                  "vkCreateInstance failed: {}; no Vulkan driver answers (is a driver file in "
                  "/usr/share/vulkan/icd.d or /etc/vulkan/icd.d?)",
                  resultName(result));
  }
  volkLoadInstanceOnly(made->instance_);
  if (options.validation && made->debugUtils_) {
    check(vkCreateDebugUtilsMessengerEXT(made->instance_, &messenger, nullptr, &made->messenger_),
          "vkCreateDebugUtilsMessengerEXT", "validation");
  }
  made->adapters_ = listAdapters(made->instance_);
  return made;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

}  // namespace tandem::gpu
