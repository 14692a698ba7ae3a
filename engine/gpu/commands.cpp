#include "gpu/commands.h"

#include <algorithm>

#include "gpu/textures.h"

namespace tandem::gpu {
namespace {

constexpr uint32_t kMaxSections = 128;
constexpr uint64_t kArenaChunk = uint64_t{256} << 10;
constexpr uint64_t kArenaAlignment = 64;

/// What a family of a device can do, and so what a barrier on its queues may name.
struct Reach {
  VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  VkAccessFlags2 writes = VK_ACCESS_2_TRANSFER_WRITE_BIT;
  VkAccessFlags2 reads = VK_ACCESS_2_TRANSFER_READ_BIT;
};

Reach reachOf(const Device& device, bool copiesOnly) {
  Reach reach;
  if (copiesOnly) return reach;
  reach.stages |= VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  reach.writes |= VK_ACCESS_2_SHADER_WRITE_BIT;
  reach.reads |= VK_ACCESS_2_SHADER_READ_BIT;
  if (!device.rayTracing()) return reach;
  reach.stages |=
      VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR | VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
  reach.writes |= VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR;
  reach.reads |= VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR;
  return reach;
}

}  // namespace

Commands::Commands(Device& device, std::string name) : Commands(device, std::move(name), device.queue()) {}

Commands::Commands(Device& device, std::string name, const Queue& queue)
    : device_(device),
      name_(std::move(name)),
      copiesOnly_(queue.family() == device.adapter().transferFamily),
      timed_(!copiesOnly_ || device.adapter().transferTimestamps) {
  VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  poolInfo.queueFamilyIndex = queue.family();
  check(device.api().vkCreateCommandPool(device.handle(), &poolInfo, nullptr, &pool_), "vkCreateCommandPool", name_);
  VkCommandBufferAllocateInfo bufferInfo{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  bufferInfo.commandPool = pool_;
  bufferInfo.commandBufferCount = 1;
  check(device.api().vkAllocateCommandBuffers(device.handle(), &bufferInfo, &commands_), "vkAllocateCommandBuffers",
        name_);
  device.nameObject(VK_OBJECT_TYPE_COMMAND_BUFFER, reinterpret_cast<uint64_t>(commands_), name_);
  VkQueryPoolCreateInfo queryInfo{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  queryInfo.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queryInfo.queryCount = 2 * kMaxSections;
  check(device.api().vkCreateQueryPool(device.handle(), &queryInfo, nullptr, &queries_), "vkCreateQueryPool", name_);
}

Commands::~Commands() {
  device_.retire([device = &device_, pool = pool_, queries = queries_] {
    device->api().vkDestroyQueryPool(device->handle(), queries, nullptr);
    device->api().vkDestroyCommandPool(device->handle(), pool, nullptr);
  });
}

void Commands::begin() {
  sections_.clear();
  arenaChunk_ = 0;
  arenaUsed_ = 0;
  check(device_.api().vkResetCommandPool(device_.handle(), pool_, 0), "vkResetCommandPool", name_);
  device_.api().vkResetQueryPool(device_.handle(), queries_, 0, 2 * kMaxSections);
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, device_.hooks().commandBeginNext()};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(device_.api().vkBeginCommandBuffer(commands_, &info), "vkBeginCommandBuffer", name_);
}

void Commands::end() {
  for (const Buffer& chunk : arena_) chunk.flush();
  check(device_.api().vkEndCommandBuffer(commands_), "vkEndCommandBuffer", name_);
}

void Commands::dispatchBytes(std::string_view shader, const void* push, size_t bytes, Groups groups,
                             const TextureTable* textures, const Specialization& specialization) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return;
  const auto& limits = device_.adapter().limits;
  TANDEM_CHECK(groups.x <= limits.maxComputeWorkGroupCount[0] && groups.y <= limits.maxComputeWorkGroupCount[1] &&
                   groups.z <= limits.maxComputeWorkGroupCount[2],
               "'{}' dispatches {} x {} x {} groups, more than {} allows", shader, groups.x, groups.y, groups.z,
               device_.name());
  Pipelines& pipelines = device_.pipelines();
  const auto& api = device_.api();
  api.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines.get(shader, specialization));
  if (textures != nullptr) {
    const VkDescriptorSet set = textures->set();
    api.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines.layout(), 0, 1, &set, 0, nullptr);
  }
  api.vkCmdPushConstants(commands_, pipelines.layout(), pipelines.stages(), 0, static_cast<uint32_t>(bytes), push);
  api.vkCmdDispatch(commands_, groups.x, groups.y, groups.z);
}

void Commands::traceBytes(const RayShaders& shaders, const void* push, size_t bytes, uint32_t width, uint32_t height,
                          const TextureTable* textures, const Specialization& specialization) {
  if (width == 0 || height == 0) return;
  const RayPipelines::Entry& entry = device_.rayPipelines().get(shaders, specialization);
  Pipelines& pipelines = device_.pipelines();
  const auto& api = device_.api();
  api.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, entry.pipeline);
  if (textures != nullptr) {
    const VkDescriptorSet set = textures->set();
    api.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipelines.layout(), 0, 1, &set, 0,
                                nullptr);
  }
  api.vkCmdPushConstants(commands_, pipelines.layout(), pipelines.stages(), 0, static_cast<uint32_t>(bytes), push);
  const VkStridedDeviceAddressRegionKHR none{};
  api.vkCmdTraceRaysKHR(commands_, &entry.raygen, &entry.miss, &entry.hit, &none, width, height, 1);
}

