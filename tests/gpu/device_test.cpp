// The device layer alone: buffers, copies, dispatches, timestamps, waits with limits, and that validation really
// watches.
#include <numeric>

#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

class DeviceTest : public GpuFixture {};

TEST_F(DeviceTest, BytesComeBackAsTheyWent) {
  std::vector<uint32_t> values(100'000);
  std::iota(values.begin(), values.end(), 7u);
  const gpu::Buffer buffer = upload(device(), values, "values");
  EXPECT_EQ(download<uint32_t>(device(), buffer, values.size()), values);
}

TEST_F(DeviceTest, SectionsAreTimed) {
  gpu::Buffer buffer(device(), uint64_t{64} << 20, gpu::Memory::Device, "filled");
  gpu::Commands commands(device(), "timed");
  commands.begin();
  commands.beginSection("fill");
  commands.fill(buffer, 1);
  commands.endSection();
  commands.end();
  const auto done = device().queue().submit(commands.handle(), {}, "timed");
  device().queue().wait(done.value, "timed");
  const auto times = commands.times();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].name, "fill");
  EXPECT_GT(times[0].milliseconds, 0.0);
}

TEST_F(DeviceTest, ValidationSeesAMissingBarrier) {
  gpu::Buffer a(device(), 1024, gpu::Memory::Device, "a");
  gpu::Buffer b(device(), 1024, gpu::Memory::Device, "b");
  gpu::runOnce(device(), "hazard", [&](gpu::Commands& commands) {
    commands.fill(a, 1);
    commands.copy(a, b, 1024);  // reads what the fill is still writing
  });
  EXPECT_GE(takeMessages(), 1u) << "synchronization validation is not watching";
}

TEST_F(DeviceTest, RetiredObjectsLiveUntilTheWorkIsDone) {
  bool destroyed = false;
  gpu::Buffer buffer(device(), 1024, gpu::Memory::Device, "kept");
  gpu::Commands commands(device(), "work");
  commands.begin();
  commands.fill(buffer, 3);
  commands.end();
  const auto done = device().queue().submit(commands.handle(), {}, "work");
  device().retire([&] { destroyed = true; });
  device().queue().wait(done.value, "work");
  device().collect();
  EXPECT_TRUE(destroyed);
}

TEST_F(DeviceTest, FailuresNameCallAndObject) {
  gpu::Device faulty(instance(), testAdapter(), {.name = "faulty", .seam = [](const gpu::SeamEvent& event) {
                                                   return event.point == gpu::SeamPoint::Submit
                                                              ? gpu::SeamReply::FailLost
                                                              : gpu::SeamReply::Proceed;
                                                 }});
  gpu::Commands commands(faulty, "doomed");
  commands.begin();
  commands.end();
  try {
    faulty.queue().submit(commands.handle(), {}, "doomed batch");
    FAIL() << "the injected fault was swallowed";
  } catch (const gpu::DeviceLost& error) {
    EXPECT_NE(std::string(error.what()).find("doomed batch"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("VK_ERROR_DEVICE_LOST"), std::string::npos);
  }
}

}  // namespace
}  // namespace tandem::test
