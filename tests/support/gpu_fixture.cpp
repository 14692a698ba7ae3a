#include "support/gpu_fixture.h"

#include <execinfo.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tandem::test {
namespace {

/// A crash says where: drivers have threads of their own, and a crash that comes once in a thousand runs is not met
/// again under a debugger.
void sayWhere(int signal) {
  void* frames[64];
  const char line[] = "crashed here:\n";
  static_cast<void>(!::write(STDERR_FILENO, line, sizeof(line) - 1));
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 64), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

[[maybe_unused]] const bool kSaysWhere = [] {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they say it better
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // loads what it needs now: in the handler it may not allocate
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, sayWhere);
#endif
  return true;
}();

}  // namespace

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

gpu::Device* sharedRayDevice() {
  if (!testAdapter().rayTracing) return nullptr;
  static gpu::Device device(sharedInstance(), testAdapter(), {.name = "test device with rays", .rayTracing = true});
  return &device;
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
