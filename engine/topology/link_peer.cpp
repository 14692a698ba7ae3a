#include "topology/link_peer.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/log.h"
#include "gpu/clock.h"
#include "gpu/commands.h"

namespace tandem::topology {
namespace {

constexpr size_t kMostEvents = 1024;

/// Whether each GPU of a group has memory of its own in this heap.
struct Heap {
  uint32_t index = 0;
  bool perGpu = false;
};

Heap heapOf(gpu::Device& device, uint64_t bytes) {
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device.adapter().physical, &memory);
  const uint32_t type = gpu::Buffer::memoryType(device, bytes, gpu::Memory::Device);
  const uint32_t index = memory.memoryTypes[type].heapIndex;
  return {index, (memory.memoryHeaps[index].flags & VK_MEMORY_HEAP_MULTI_INSTANCE_BIT) != 0};
}

/// A second buffer over the target's memory: on every GPU of the group it is the receiver's instance, so that the
/// sender's copies to it land there. Identical to the target in all else, which makes their requirements identical.
gpu::Buffer makeWindow(gpu::Device& sender, const gpu::Buffer& target, const std::string& name) {
  const gpu::Device& receiver = target.device();
  const VkBufferCreateInfo info = gpu::Buffer::createInfo(sender, target.bytes());
  VkBuffer buffer = VK_NULL_HANDLE;
  gpu::check(sender.api().vkCreateBuffer(sender.handle(), &info, nullptr, &buffer), "vkCreateBuffer", name, &sender);
  gpu::Buffer window = gpu::Buffer::adopt(sender, buffer, VK_NULL_HANDLE, target.bytes(), nullptr, name);

  const uint32_t instance = heapOf(sender, target.bytes()).perGpu ? receiver.hooks().seatIndex() : 0;
  const std::vector<uint32_t> instances(sender.hooks().seats(), instance);
  VkBindBufferMemoryDeviceGroupInfo group{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_DEVICE_GROUP_INFO};
  group.deviceIndexCount = static_cast<uint32_t>(instances.size());
  group.pDeviceIndices = instances.data();
  VkBindBufferMemoryInfo bind{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, &group};
  bind.buffer = buffer;
  bind.memory = target.memory();
  gpu::check(sender.api().vkBindBufferMemory2(sender.handle(), 1, &bind), "vkBindBufferMemory2", name, &sender);
  return window;
}

class PeerLink final : public Link {
 public:
  PeerLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc);
  ~PeerLink() override { close(); }

  const gpu::Buffer& source(uint32_t item, uint32_t slot) const override { return slots_.at(slot).sources.at(item); }
  const gpu::Buffer& target(uint32_t item, uint32_t slot) const override { return slots_.at(slot).targets.at(item); }
  void acquire(uint32_t slot) override;
  void send(uint32_t slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
            std::function<void(Arrival)> arrived) override;
  void release(uint32_t slot, gpu::SyncPoint done) override;
  void close() override;
  LinkReport report() override;
  std::vector<LinkEvent> takeEvents() override;

 private:
  struct Slot {
    std::vector<gpu::Buffer> sources, targets, windows;
    std::unique_ptr<gpu::Commands> commands;
    gpu::SyncPoint sent;                  // the last transfer's copy
    gpu::SyncPoint readers;               // what must be reached before the targets may be written again
    uint64_t submittedNs = 0, bytes = 0;  // of the last transfer
    bool measured = true;                 // its time has been added to the report
    bool acquired = false;                // may be written and sent
  };
  gpu::SyncPoint copy(Slot& slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes);
  void wait(gpu::SyncPoint point, const char* what);
  void measure(Slot& slot);
  void measureFinished();

  gpu::Device& sender_;
  gpu::Device& receiver_;
  LinkDesc desc_;
  std::vector<Slot> slots_;
  std::mutex mutex_;  // guards the slots' sync points and the report: batches are submitted by several threads
  LinkReport report_;
  gpu::DeviceClock clock_;  // belongs to the thread that acquires, and so do the events
  std::deque<LinkEvent> events_;
  bool closed_ = false;
};

