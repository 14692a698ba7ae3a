#include "jobs/doctor_facts.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariables[] = {"VK_DRIVER_FILES",
                                      "VK_ICD_FILENAMES",
                                      "VK_ADD_DRIVER_FILES",
                                      "VK_LOADER_DEVICE_SELECT",
                                      "NVIDIA_DRIVER_CAPABILITIES",
                                      "NVIDIA_VISIBLE_DEVICES",
                                      "DISPLAY",
                                      "HOME",
                                      "XDG_CONFIG_HOME",
                                      "XDG_CONFIG_DIRS",
                                      "XDG_DATA_HOME",
                                      "XDG_DATA_DIRS"};

/// `path` of the machine, below the folder that stands for "/".
fs::path below(const MachineRoots& roots, const fs::path& path) { return roots.root / path.relative_path(); }

std::string readAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string readLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

uint32_t number(std::string text, int base) {
  if (text.starts_with("0x")) text.erase(0, 2);
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

/// Sorted; empty where there is no such folder or it may not be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    paths.push_back(entry->path());
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The loader's search, as its document "LoaderDriverInterface" says for Linux.
std::vector<std::string> driverFolders(const std::map<std::string, std::string>& environment) {
  const auto valueOr = [&](const char* name, const std::string& fallback) {
    const auto found = environment.find(name);
    return found != environment.end() && !found->second.empty() ? found->second : fallback;
  };
  const std::string home = valueOr("HOME", "");
  std::vector<std::string> folders;
  const auto add = [&](const std::string& list) {
    for (const std::string& base : split(list)) folders.push_back(base + "/vulkan/icd.d");
  };
  add(valueOr("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config"));
  add(valueOr("XDG_CONFIG_DIRS", "/etc/xdg"));
  add("/usr/local/etc:/etc");
  add(valueOr("XDG_DATA_HOME", home.empty() ? "" : home + "/.local/share"));
  add(valueOr("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
  std::vector<std::string> once;
  for (const std::string& folder : folders) {
    if (std::ranges::find(once, folder) == once.end()) once.push_back(folder);
  }
  return once;
}

/// Files that a variable names, or that lie in a folder that it names.
void addNamed(const MachineRoots& roots, const std::string& list, std::vector<DriverFile>& files) {
  std::error_code error;
  for (const std::string& path : split(list)) {
    if (!fs::is_directory(below(roots, path), error)) {
      files.push_back({path, fs::exists(below(roots, path), error), true});
      continue;
    }
    for (const fs::path& entry : entries(below(roots, path))) {
      if (entry.extension() == ".json") files.push_back({path + "/" + entry.filename().string(), true, true});
    }
  }
}

/// VK_DRIVER_FILES, and before it VK_ICD_FILENAMES, stand in for the search; VK_ADD_DRIVER_FILES adds to it.
std::vector<DriverFile> driverFiles(const MachineRoots& roots, const MachineFacts& facts) {
  std::vector<DriverFile> files;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const auto found = facts.environment.find(name);
    if (found == facts.environment.end()) continue;
    addNamed(roots, found->second, files);
    return files;
  }
  if (const auto more = facts.environment.find("VK_ADD_DRIVER_FILES"); more != facts.environment.end())
    addNamed(roots, more->second, files);
  for (const std::string& folder : facts.driverFolders) {
    for (const fs::path& entry : entries(below(roots, folder))) {
      if (entry.extension() == ".json") files.push_back({folder + "/" + entry.filename().string(), true, false});
    }
  }
  return files;
}

std::optional<PcieLink> pcieLink(const fs::path& device) {
  PcieLink link;
  link.speed = readLine(device / "current_link_speed");
  link.maxSpeed = readLine(device / "max_link_speed");
  link.width = number(readLine(device / "current_link_width"), 10);
  link.maxWidth = number(readLine(device / "max_link_width"), 10);
  const bool told = !link.speed.empty() && !link.speed.starts_with("Unknown") && link.width > 0;
  return told ? std::optional(link) : std::nullopt;
}

std::vector<DisplayDevice> displayDevices(const MachineRoots& roots) {
  std::vector<DisplayDevice> devices;
  for (const fs::path& path : entries(below(roots, "/sys/bus/pci/devices"))) {
    if (number(readLine(path / "class"), 16) >> 16 != 0x03) continue;
    DisplayDevice device;
    device.address = path.filename().string();
    device.vendor = number(readLine(path / "vendor"), 16);
    device.device = number(readLine(path / "device"), 16);
    device.bootVga = readLine(path / "boot_vga") == "1";
    device.link = pcieLink(path);
    std::error_code error;
    if (const fs::path driver = fs::read_symlink(path / "driver", error); !error)
      device.kernelDriver = driver.filename().string();
    devices.push_back(std::move(device));
  }
  return devices;
}

/// Connectors are /sys/class/drm/card0-HDMI-A-1; the card's PCI device is what card0/device points to.
void findConnectors(const MachineRoots& roots, MachineFacts& facts) {
  const fs::path drm = below(roots, "/sys/class/drm");
  for (const fs::path& path : entries(drm)) {
    const std::string name = path.filename().string();
    const size_t dash = name.find('-');
    const std::string status = readLine(path / "status");
    if (!name.starts_with("card") || dash == std::string::npos || status.empty()) continue;
    facts.connectorsTold = true;
    std::error_code error;
    const std::string address = fs::canonical(drm / name.substr(0, dash) / "device", error).filename().string();
    for (DisplayDevice& device : facts.displays) {
      if (status == "connected" && device.address == address) device.connected.push_back(name.substr(dash + 1));
    }
  }
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..."
std::string nvidiaKernelVersion(const std::string& text) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(R"(Module\b[^\n]*?\s(\d+\.\d+(\.\d+)?)\s)")) ? match[1].str() : "";
}

/// The version stands in the file's name: libGLX_nvidia.so.580.159.04.
std::vector<std::string> nvidiaLibraryVersions(const MachineRoots& roots) {
  static const std::regex kLibrary(
      R"(lib(GLX_nvidia|nvidia-glcore|nvidia-glvkspirv|nvidia-gpucomp)\.so\.(\d+\.\d+(\.\d+)?))");
  std::set<std::string> versions;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib64",
                             "/usr/lib", "/usr/lib/aarch64-linux-gnu", "/usr/local/nvidia/lib64"}) {
    for (const fs::path& path : entries(below(roots, folder))) {
      std::smatch match;
      const std::string name = path.filename().string();
      if (std::regex_match(name, match, kLibrary)) versions.insert(match[2].str());
    }
  }
  return {versions.begin(), versions.end()};
}

}  // namespace

MachineRoots MachineRoots::real() {
  MachineRoots roots;
  roots.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
  return roots;
}

const DisplayDevice* MachineFacts::displayAt(const std::string& pciAddress) const {
  const auto found = std::ranges::find(displays, pciAddress, &DisplayDevice::address);
  return found != displays.end() ? &*found : nullptr;
}

MachineFacts gatherFacts(const MachineRoots& roots) {
  MachineFacts facts;
  for (const char* name : kVariables) {
    if (const auto value = roots.variable(name)) facts.environment[name] = *value;
  }
  facts.driverFolders = driverFolders(facts.environment);
  facts.driverFiles = driverFiles(roots, facts);
  facts.displays = displayDevices(roots);
  findConnectors(roots, facts);
  std::error_code error;
  facts.nvidiaKernel = fs::exists(below(roots, "/proc/driver/nvidia"), error);
  facts.nvidiaKernelVersion = nvidiaKernelVersion(readAll(below(roots, "/proc/driver/nvidia/version")));
  facts.nvidiaLibraries = nvidiaLibraryVersions(roots);
  return facts;
}

}  // namespace tandem::jobs
