// The doctor on machines that are made up: a folder stands for "/", a map for the environment. Each mistake is made,
// and found by its own check and by no other; a healthy machine hears nothing.
#include "jobs/doctor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;
using gpu::Adapter;
using gpu::AdapterType;

class Doctor : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / (std::string("tandem_doctor_") + info->name() + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }

  /// A PCI device of the display class with this kernel driver.
  void addPci(const std::string& address, const std::string& vendor, const std::string& driver,
              const std::string& classCode = "0x030000") {
    const std::string folder = "sys/bus/pci/devices/" + address + "/";
    write(folder + "class", classCode);
    write(folder + "vendor", vendor);
    write(folder + "device", "0x1234");
    if (driver.empty()) return;
    fs::create_directories(root_ / "sys/bus/pci/drivers" / driver);
    fs::create_directory_symlink("../../drivers/" + driver, root_ / folder / "driver");
  }

  void addConnector(const std::string& card, const std::string& connector, const std::string& status,
                    const std::string& address) {
    write("sys/class/drm/" + card + "-" + connector + "/status", status);
    fs::create_directories(root_ / "sys/class/drm" / card);
    const fs::path link = root_ / "sys/class/drm" / card / "device";
    if (!fs::is_symlink(fs::symlink_status(link)))
      fs::create_directory_symlink("../../../bus/pci/devices/" + address, link);
  }

  MachineFacts facts() {
    MachineRoots roots;
    roots.root = root_;
    roots.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found != environment_.end() ? std::optional(found->second) : std::nullopt;
    };
    return gatherFacts(roots);
  }

  /// The ids of all findings.
  std::vector<std::string> complaints() {
    std::vector<std::string> ids;
    for (const Finding& finding : diagnose(facts(), adapters_)) {
      EXPECT_FALSE(finding.message.empty() || finding.advice.empty());
      EXPECT_EQ((finding.message + finding.advice).find('\n'), std::string::npos);
      ids.push_back(finding.id);
    }
    return ids;
  }
  /// The one finding that there is.
  Finding only(const std::string& id) {
    const auto findings = diagnose(facts(), adapters_);
    EXPECT_EQ(complaints(), std::vector<std::string>{id});
    return findings.empty() ? Finding{} : findings.front();
  }

  /// A desktop with one NVIDIA card that works.
  void makeHealthy() {
    write("usr/share/vulkan/icd.d/nvidia_icd.json", "{}");
    write("proc/driver/nvidia/version",
          "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (root@builder)");
    write("usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.580.82.07", "");
    addPci("0000:18:00.0", "0x10de", "nvidia");
    addConnector("card1", "DP-1", "connected", "0000:18:00.0");
    environment_ = {{"HOME", "/home/someone"}, {"DISPLAY", ":0"}};
    adapters_ = {adapter(0, "NVIDIA H200", AdapterType::Discrete, 0x10de, 0x18, "NVIDIA 580.82.07")};
  }

  static Adapter adapter(uint32_t index, const std::string& name, AdapterType type, uint32_t vendor,
                         std::optional<uint32_t> bus, const std::string& driver) {
    Adapter made;
    made.index = index;
    made.name = name;
    made.type = type;
    made.vendorId = vendor;
    made.driver = driver;
    if (bus) made.pci = gpu::PciAddress{0, *bus, 0, 0};
    return made;
  }

  fs::path root_;
  std::map<std::string, std::string> environment_;
  std::vector<Adapter> adapters_;
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Doctor, AHealthyMachineHearsNothing) {
  makeHealthy();
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

TEST_F(Doctor, AnEmptyMachineHasNoDriverFile) {
  environment_ = {{"HOME", "/home/someone"}, {"XDG_DATA_DIRS", "/opt/share:/usr/share"}};
  const Finding finding = only("no-driver-file");
  for (const char* folder : {"/home/someone/.config/vulkan/icd.d", "/etc/xdg/vulkan/icd.d", "/etc/vulkan/icd.d",
                             "/home/someone/.local/share/vulkan/icd.d", "/opt/share/vulkan/icd.d",
                             "/usr/share/vulkan/icd.d", "VK_DRIVER_FILES is not set"})
    EXPECT_TRUE(says(finding.message, folder)) << folder << " is missing in: " << finding.message;
  EXPECT_FALSE(says(finding.message, "/usr/local/share")) << "XDG_DATA_DIRS replaces it";
  EXPECT_TRUE(says(finding.advice, "mesa-vulkan-drivers"));
}

TEST_F(Doctor, ADriverFileInAnyOfTheFoldersCounts) {
  write("etc/vulkan/icd.d/lvp_icd.json", "{}");
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

TEST_F(Doctor, AVariableThatNamesAMissingFile) {
  makeHealthy();
  write("opt/drivers/good.json", "{}");
  environment_["VK_DRIVER_FILES"] = "/opt/drivers/good.json:/opt/drivers/gone.json";
  adapters_.clear();
  const auto findings = checkNamedFiles({facts(), adapters_});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(says(findings[0].message, "VK_DRIVER_FILES"));
  EXPECT_TRUE(says(findings[0].message, "/opt/drivers/gone.json"));
  EXPECT_FALSE(says(findings[0].message, "good.json"));
  EXPECT_TRUE(checkDriverFiles({facts(), adapters_}).empty()) << "one is there";
}

TEST_F(Doctor, AVariableReplacesTheSearchAndMayNameAFolder) {
  write("usr/share/vulkan/icd.d/lvp_icd.json", "{}");
  environment_["VK_DRIVER_FILES"] = "/gone.json";
  EXPECT_EQ(complaints(), (std::vector<std::string>{"no-driver-file", "missing-driver-file"}));
  write("opt/drivers/a.json", "{}");
  environment_["VK_DRIVER_FILES"] = "/opt/drivers";
  EXPECT_EQ(complaints(), std::vector<std::string>{});
  environment_ = {{"VK_ICD_FILENAMES", "/gone.json"}};
  EXPECT_EQ(complaints(), (std::vector<std::string>{"no-driver-file", "missing-driver-file"}));
  environment_ = {{"VK_ADD_DRIVER_FILES", "/gone.json"}};
  EXPECT_TRUE(says(only("missing-driver-file").message, "VK_ADD_DRIVER_FILES"));
}

TEST_F(Doctor, AContainerWithoutTheGraphicsCapability) {
  write("usr/share/vulkan/icd.d/lvp_icd.json", "{}");
  adapters_ = {adapter(0, "llvmpipe", AdapterType::Software, 0x10005, std::nullopt, "llvmpipe Mesa 25.0.7")};
  environment_ = {{"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}, {"NVIDIA_VISIBLE_DEVICES", "all"}};
  EXPECT_TRUE(says(only("no-graphics-capability").message, "compute,utility"));
  environment_.erase("NVIDIA_DRIVER_CAPABILITIES");
  EXPECT_TRUE(says(only("no-graphics-capability").message, "NVIDIA_DRIVER_CAPABILITIES"));
  for (const char* enough : {"all", "compute,graphics", "graphics,utility,display"}) {
    environment_["NVIDIA_DRIVER_CAPABILITIES"] = enough;
    EXPECT_EQ(complaints(), std::vector<std::string>{}) << enough;
  }
  environment_.clear();
  write("proc/driver/nvidia/version", "");
  EXPECT_TRUE(says(only("no-graphics-capability").message, "nvidia_icd.json"));
}

TEST_F(Doctor, DisplayAtAForeignServer) {
  makeHealthy();
  write("sys/class/drm/card1-DP-1/status", "disconnected");
  const Finding finding = only("foreign-display");
  EXPECT_TRUE(says(finding.message, "DISPLAY=:0") && says(finding.advice, "unset DISPLAY"));
  environment_.erase("DISPLAY");
  EXPECT_EQ(complaints(), std::vector<std::string>{});
  environment_["DISPLAY"] = "localhost:10.0";
  fs::remove_all(root_ / "sys/class/drm");
  EXPECT_EQ(complaints(), std::vector<std::string>{}) << "whether a GPU drives a display is not known here";
  adapters_[0].type = AdapterType::Software;
  adapters_[0].pci.reset();
  EXPECT_EQ(checkDisplay({facts(), adapters_}).size(), 1u) << "a software device drives none";
}

TEST_F(Doctor, ALaptopThatHidesAGpu) {
  write("usr/share/vulkan/icd.d/intel_icd.json", "{}");
  addPci("0000:00:02.0", "0x8086", "i915");
  addPci("0000:01:00.0", "0x10de", "nouveau", "0x030200");
  addPci("0000:02:00.0", "0x1a03", "ast");                 // a server's management chip
  addPci("0000:03:00.0", "0x1002", "vfio-pci");            // of a virtual machine
  addPci("0000:04:00.0", "0x8086", "e1000e", "0x020000");  // no display
  addConnector("card0", "eDP-1", "connected", "0000:00:02.0");
  adapters_ = {adapter(0, "Intel Iris Xe", AdapterType::Integrated, 0x8086, 0, "Intel Mesa 25.0.7")};
  adapters_[0].pci = gpu::PciAddress{0, 0, 2, 0};
  const Finding finding = only("hidden-gpu");
  EXPECT_TRUE(says(finding.message, "NVIDIA") && says(finding.message, "0000:01:00.0")) << finding.message;
  EXPECT_TRUE(says(finding.advice, "__NV_PRIME_RENDER_OFFLOAD"));
}

TEST_F(Doctor, AnOldMesa) {
  makeHealthy();
  adapters_.push_back(adapter(1, "llvmpipe", AdapterType::Software, 0x10005, std::nullopt, "llvmpipe Mesa 22.3.6"));
  adapters_.push_back(adapter(2, "llvmpipe", AdapterType::Software, 0x10005, std::nullopt, "llvmpipe Mesa 25.0.7-2"));
  const Finding finding = only("old-mesa");
  EXPECT_TRUE(says(finding.message, "GPU 1") && says(finding.message, "22.3.6")) << finding.message;
}

TEST_F(Doctor, NvidiaKernelAndLibrariesThatDiffer) {
  makeHealthy();
  write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  Wed Feb 26");
  const Finding finding = only("nvidia-mismatch");
  EXPECT_TRUE(says(finding.message, "570.124.06") && says(finding.message, "580.82.07")) << finding.message;
}

TEST_F(Doctor, WhoDrivesTheDisplay) {
  makeHealthy();
  addPci("0000:3b:00.0", "0x10de", "nvidia");
  addConnector("card2", "HDMI-A-1", "connected", "0000:3b:00.0");
  addConnector("card2", "HDMI-A-2", "connected", "0000:3b:00.0");
  adapters_.push_back(adapter(1, "NVIDIA H200", AdapterType::Discrete, 0x10de, 0x3b, "NVIDIA 580.82.07"));
  EXPECT_EQ(displayOwner(facts(), adapters_), 0u);
  EXPECT_EQ(displayOf(facts(), adapters_[1]), "HDMI-A-1, HDMI-A-2");
  write("sys/bus/pci/devices/0000:3b:00.0/boot_vga", "1");
  EXPECT_EQ(displayOwner(facts(), adapters_), 1u);
  fs::remove_all(root_ / "sys/class/drm");
  EXPECT_EQ(displayOwner(facts(), adapters_), std::nullopt);
  EXPECT_EQ(displayOf(facts(), adapters_[0]), "N/A");
}

TEST_F(Doctor, PcieLinksAsTheKernelTellsThem) {
  makeHealthy();
  const std::string folder = "sys/bus/pci/devices/0000:18:00.0/";
  EXPECT_FALSE(facts().displayAt("0000:18:00.0")->link.has_value());
  write(folder + "current_link_speed", "2.5 GT/s PCIe");
  write(folder + "current_link_width", "4");
  write(folder + "max_link_speed", "32.0 GT/s PCIe");
  write(folder + "max_link_width", "16");
  const MachineFacts told = facts();
  const auto& link = told.displayAt("0000:18:00.0")->link;
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->speed, "2.5 GT/s PCIe");
  EXPECT_EQ(link->maxSpeed, "32.0 GT/s PCIe");
  EXPECT_EQ(link->width, 4u);
  EXPECT_EQ(link->maxWidth, 16u);
  write(folder + "current_link_speed", "Unknown");
  EXPECT_FALSE(facts().displayAt("0000:18:00.0")->link.has_value());
}

}  // namespace
}  // namespace tandem::jobs