PeerLink::PeerLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc)
    : sender_(sender), receiver_(receiver), desc_(std::move(desc)), clock_(sender) {
  for (uint32_t index = 0; index < desc_.slots; ++index) {
    Slot slot;
    for (size_t item = 0; item < desc_.itemBytes.size(); ++item) {
      const uint64_t bytes = desc_.itemBytes[item];
      const std::string name = fmt::format("{} item {} slot {}", desc_.name, item, index);
      slot.sources.emplace_back(sender_, bytes, gpu::Memory::Device, name + " source");
      slot.targets.emplace_back(receiver_, bytes, gpu::Memory::Device, name + " target");
      slot.windows.push_back(makeWindow(sender_, slot.targets.back(), name + " window"));
    }
    slot.commands = std::make_unique<gpu::Commands>(sender_, fmt::format("{} slot {} send", desc_.name, index),
                                                    sender_.transferQueue());
    slots_.push_back(std::move(slot));
  }
  report_.kind = "peer";
  report_.path = "sender's copy engine -> receiver's memory";
}

void PeerLink::wait(gpu::SyncPoint point, const char* what) {
  if (point.queue != nullptr) point.queue->wait(point.value, fmt::format("{} {}", desc_.name, what));
}

void PeerLink::acquire(uint32_t index) {
  Slot& slot = slots_.at(index);
  if (!receiver_.passSeam(gpu::SeamPoint::SlotWait, desc_.name)) return;
  gpu::SyncPoint sent, readers;
  {
    const std::lock_guard lock(mutex_);
    sent = slot.sent;
    readers = slot.readers;
  }
  wait(sent, "slot reuse");
  wait(readers, "slot reuse");
  measureFinished();
  slot.acquired = true;
}

/// What the semaphore covers: `ready` makes the sources visible to the copy, and the copy's own signal makes the
/// targets visible to the receiver that waits for it; both are operations of one logical device, whose memory
/// dependencies reach over its GPUs. The targets' last readers have been waited for by acquire().
gpu::SyncPoint PeerLink::copy(Slot& slot, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes) {
  gpu::Commands& commands = *slot.commands;
  commands.begin();
  commands.beginSection("send");
  for (size_t item = 0; item < slot.windows.size(); ++item) {
    if (itemBytes[item] > 0) commands.copy(slot.sources[item], slot.windows[item], itemBytes[item]);
  }
  commands.endSection();
  commands.end();
  slot.submittedNs = gpu::hostNanoseconds();
  const gpu::SyncPoint waits[] = {ready};
  return sender_.transferQueue().submit(commands.handle(), waits, desc_.name + " send");
}

void PeerLink::send(uint32_t index, gpu::SyncPoint ready, std::span<const uint64_t> itemBytes,
                    std::function<void(Arrival)> arrived) {
  Slot& slot = slots_.at(index);
  TANDEM_CHECK(slot.acquired, "slot {} of the link {} is sent while it may still be in use: acquire it first", index,
               desc_.name);
  TANDEM_CHECK(std::equal(itemBytes.begin(), itemBytes.end(), desc_.itemBytes.begin(), desc_.itemBytes.end(),
                          [](uint64_t now, uint64_t most) { return now <= most; }),
               "the link {} is given sizes for {} items that do not fit its {}", desc_.name, itemBytes.size(),
               desc_.itemBytes.size());
  slot.acquired = false;
  Arrival arrival;
  try {
    const std::lock_guard lock(mutex_);
    if (closed_) throw adverse("the link {} was closed while frames were under way", desc_.name);
    uint64_t bytes = 0;
    for (const uint64_t item : itemBytes) bytes += item;
    // Nothing to carry: the sender's own point is valid on the receiver, too.
    arrival.point = bytes > 0 ? copy(slot, ready, itemBytes) : ready;
    slot.sent = slot.readers = arrival.point;
    slot.bytes = bytes;
    slot.measured = bytes == 0;
    report_.bytes += bytes;
    ++report_.transfers;
  } catch (...) {
    arrival.failure = std::current_exception();
  }
  arrived(arrival);
}

