// Every GPU test stands on this: one instance and device per test program, under core and synchronization validation,
// and a check after each test that the layers said nothing. Without a Vulkan device or without the layers the tests
// fail, they are never skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "gpu/device.h"
#include "gpu/instance.h"

namespace tandem::test {

/// The instance with validation that all tests of one program share.
gpu::Instance& sharedInstance();
/// The adapter that tests run on: a GPU where there is one, else the software device.
const gpu::Adapter& testAdapter();
/// The device that most tests share.
gpu::Device& sharedDevice();
/// One with ray-tracing pipelines; null where the adapter has none.
gpu::Device* sharedRayDevice();

class GpuFixture : public testing::Test {
 protected:
  void SetUp() override { messagesBefore_ = instance().messages().count(); }
  void TearDown() override;
  gpu::Instance& instance() { return sharedInstance(); }
  gpu::Device& device() { return sharedDevice(); }
  /// For tests that provoke messages on purpose: how many came since the test began; they no longer fail it.
  size_t takeMessages();

 private:
  size_t messagesBefore_ = 0;
};

/// A device buffer with these contents.
gpu::Buffer uploadBuffer(gpu::Device& device, std::span<const std::byte> bytes, const std::string& name);
std::vector<std::byte> downloadBytes(gpu::Device& device, const gpu::Buffer& buffer, uint64_t bytes);

template <class T, class Allocator>
gpu::Buffer upload(gpu::Device& device, const std::vector<T, Allocator>& values, const std::string& name) {
  return uploadBuffer(device, std::as_bytes(std::span(values)), name);
}

template <class T>
std::vector<T> download(gpu::Device& device, const gpu::Buffer& buffer, size_t count) {
  const auto bytes = downloadBytes(device, buffer, count * sizeof(T));
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace tandem::test
