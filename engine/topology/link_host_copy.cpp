#include "topology/link_host_copy.h"

#include <thread>

#include "topology/link_copy.h"
#include "topology/link_staged.h"

namespace tandem::topology {
namespace {

class HostCopyLink final : public StagedLink {
 public:
  HostCopyLink(gpu::Device& from, gpu::Device& to, LinkDesc linkDesc) : StagedLink(from, to, std::move(linkDesc)) {
    build();
  }
  ~HostCopyLink() override { close(); }

 protected:
  Leg makeLeg(uint64_t bytes, const std::string& name) override {
    return {gpu::Buffer(sender(), bytes, gpu::Memory::Readback, name + " outbound"),
            gpu::Buffer(receiver(), bytes, gpu::Memory::Upload, name + " inbound")};
  }

  void carry(std::span<const Leg> legs, std::span<const uint64_t> itemBytes) override {
    for (size_t item = 0; item < legs.size(); ++item) {
      const Leg& leg = legs[item];
      if (itemBytes[item] == 0) continue;
      leg.outbound.invalidate();
      copyOnThreads(leg.inbound.mapped().first(itemBytes[item]), leg.outbound.mapped(),
                    copyThreads(itemBytes[item], std::thread::hardware_concurrency()));
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
