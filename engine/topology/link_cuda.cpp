#include "topology/link_cuda.h"

#include <unistd.h>

#include "gpu/device.h"
#include "topology/bridged_link.h"
#include "topology/cuda_memory.h"
#include "topology/link_import.h"

namespace tandem::topology {
namespace {

constexpr uint32_t kNvidia = 0x10de;

/// Both ends as CUDA knows them; the same device where one GPU was opened twice.
struct CudaPair {
  const cuda::Driver* driver = nullptr;
  cuda::DeviceOrdinal sender = 0, receiver = 0;
};

uint32_t deviceLocalTypes(const gpu::Device& device) {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device.adapter().physical, &memory);
  uint32_t bits = 0;
  for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    if ((memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) bits |= 1u << type;
  }
  return bits;
}

gpu::Buffer importShared(gpu::Device& device, const cuda::SharedMemory& memory, uint64_t bytes,
                         const std::string& name) {
  VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  import.fd = memory.exportDescriptor();
  bool taken = false;
  const ImportedMemory imported{import.handleType, &import, memory.bytes(), deviceLocalTypes(device), true, &taken};
  try {
    return importBuffer(device, imported, bytes, name);
  } catch (...) {
    if (!taken) ::close(import.fd);
    throw;
  }
}

class CudaLink final : public BridgedLink {
 public:
  CudaLink(gpu::Device& from, gpu::Device& to, LinkDesc linkDesc, const CudaPair& pair)
      : BridgedLink(from, to, std::move(linkDesc)),
        pair_(pair),
        senderContext_(*pair.driver, pair.sender, from.name()),
        receiverContext_(*pair.driver, pair.receiver, to.name()),
        stream_(*pair.driver, senderContext_, desc().name) {
    const cuda::CurrentContext current(*pair_.driver, senderContext_);
    build();
  }
  ~CudaLink() override { close(); }

 protected:
  gpu::Buffer makeSource(uint64_t bytes, const std::string& name) override {
    return make(sources_, sender(), pair_.sender, pair_.receiver, bytes, name);
  }
  gpu::Buffer makeTarget(uint64_t bytes, const std::string& name) override {
    return make(targets_, receiver(), pair_.receiver, pair_.sender, bytes, name);
  }
  void makeSlot(uint32_t) override { directMs_.push_back(0.0); }

  /// The sources are CUDA's to read once the sender's work is done: nothing departs.
  gpu::SyncPoint depart(uint32_t, std::span<const uint64_t>, gpu::SyncPoint ready) override { return ready; }

  gpu::SyncPoint deliver(uint32_t slot, std::span<const uint64_t> itemBytes) override {
    const auto start = LinkPacer::Clock::now();
    for (size_t item = 0; item < itemBytes.size(); ++item) {
      const size_t index = slot * itemBytes.size() + item;
      if (itemBytes[item] > 0) stream_.copy(targets_[index]->pointer(), sources_[index]->pointer(), itemBytes[item]);
    }
    const double limit = sender().waitLimitSeconds();
    if (!stream_.wait(limit, bridgeMaySpin(false))) {
      sender().markLost(fmt::format("the copy of the link {} by CUDA did not finish in time", desc().name));
      throw gpu::DeviceLost(
          fmt::format("waited {} s for the copy of the link {} by CUDA: the GPU hangs; --link host-import does without",
                      limit, desc().name),
          &sender());
    }
    directMs_[slot] = std::chrono::duration<double, std::milli>(LinkPacer::Clock::now() - start).count();
    return {};
  }

  LegTimes legTimes(uint32_t slot) override { return {0.0, 0.0, 0.0, directMs_[slot]}; }
  double departMs(uint32_t) override { return 0.0; }
  std::string kind() const override { return "cuda"; }
  std::string path() const override {
    return pair_.sender == pair_.receiver ? "CUDA copy within one GPU" : "CUDA copy from GPU to GPU";
  }

 private:
  using Memories = std::vector<std::unique_ptr<cuda::SharedMemory>>;  // slot by slot, item by item

  gpu::Buffer make(Memories& memories, gpu::Device& device, cuda::DeviceOrdinal owner, cuda::DeviceOrdinal other,
                   uint64_t bytes, const std::string& name) {
    memories.push_back(std::make_unique<cuda::SharedMemory>(*pair_.driver, owner, other, bytes, name));
    return importShared(device, *memories.back(), bytes, name);
  }

  CudaPair pair_;
  cuda::PrimaryContext senderContext_, receiverContext_;
  Memories sources_, targets_;
  std::vector<double> directMs_;  // of each slot's last transfer
  cuda::CopyStream stream_;       // goes first: it waits for what is under way
};

/// Why there can be no cuda link, or what it stands on.
Expected<CudaPair> findPair(gpu::Device& sender, gpu::Device& receiver) {
  const auto& loaded = cuda::driver();
  if (!loaded) return loaded.refusal();
  CudaPair pair{*loaded};
  for (const auto& [device, ordinal] : {std::pair{&sender, &pair.sender}, std::pair{&receiver, &pair.receiver}}) {
    const gpu::Adapter& adapter = device->adapter();
    if (adapter.vendorId != kNvidia) return refuse(ExitCode::NoUsableGpu, "{} is no GPU of NVIDIA", adapter.name);
    if (!adapter.has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
      return refuse(ExitCode::NoUsableGpu, "{} lacks VK_KHR_external_memory_fd", adapter.name);
    const auto found = cuda::findDevice(*pair.driver, adapter.uuid, adapter.name);
    if (!found) return found.refusal();
    *ordinal = *found;
    for (const int attribute : {cuda::kAttributeVirtualMemory, cuda::kAttributeFileDescriptor}) {
      int supported = 0;
      pair.driver->require(pair.driver->deviceGetAttribute(&supported, attribute, *ordinal), "cuDeviceGetAttribute",
                           adapter.name);
      if (supported == 0)
        return refuse(ExitCode::NoUsableGpu, "CUDA cannot export memory of {} (attribute {})", adapter.name, attribute);
    }
  }
  return pair;
}

/// Whether each GPU may reach the other's memory: a card without peer access would be copied for by way of the host.
Expected<CudaPair> findPeers(gpu::Device& sender, gpu::Device& receiver) {
  auto pair = findPair(sender, receiver);
  if (!pair || pair->sender == pair->receiver) return pair;
  for (const auto& [device, peer] :
       {std::pair{pair->sender, pair->receiver}, std::pair{pair->receiver, pair->sender}}) {
    int can = 0;
    pair->driver->require(pair->driver->deviceCanAccessPeer(&can, device, peer), "cuDeviceCanAccessPeer",
                          sender.name());
    if (can == 0) {
      return refuse(ExitCode::NoUsableGpu,
                    "there is no peer access between {} and {} (NVIDIA's driver grants it to few cards; an IOMMU can "
                    "also forbid it)",
                    sender.name(), receiver.name());
    }
  }
  return pair;
}

}  // namespace

Expected<std::unique_ptr<Link>> makeCudaLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc) {
  const auto refusal = [](std::string_view reason) {
    return refuse(ExitCode::NoUsableGpu, "cuda: {}; --link host-import or host-copy works", reason);
  };
  try {
    const auto pair = findPeers(sender, receiver);
    if (!pair) return refusal(pair.refusal().message);
    return std::unique_ptr<Link>(std::make_unique<CudaLink>(sender, receiver, std::move(desc), *pair));
  } catch (const gpu::DeviceLost&) {
    throw;
  } catch (const AdverseError& error) {
    return refusal(error.what());
  }
}

}  // namespace tandem::topology
