// The kernel's files about a GPU, in a folder that stands for /sys/bus/pci/devices.
#include "jobs/sysfs_gpu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

class SysfsGpu : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / (std::string("tandem_sysfs_") + info->name() + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const fs::path path = root_ / "0000:03:00.0/hwmon/hwmon4" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  GpuState state() {
    auto probe = makeSysfsProbe(kAddress, root_);
    EXPECT_TRUE(probe) << probe.refusal().message;
    return probe ? (*probe)->state() : GpuState{};
  }

  std::optional<double> energy() { return (*makeSysfsProbe(kAddress, root_))->energyJoules(); }

  static constexpr gpu::PciAddress kAddress{0, 3, 0, 0};
  fs::path root_;
};

void expectNear(const std::optional<double>& value, double expected) {
  ASSERT_TRUE(value);
  EXPECT_NEAR(*value, expected, 1e-9);
}

TEST_F(SysfsGpu, UnitsOfAnAmdGpu) {
  write("name", "amdgpu\n");
  write("power1_average", "216000000\n");
  write("power1_cap", "300000000\n");
  write("temp1_input", "61500\n");
  write("freq1_input", "2105000000\n");
  write("freq2_input", "1249000000\n");
  const GpuState read = state();
  expectNear(read.powerW, 216.0);
  expectNear(read.powerLimitW, 300.0);
  expectNear(read.temperatureC, 61.5);
  expectNear(read.graphicsMHz, 2105.0);
  expectNear(read.memoryMHz, 1249.0);
  EXPECT_FALSE(read.throttleReasons);  // these files do not tell
  EXPECT_FALSE(energy());
}

TEST_F(SysfsGpu, UnitsOfAnIntelGpu) {
  write("energy1_input", "98765432109\n");
  write("power1_max", "190000000\n");
  const GpuState read = state();
  expectNear(read.powerLimitW, 190.0);
  EXPECT_FALSE(read.powerW);
  EXPECT_FALSE(read.temperatureC);
  expectNear(energy(), 98765.432109);
}

TEST_F(SysfsGpu, PowerOfTheMomentStandsInForTheAverage) {
  write("power1_input", "48000000\n");
  expectNear(state().powerW, 48.0);
  write("power1_average", "51000000\n");
  expectNear(state().powerW, 51.0);
}

TEST_F(SysfsGpu, ZeroAndColdAreMeasurementsAndALimitOfZeroIsNone) {
  write("freq1_input", "0\n");
  write("temp1_input", "-5000\n");
  write("power1_cap", "0\n");
  const GpuState read = state();
  expectNear(read.graphicsMHz, 0.0);
  expectNear(read.temperatureC, -5.0);
  EXPECT_FALSE(read.powerLimitW);
}

TEST_F(SysfsGpu, WhatIsNoNumberIsNothing) {
  write("power1_average", "");
  write("temp1_input", "n/a\n");
  write("freq1_input", "12x\n");
  write("freq2_input", "99999999999999999999999\n");
  write("energy1_input", "-1\n");
  EXPECT_EQ(state(), GpuState{});
  EXPECT_FALSE(energy());
}

TEST_F(SysfsGpu, AGpuWithoutSensorsIsRefusedByItsFolder) {
  const auto absent = makeSysfsProbe(kAddress, root_);
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.refusal().message.find((root_ / "0000:03:00.0/hwmon").string()), std::string::npos)
      << absent.refusal().message;
  write("temp1_input", "40000\n");
  EXPECT_TRUE(makeSysfsProbe(kAddress, root_));
  EXPECT_FALSE(makeSysfsProbe({0, 4, 0, 0}, root_));  // another GPU's sensors are not its own
}

}  // namespace
}  // namespace tandem::jobs
