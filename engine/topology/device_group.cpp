#include "topology/device_group.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "topology/link_host_copy.h"
#include "topology/link_peer.h"

namespace tandem::topology {
namespace {

/// What one seat of a group adds. A GPU's index in the logical device is the node's number.
class GroupHooks final : public gpu::ObjectHooks {
 public:
  GroupHooks(std::vector<VkPhysicalDevice> members, uint32_t seat) : members_(std::move(members)), seat_(seat) {
    create_.physicalDeviceCount = static_cast<uint32_t>(members_.size());
    create_.pPhysicalDevices = members_.data();
    begin_.deviceMask = 1u << seat;
    memory_.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT | VK_MEMORY_ALLOCATE_DEVICE_MASK_BIT;
    memory_.deviceMask = 1u << seat;
  }
  const void* deviceCreateNext() const override { return &create_; }
  const void* commandBeginNext() const override { return &begin_; }
  const void* memoryNext() const override { return &memory_; }
  uint32_t seats() const override { return create_.physicalDeviceCount; }
  uint32_t seatIndex() const override { return seat_; }
  uint32_t deviceMask() const override { return begin_.deviceMask; }

 private:
  std::vector<VkPhysicalDevice> members_;
  uint32_t seat_;
  VkDeviceGroupDeviceCreateInfo create_{VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO};
  VkDeviceGroupCommandBufferBeginInfo begin_{VK_STRUCTURE_TYPE_DEVICE_GROUP_COMMAND_BUFFER_BEGIN_INFO};
  VkMemoryAllocateFlagsInfo memory_{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
};

class DeviceGroup final : public Topology {
 public:
  DeviceGroup(std::vector<Seat> seats, LinkKind link, double linkGbps)
      : Topology(std::move(seats)), link_(link), linkGbps_(linkGbps) {}
  std::string_view kind() const override { return "group"; }

  Expected<std::unique_ptr<Link>> connect(uint32_t from, uint32_t to, LinkDesc desc) override {
    TANDEM_CHECK(from != to && from < nodes() && to < nodes(), "a link from node {} to node {} of {}", from, to,
                 nodes());
    if (desc.gigabytesPerSecondLimit == 0.0) desc.gigabytesPerSecondLimit = linkGbps_;
    if (link_ == LinkKind::HostCopy) return makeHostCopyLink(device(from), device(to), std::move(desc));
    if (link_ != LinkKind::Auto && link_ != LinkKind::Peer) {
      return refuse(ExitCode::WrongUsage, "{} links two devices, a linked group is one: --link peer or host-copy",
                    linkKindName(link_));
    }
    auto peer = makePeerLink(device(from), device(to), desc);
    if (peer || link_ == LinkKind::Peer) return peer;
    log::debug("{}", peer.refusal().message);
    return makeHostCopyLink(device(from), device(to), std::move(desc));
  }

 private:
  LinkKind link_;
  double linkGbps_;
};

/// "{0, 1}, {2}"
std::string textOf(const std::vector<std::vector<uint32_t>>& groups) {
  std::string text;
  for (const auto& group : groups) text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ", fmt::join(group, ", "));
  return text.empty() ? "none" : text;
}

bool addressesWorkInGroups(VkPhysicalDevice physical) {
  VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
  vkGetPhysicalDeviceFeatures2(physical, &features);
  return f12.bufferDeviceAddressMultiDevice == VK_TRUE;
}

}  // namespace

bool inOneGroup(gpu::Instance& instance, const std::vector<uint32_t>& adapters) {
  if (std::set(adapters.begin(), adapters.end()).size() != adapters.size()) return false;
  const auto groups = gpu::listDeviceGroups(instance.handle(), instance.adapters());
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<uint32_t>& group) {
    return std::all_of(adapters.begin(), adapters.end(),
                       [&](uint32_t adapter) { return std::find(group.begin(), group.end(), adapter) != group.end(); });
  });
}

Expected<std::unique_ptr<Topology>> openDeviceGroup(gpu::Instance& instance, const TopologyRequest& request) {
  if (!inOneGroup(instance, request.adapters)) {
    return refuse(ExitCode::NoUsableGpu,
                  "no linked group holds GPUs {} as different ones; the groups of this machine, by GPU: {}; --topology "
                  "independent works with any GPUs",
                  fmt::join(request.adapters, ", "),
                  textOf(gpu::listDeviceGroups(instance.handle(), instance.adapters())));
  }
  std::vector<VkPhysicalDevice> members;
  for (const uint32_t index : request.adapters) {
    const gpu::Adapter& adapter = instance.adapters().at(index);
    if (!addressesWorkInGroups(adapter.physical)) {
      return refuse(ExitCode::NoUsableGpu,
                    "{} lacks the feature bufferDeviceAddressMultiDevice, which a linked group needs; --topology "
                    "independent works",
                    adapter.name);
    }
    members.push_back(adapter.physical);
  }
  std::vector<Seat> seats;
  for (uint32_t node = 0; node < members.size(); ++node) {
    const gpu::Adapter& adapter = instance.adapters().at(request.adapters[node]);
    gpu::DeviceOptions options;
    options.name = fmt::format("node {} ({})", node, adapter.name);
    options.seam = request.seam;
    options.hooks = std::make_shared<GroupHooks>(members, node);
    if (node > 0) options.logical = seats.front().device().logical();
    seats.emplace_back(std::make_shared<gpu::Device>(instance, adapter, std::move(options)), 1u << node);
  }
  return std::unique_ptr<Topology>(std::make_unique<DeviceGroup>(std::move(seats), request.link, request.linkGbps));
}

}  // namespace tandem::topology
