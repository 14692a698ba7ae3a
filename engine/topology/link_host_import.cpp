#include "topology/link_host_import.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "topology/bridged_link.h"

namespace tandem::topology {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kHostAllocation = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

/// Anonymous pages of this process; whole multiples of every alignment that the specification allows (65536).
class HostBlock {
 public:
  explicit HostBlock(uint64_t bytes)
      : bytes_((bytes + kAlignment - 1) / kAlignment * kAlignment), mapped_(bytes_ + kAlignment) {
    base_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED)
      throw adverse("cannot map {} MiB of host memory for a link: {}", mapped_ >> 20, std::strerror(errno));
    data_ = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(base_) + kAlignment - 1) / kAlignment * kAlignment);
  }
  ~HostBlock() { ::munmap(base_, mapped_); }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  void* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kAlignment = 65536;
  uint64_t bytes_;
  uint64_t mapped_;
  void* base_ = nullptr;
  void* data_ = nullptr;
};

/// The first memory type that both the buffer and the host pointer allow; UINT32_MAX: none.
uint32_t importType(gpu::Device& device, VkBuffer buffer, void* pointer) {
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  gpu::check(device.api().vkGetMemoryHostPointerPropertiesEXT(device.handle(), kHostAllocation, pointer, &properties),
             "vkGetMemoryHostPointerPropertiesEXT", "link block");
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  const uint32_t allowed = properties.memoryTypeBits & requirements.memoryTypeBits;
  for (uint32_t type = 0; type < 32; ++type) {
    if ((allowed >> type & 1u) != 0) return type;
  }
  return UINT32_MAX;
}

gpu::Buffer importBlock(gpu::Device& device, const HostBlock& block, const std::string& name) {
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kHostAllocation;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
  info.size = block.bytes();
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  gpu::check(device.api().vkCreateBuffer(device.handle(), &info, nullptr, &buffer), "vkCreateBuffer", name);

  VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = kHostAllocation;
  import.pHostPointer = block.data();
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import};
  allocation.allocationSize = block.bytes();
  allocation.memoryTypeIndex = importType(device, buffer, block.data());
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkResult result = allocation.memoryTypeIndex == UINT32_MAX
                        ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                        : device.api().vkAllocateMemory(device.handle(), &allocation, nullptr, &memory);
  if (result == VK_SUCCESS) result = device.api().vkBindBufferMemory(device.handle(), buffer, memory, 0);
  if (result != VK_SUCCESS) {
    device.api().vkFreeMemory(device.handle(), memory, nullptr);
    device.api().vkDestroyBuffer(device.handle(), buffer, nullptr);
    gpu::check(result, "vkAllocateMemory (import of host memory)", name);
  }
  return gpu::Buffer::adopt(device, buffer, memory, block.bytes(), nullptr, name);
}

class HostImportLink final : public BridgedLink {
 public:
  HostImportLink(gpu::Device& from, gpu::Device& to, LinkDesc linkDesc) : BridgedLink(from, to, std::move(linkDesc)) {
    build();
  }
  ~HostImportLink() override {
    close();
    // Both devices must let go of the blocks before their pages may be unmapped: the graveyards keep them until then.
    for (auto& block : blocks_) {
      receiver().retire([block] {});
      sender().retire([block] {});
    }
  }

 protected:
  Leg makeLeg(uint64_t bytes, const std::string& name) override {
    const auto& block = blocks_.emplace_back(std::make_shared<HostBlock>(bytes));
    return {importBlock(sender(), *block, name + " outbound"), importBlock(receiver(), *block, name + " inbound")};
  }
  std::string kind() const override { return "host-import"; }
  std::string path() const override { return "sender -> one host block that both devices map -> receiver"; }

 private:
  std::vector<std::shared_ptr<HostBlock>> blocks_;
};

}  // namespace

Expected<std::unique_ptr<Link>> makeHostImportLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc) {
  for (const gpu::Device* device : {&sender, &receiver}) {
    if (device->adapter().minImportedHostPointerAlignment == 0) {
      return refuse(ExitCode::NoUsableGpu, "host-import: {} lacks VK_EXT_external_memory_host; --link host-copy works",
                    device->adapter().name);
    }
  }
  try {
    return std::unique_ptr<Link>(std::make_unique<HostImportLink>(sender, receiver, std::move(desc)));
  } catch (const gpu::DeviceLost&) {
    throw;
  } catch (const AdverseError& error) {
    return refuse(ExitCode::NoUsableGpu, "host-import: {}; --link host-copy works", error.what());
  }
}

}  // namespace tandem::topology