Commands::Block Commands::stage(std::span<const std::byte> bytes) {
  while (arenaChunk_ < arena_.size() && arenaUsed_ + bytes.size() > arena_[arenaChunk_].bytes()) {
    ++arenaChunk_;
    arenaUsed_ = 0;
  }
  if (arenaChunk_ == arena_.size()) {
    arena_.emplace_back(device_, std::max<uint64_t>(kArenaChunk, bytes.size()), Memory::Upload, name_ + " parameters");
    arenaUsed_ = 0;
  }
  const Block block{&arena_[arenaChunk_], arenaUsed_};
  std::memcpy(block.buffer->mapped().data() + block.offset, bytes.data(), bytes.size());
  arenaUsed_ = (arenaUsed_ + bytes.size() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  return block;
}

VkDeviceAddress Commands::uploadBytes(std::span<const std::byte> bytes) {
  const Block block = stage(bytes);
  return block.buffer->address() + block.offset;
}

void Commands::update(const Buffer& target, uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  TANDEM_CHECK(offset + bytes.size() <= target.bytes(), "{} bytes at {} do not fit '{}'", bytes.size(), offset,
               target.name());
  const Block block = stage(bytes);
  const VkBufferCopy region{block.offset, offset, bytes.size()};
  device_.api().vkCmdCopyBuffer(commands_, block.buffer->handle(), target.handle(), 1, &region);
}

void Commands::copy(const Buffer& from, uint64_t fromOffset, const Buffer& to, uint64_t toOffset, uint64_t bytes) {
  TANDEM_CHECK(fromOffset + bytes <= from.bytes() && toOffset + bytes <= to.bytes(),
               "{} bytes do not fit from '{}' at {} to '{}' at {}", bytes, from.name(), fromOffset, to.name(),
               toOffset);
  const VkBufferCopy region{fromOffset, toOffset, bytes};
  device_.api().vkCmdCopyBuffer(commands_, from.handle(), to.handle(), 1, &region);
}

void Commands::fill(const Buffer& target, uint32_t value) {
  device_.api().vkCmdFillBuffer(commands_, target.handle(), 0, VK_WHOLE_SIZE, value);
}

void Commands::barrier() {
  if (!device_.passSeam(SeamPoint::Barrier, name_)) return;
  VkMemoryBarrier2 memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  const Reach reach = reachOf(device_, copiesOnly_);
  memory.srcStageMask = reach.stages;
  memory.srcAccessMask = reach.writes;
  memory.dstStageMask = reach.stages;
  memory.dstAccessMask = reach.writes | reach.reads;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &memory;
  device_.api().vkCmdPipelineBarrier2(commands_, &dependency);
}

void Commands::barrierToHost() {
  VkMemoryBarrier2 memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  const Reach reach = reachOf(device_, copiesOnly_);
  memory.srcStageMask = reach.stages;
  memory.srcAccessMask = reach.writes;
  memory.dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT;
  memory.dstAccessMask = VK_ACCESS_2_HOST_READ_BIT;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &memory;
  device_.api().vkCmdPipelineBarrier2(commands_, &dependency);
}

void Commands::beginSection(std::string_view name) {
  TANDEM_CHECK(sections_.size() < kMaxSections, "more than {} sections in '{}'", kMaxSections, name_);
  if (device_.hasDebugUtils()) {
    const std::string copy(name);
    VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
    label.pLabelName = copy.c_str();
    vkCmdBeginDebugUtilsLabelEXT(commands_, &label);
  }
  const auto query = static_cast<uint32_t>(2 * sections_.size());
  if (timed_) device_.api().vkCmdWriteTimestamp2(commands_, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_, query);
  sections_.emplace_back(name);
}

void Commands::endSection() {
  const auto query = static_cast<uint32_t>(2 * sections_.size() - 1);
  if (timed_) device_.api().vkCmdWriteTimestamp2(commands_, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_, query);
  if (device_.hasDebugUtils()) vkCmdEndDebugUtilsLabelEXT(commands_);
}

std::vector<PassTime> Commands::times() const {
  if (sections_.empty() || !timed_) return {};
  const auto count = static_cast<uint32_t>(2 * sections_.size());
  std::vector<uint64_t> ticks(count);
  device_.require(device_.api().vkGetQueryPoolResults(device_.handle(), queries_, 0, count,
                                                      ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                  "vkGetQueryPoolResults", name_);
  std::vector<PassTime> times;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const double elapsed = static_cast<double>(ticks[2 * i + 1] - ticks[2 * i]);
    times.push_back({sections_[i], elapsed * double{device_.adapter().limits.timestampPeriod} * 1e-6, ticks[2 * i],
                     ticks[2 * i + 1]});
  }
  return times;
}

}  // namespace tandem::gpu
