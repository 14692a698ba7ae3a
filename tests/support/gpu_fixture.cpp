#include "support/gpu_fixture.h"

#include <stdexcept>

namespace tandem::test {

gpu::Instance& sharedInstance() {
  static const auto instance = [] {
    auto opened = gpu::Instance::open({.validation = true});
    if (!opened)
      throw std::runtime_error("GPU tests need a Vulkan device and the validation layer: " + opened.refusal().message);
    return std::move(*opened);
  }();
  return *instance;
}

const gpu::Adapter& testAdapter() {
  const gpu::Adapter* best = nullptr;
  for (const auto& adapter : sharedInstance().adapters()) {
    if (adapter.usable() && (best == nullptr || (best->software() && !adapter.software()))) best = &adapter;
  }
  if (best == nullptr)
    throw std::runtime_error("GPU tests need a usable Vulkan device: none was found (tools/test.sh installs Mesa)");
  return *best;
}

gpu::Device& sharedDevice() {
  static gpu::Device device(sharedInstance(), testAdapter(), {.name = "test device"});
  return device;
}

void GpuFixture::TearDown() {
  const auto messages = instance().messages().messages();
  for (size_t i = messagesBefore_; i < messages.size(); ++i) ADD_FAILURE() << "validation: " << messages[i];
}

size_t GpuFixture::takeMessages() {
  const size_t now = instance().messages().count();
  const size_t came = now - messagesBefore_;
  messagesBefore_ = now;
  return came;
}

gpu::Buffer uploadBuffer(gpu::Device& device, std::span<const std::byte> bytes, const std::string& name) {
  gpu::Buffer buffer(device, bytes.size(), gpu::Memory::Device, name);
  gpu::runOnce(device, "upload " + name, [&](gpu::Commands& commands) { commands.update(buffer, 0, bytes); });
  return buffer;
}

std::vector<std::byte> downloadBytes(gpu::Device& device, const gpu::Buffer& buffer, uint64_t bytes) {
  gpu::Buffer target(device, bytes, gpu::Memory::Readback, "download");
  gpu::runOnce(device, "download " + buffer.name(), [&](gpu::Commands& commands) {
    commands.barrier();
    commands.copy(buffer, target, bytes);
    commands.barrierToHost();
  });
  target.invalidate();
  const auto mapped = target.mapped();
  return {mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(bytes)};
}

}  // namespace tandem::test
