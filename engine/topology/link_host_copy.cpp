#include "topology/link_host_copy.h"

#include <cstring>

#include "topology/bridged_link.h"

namespace tandem::topology {
namespace {

class HostCopyLink final : public BridgedLink {
 public:
  HostCopyLink(gpu::Device& from, gpu::Device& to, LinkDesc linkDesc) : BridgedLink(from, to, std::move(linkDesc)) {
    build();
  }
  ~HostCopyLink() override { close(); }

 protected:
  Leg makeLeg(uint64_t bytes, const std::string& name) override {
    return {gpu::Buffer(sender(), bytes, gpu::Memory::Readback, name + " outbound"),
            gpu::Buffer(receiver(), bytes, gpu::Memory::Upload, name + " inbound")};
  }

  void carry(const std::vector<Leg>& legs) override {
    for (const Leg& leg : legs) {
      leg.outbound.invalidate();
      std::memcpy(leg.inbound.mapped().data(), leg.outbound.mapped().data(), leg.inbound.bytes());
      leg.inbound.flush();
    }
  }

  std::string kind() const override { return "host-copy"; }
  std::string path() const override {
    return "sender -> its host-cached memory -> CPU copy -> upload memory -> receiver";
  }
};

}  // namespace

std::unique_ptr<Link> makeHostCopyLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc) {
  return std::make_unique<HostCopyLink>(sender, receiver, std::move(desc));
}

}  // namespace tandem::topology
