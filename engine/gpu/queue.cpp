#include "gpu/queue.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gpu/device.h"

namespace tandem::gpu {

Queue::Queue(Device& device, VkQueue queue, uint32_t family, std::string name)
    : device_(device),
      queue_(queue),
      family_(family),
      name_(std::move(name)),
      mutex_(device.logical()->queueLocks[queue]) {
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  check(device.api().vkCreateSemaphore(device.handle(), &info, nullptr, &timeline_), "vkCreateSemaphore", name_);
  device.nameObject(VK_OBJECT_TYPE_SEMAPHORE, reinterpret_cast<uint64_t>(timeline_), name_ + " timeline");
  device.nameObject(VK_OBJECT_TYPE_QUEUE, reinterpret_cast<uint64_t>(queue_), name_);
}

Queue::~Queue() { device_.api().vkDestroySemaphore(device_.handle(), timeline_, nullptr); }

SyncPoint Queue::submit(VkCommandBuffer commands, std::span<const SyncPoint> waits, std::string_view what) {
  std::vector<VkSemaphoreSubmitInfo> waitInfos;
  for (const SyncPoint& wait : waits) {
    if (wait.queue == nullptr || wait.value == 0) continue;
    TANDEM_CHECK(wait.queue->device().handle() == device_.handle(), "'{}' waits for {}, a queue of another device",
                 what, wait.queue->name());
    VkSemaphoreSubmitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    info.semaphore = wait.queue->timeline_;
    info.value = wait.value;
    info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    info.deviceIndex = device_.hooks().seatIndex();
    waitInfos.push_back(info);
  }
  const std::lock_guard lock(mutex_);
  const uint64_t value = submitted_.load() + 1;
  VkSemaphoreSubmitInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
  signal.semaphore = timeline_;
  signal.value = value;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  signal.deviceIndex = device_.hooks().seatIndex();
  VkCommandBufferSubmitInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
  buffer.commandBuffer = commands;
  buffer.deviceMask = device_.hooks().deviceMask();
  VkSubmitInfo2 submission{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  submission.waitSemaphoreInfoCount = static_cast<uint32_t>(waitInfos.size());
  submission.pWaitSemaphoreInfos = waitInfos.data();
  submission.commandBufferInfoCount = 1;
  submission.pCommandBufferInfos = &buffer;
  submission.signalSemaphoreInfoCount = 1;
  submission.pSignalSemaphoreInfos = &signal;
  device_.passSeam(SeamPoint::Submit, what);
  device_.require(device_.api().vkQueueSubmit2(queue_, 1, &submission, VK_NULL_HANDLE), "vkQueueSubmit2", what);
  submitted_.store(value);
  return {this, value};
}

void Queue::wait(uint64_t value, std::string_view what, SeamPoint point, bool spin) {
  if (value == 0 || !device_.passSeam(point, what)) return;
  if (spin) return spinUntil(value, what);
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  const auto limit = static_cast<uint64_t>(device_.waitLimitSeconds() * 1e9);
  const VkResult result = device_.api().vkWaitSemaphores(device_.handle(), &info, limit);
  if (result == VK_TIMEOUT) {
    timedOut(what);
  }
  device_.require(result, "vkWaitSemaphores", what);
}

void Queue::spinUntil(uint64_t value, std::string_view what) {
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::duration<double>(device_.waitLimitSeconds());
  while (completed() < value) {
    if (Clock::now() > limit) timedOut(what);
    std::this_thread::yield();
  }
}

void Queue::timedOut(std::string_view what) {
  device_.markLost(fmt::format("'{}' did not finish in time", what));
  throw DeviceLost(fmt::format("waited {} s for '{}' on {} and it did not finish: the GPU hangs or is far too slow for "
                               "this work; lower --size or --samples",
                               device_.waitLimitSeconds(), what, device_.name()),
                   &device_);
}

bool Queue::waitIdle() {
  const std::lock_guard lock(mutex_);
  return device_.api().vkQueueWaitIdle(queue_) == VK_SUCCESS;
}

bool Queue::settle(double seconds) {
  const uint64_t value = submitted_.load();
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  return device_.api().vkWaitSemaphores(device_.handle(), &info, static_cast<uint64_t>(seconds * 1e9)) != VK_TIMEOUT;
}

uint64_t Queue::completed() const {
  uint64_t value = 0;
  device_.require(device_.api().vkGetSemaphoreCounterValue(device_.handle(), timeline_, &value),
                  "vkGetSemaphoreCounterValue", name_);
  if (value == UINT64_MAX) {
    device_.markLost(fmt::format("the timeline of {} reads UINT64_MAX", name_));
    throw DeviceLost(fmt::format("the timeline of {} reads UINT64_MAX: the GPU was lost", name_), &device_);
  }
  return value;
}

}  // namespace tandem::gpu