void PeerLink::release(uint32_t index, gpu::SyncPoint done) {
  const std::lock_guard lock(mutex_);
  slots_.at(index).readers = done;
}

/// Copies run on the sender into the receiver's memory: none may be under way when that is freed.
void PeerLink::close() {
  std::vector<gpu::SyncPoint> last;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const Slot& slot : slots_) last.push_back(slot.sent);
  }
  try {
    for (const gpu::SyncPoint& point : last) wait(point, "close");
  } catch (const std::exception& error) {
    log::debug("while closing {}: {}", desc_.name,
               error.what());  // whoever waited for a lost GPU has been told already
  }
}

/// Adds a slot's last transfer, which has finished, to the report and the events. Where the device's clock cannot be
/// read on the host's, the copy is placed at the moment of its submission.
void PeerLink::measure(Slot& slot) {
  const auto times = slot.commands->times();  // of one section; none where the queue has no timestamps
  const gpu::SubmittedSection section{times.empty() ? gpu::PassTime{} : times.front(), slot.submittedNs};
  const double ms = section.time.milliseconds;
  report_.directMs += ms;
  report_.underwayMs += ms;  // one queue makes all copies, one after the other
  gpu::HostSpan span{slot.submittedNs, slot.submittedNs + static_cast<uint64_t>(ms * 1e6)};
  if (clock_.calibrated() && !times.empty())
    span = clock_.place(std::span(&section, 1), gpu::hostNanoseconds()).front();
  events_.push_back({span.beginNs, span.endNs, slot.bytes});
  if (events_.size() > kMostEvents) events_.pop_front();
  slot.measured = true;
}

/// In the order in which they were sent, which is the order in which they finish.
void PeerLink::measureFinished() {
  const std::lock_guard lock(mutex_);
  std::vector<Slot*> finished;
  for (Slot& slot : slots_) {
    if (!slot.measured && slot.sent.queue->completed() >= slot.sent.value) finished.push_back(&slot);
  }
  std::ranges::sort(finished, {}, [](const Slot* slot) { return slot->sent.value; });
  for (Slot* slot : finished) measure(*slot);
}

LinkReport PeerLink::report() {
  for (const Slot& slot : slots_) wait(slot.sent, "report");
  measureFinished();
  return report_;
}

std::vector<LinkEvent> PeerLink::takeEvents() {
  measureFinished();
  std::vector<LinkEvent> taken(events_.begin(), events_.end());
  events_.clear();
  return taken;
}

}  // namespace

Expected<std::unique_ptr<Link>> makePeerLink(gpu::Device& sender, gpu::Device& receiver, LinkDesc desc) {
  if (sender.handle() != receiver.handle()) {
    return refuse(ExitCode::NoUsableGpu, "peer: {} and {} are not in one linked group; --link host-import works",
                  sender.name(), receiver.name());
  }
  if (desc.gigabytesPerSecondLimit > 0.0) {
    return refuse(ExitCode::WrongUsage,
                  "peer: no host stands between the GPUs that could slow them down; --link "
                  "host-copy can be throttled");
  }
  const uint64_t largest = *std::max_element(desc.itemBytes.begin(), desc.itemBytes.end());
  VkPeerMemoryFeatureFlags features = 0;
  sender.api().vkGetDeviceGroupPeerMemoryFeatures(sender.handle(), heapOf(sender, largest).index,
                                                  sender.hooks().seatIndex(), receiver.hooks().seatIndex(), &features);
  if ((features & VK_PEER_MEMORY_FEATURE_COPY_DST_BIT) == 0) {
    return refuse(ExitCode::NoUsableGpu, "peer: {} cannot copy into the memory of {}; --link host-copy works",
                  sender.name(), receiver.name());
  }
  try {
    return std::unique_ptr<Link>(std::make_unique<PeerLink>(sender, receiver, std::move(desc)));
  } catch (const gpu::DeviceLost&) {
    throw;
  } catch (const AdverseError& error) {
    return refuse(ExitCode::NoUsableGpu, "peer: {}; --link host-copy works", error.what());
  }
}

}  // namespace tandem::topology
