#include "topology/link_host_import.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "topology/link_import.h"
#include "topology/link_staged.h"

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

gpu::Buffer importBlock(gpu::Device& device, const HostBlock& block, const std::string& name) {
  VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  gpu::check(
      device.api().vkGetMemoryHostPointerPropertiesEXT(device.handle(), kHostAllocation, block.data(), &properties),
      "vkGetMemoryHostPointerPropertiesEXT", name, &device);
  VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  import.handleType = kHostAllocation;
  import.pHostPointer = block.data();
  return importBuffer(device, {kHostAllocation, &import, block.bytes(), properties.memoryTypeBits, false},
                      block.bytes(), name);
}

class HostImportLink final : public StagedLink {
 public:
  HostImportLink(gpu::Device& from, gpu::Device& to, LinkDesc linkDesc) : StagedLink(from, to, std::move(linkDesc)) {
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
