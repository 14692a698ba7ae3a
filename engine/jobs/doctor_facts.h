// What the machine tells about its GPUs outside Vulkan: driver files, environment, PCI devices, connectors, the NVIDIA
// driver's parts. Plain data, so that the doctor's checks run on machines that are made up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem::jobs {

/// Where facts are read: the real machine, or a folder that stands for "/" and other variables.
struct MachineRoots {
  std::filesystem::path root = "/";
  std::function<std::optional<std::string>(const std::string& name)> variable;
  static MachineRoots real();
};

/// A description of a Vulkan driver (JSON) that the loader reads.
struct DriverFile {
  std::string path;
  bool exists = false;
  bool named = false;  // by VK_DRIVER_FILES, VK_ICD_FILENAMES or VK_ADD_DRIVER_FILES; else found in a folder
};

/// A PCIe link as it is now. Speeds in the kernel's words: "16.0 GT/s PCIe". GPUs lower both while idle.
struct PcieLink {
  std::string speed, maxSpeed;
  uint32_t width = 0, maxWidth = 0;  // lanes
};

/// A PCI device of the display class.
struct DisplayDevice {
  std::string address;  // "0000:18:00.0"
  uint32_t vendor = 0, device = 0;
  std::string kernelDriver;            // "nvidia", "amdgpu", "vfio-pci"; empty: none, or not told
  bool bootVga = false;                // the firmware showed its screen through it
  std::vector<std::string> connected;  // connectors with a monitor: "HDMI-A-1"
  std::optional<PcieLink> link;        // none: the kernel does not tell
};

struct MachineFacts {
  std::map<std::string, std::string> environment;  // of the variables that matter, those that are set
  std::vector<std::string> driverFolders;          // where the loader looks, in its order
  std::vector<DriverFile> driverFiles;
  std::vector<DisplayDevice> displays;
  bool connectorsTold = false;               // /sys/class/drm lists connectors
  bool nvidiaKernel = false;                 // NVIDIA's kernel module is loaded
  std::string nvidiaKernelVersion;           // "580.159.04"
  std::vector<std::string> nvidiaLibraries;  // versions of NVIDIA's user libraries, each once

  const DisplayDevice* displayAt(const std::string& pciAddress) const;
};

/// Reads what can be read; what cannot is left empty.
MachineFacts gatherFacts(const MachineRoots& roots);

}  // namespace tandem::jobs
