// CUDA's driver is found while running or not at all: what is missing is a refusal that names it, and nothing of CUDA
// takes part in the build.
#include "topology/cuda_driver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace tandem {
namespace {

namespace cuda = topology::cuda;

TEST(CudaDriver, ALibraryThatIsNotThereIsRefusedByName) {
  const auto loaded = cuda::loadDriver("libcuda_that_nobody_has.so.1");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.refusal().message.find("libcuda_that_nobody_has.so.1 cannot be opened"), std::string::npos)
      << loaded.refusal().message;
  EXPECT_EQ(loaded.refusal().exit, ExitCode::NoUsableGpu);
}

TEST(CudaDriver, ALibraryWithoutTheEntryPointsIsRefusedByTheFirst) {
  const auto loaded = cuda::loadDriver("libc.so.6");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.refusal().message.find("libc.so.6 has no cuInit"), std::string::npos) << loaded.refusal().message;
}

TEST(CudaDriver, TheProcessHasOneAnswer) {
  const auto& driver = cuda::driver();
  EXPECT_EQ(&driver, &cuda::driver());
  if (!driver) {
    EXPECT_NE(driver.refusal().message.find("libcuda.so.1"), std::string::npos) << driver.refusal().message;
  }
}

TEST(CudaDriver, ErrorsNameCallObjectAndCode) {
  cuda::Driver fake;
  fake.getErrorName = [](cuda::Result result, const char** name) {
    *name = result == cuda::kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
    return result == cuda::kOutOfMemory ? cuda::kSuccess : 1;
  };
  EXPECT_NO_THROW(fake.require(cuda::kSuccess, "cuMemCreate", "slot 1"));
  const auto messageOf = [&](cuda::Result result) {
    try {
      fake.require(result, "cuMemCreate", "slot 1");
    } catch (const AdverseError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string full = messageOf(cuda::kOutOfMemory);
  EXPECT_EQ(full.find("cuMemCreate for 'slot 1' failed: CUDA_ERROR_OUT_OF_MEMORY (2); close other programs"), 0u)
      << full;
  EXPECT_NE(messageOf(719).find("(719); --link host-import"), std::string::npos) << messageOf(719);
}

TEST(CudaDriver, DevicesAreFoundByUuidAndNeverByOrder) {
  cuda::Driver fake;
  fake.deviceGetCount = [](int* count) { return *count = 3, cuda::kSuccess; };
  fake.deviceGet = [](cuda::DeviceOrdinal* device, int ordinal) { return *device = 10 + ordinal, cuda::kSuccess; };
  fake.deviceGetUuid = [](cuda::Uuid* uuid, cuda::DeviceOrdinal device) {
    *uuid = {};
    (*uuid)[15] = static_cast<uint8_t>(device);
    return cuda::kSuccess;
  };
  cuda::Uuid wanted{};
  wanted[15] = 12;
  const auto found = cuda::findDevice(fake, wanted, "a GPU");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, 12);
  wanted[0] = 1;
  const auto none = cuda::findDevice(fake, wanted, "a GPU");
  ASSERT_FALSE(none);
  EXPECT_NE(none.refusal().message.find("none with the UUID of a GPU"), std::string::npos) << none.refusal().message;
}

TEST(CudaDriver, NoSourceIncludesAHeaderOfCuda) {
  const std::regex include(R"(^\s*#\s*include\s*[<"](cuda|nvml|nvrtc)[^/">]*\.h(pp)?[">])");
  size_t read = 0;
  for (const char* folder : {"engine", "app", "shaders", "tests"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TANDEM_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      ++read;
      for (std::string line; std::getline(file, line);)
        EXPECT_FALSE(std::regex_search(line, include)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace tandem
