#include "jobs/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tandem::jobs {
namespace {

constexpr uint32_t kNvidia = 0x10de, kAmd = 0x1002, kIntel = 0x8086;
constexpr uint32_t kOldestMesa = 25;

std::string variable(const MachineFacts& facts, const std::string& name) {
  const auto found = facts.environment.find(name);
  return found != facts.environment.end() ? found->second : "";
}

bool isSet(const MachineFacts& facts, const std::string& name) { return facts.environment.contains(name); }

bool listsNvidia(const Patient& patient) {
  return std::ranges::any_of(patient.adapters, [](const gpu::Adapter& a) { return a.vendorId == kNvidia; });
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The variable that stands in for the loader's search for driver files; empty: none is set.
std::string searchVariable(const MachineFacts& facts) {
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    if (isSet(facts, name)) return name;
  }
  return "";
}

/// "Mesa 25.0.7-2" in a driver's words: 25. 0: not Mesa's.
uint32_t mesaMajor(const std::string& driver) {
  const size_t at = driver.find("Mesa ");
  if (at == std::string::npos) return 0;
  uint32_t major = 0;
  std::from_chars(driver.data() + at + 5, driver.data() + driver.size(), major);
  return major;
}

const char* vendorName(uint32_t vendor) {
  return vendor == kNvidia ? "NVIDIA" : vendor == kAmd ? "AMD" : vendor == kIntel ? "Intel" : "?";
}

bool isListed(const Patient& patient, const DisplayDevice& device) {
  return std::ranges::any_of(patient.adapters, [&](const gpu::Adapter& adapter) {
    if (adapter.pci) return adapter.pci->text() == device.address;
    return adapter.vendorId == device.vendor && adapter.deviceId == device.device;
  });
}

std::string adviceFor(const DisplayDevice& hidden) {
  if (hidden.kernelDriver.empty())
    return "no kernel driver holds it: install or load its driver, or switch it on in the firmware";
  if (hidden.vendor == kNvidia)
    return "install NVIDIA's Vulkan driver; on a hybrid laptop switch it on (prime-select on-demand, or "
           "__NV_PRIME_RENDER_OFFLOAD=1); nouveau offers too little";
  return "install mesa-vulkan-drivers, and check that you may open /dev/dri/renderD* (group render)";
}

}  // namespace

std::vector<Finding> checkDriverFiles(const Patient& patient) {
  const MachineFacts& facts = patient.facts;
  const bool any = std::ranges::any_of(facts.driverFiles, [](const DriverFile& file) { return file.exists; });
  if (any || !patient.adapters.empty()) return {};
  const std::string name = searchVariable(facts);
  const std::string where = name.empty() ? fmt::format("the folders searched are {}; VK_DRIVER_FILES is not set",
                                                       fmt::join(facts.driverFolders, ", "))
                                         : fmt::format("{}='{}' replaces the search of {}", name, variable(facts, name),
                                                       fmt::join(facts.driverFolders, ", "));
  return {{"no-driver-file", "no Vulkan driver file (*.json) was found: " + where,
           "install a driver: your GPU vendor's, or mesa-vulkan-drivers (AMD, Intel, software)"}};
}

std::vector<Finding> checkNamedFiles(const Patient& patient) {
  std::vector<Finding> findings;
  for (const DriverFile& file : patient.facts.driverFiles) {
    if (!file.named || file.exists) continue;
    const std::string name = searchVariable(patient.facts);
    findings.push_back({"missing-driver-file",
                        fmt::format("{} names the driver file {}, which is not there",
                                    name.empty() ? "VK_ADD_DRIVER_FILES" : name, file.path),
                        "correct the path, or unset the variable so that the usual folders are searched"});
  }
  return findings;
}

std::vector<Finding> checkContainer(const Patient& patient) {
  const MachineFacts& facts = patient.facts;
  if (listsNvidia(patient)) return {};
  const std::string advice = "start the container with docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all";
  const std::string given = variable(facts, "NVIDIA_DRIVER_CAPABILITIES");
  if (!given.empty() && !contains(given, "graphics") && !contains(given, "all")) {
    return {{"no-graphics-capability",
             fmt::format("this container has NVIDIA_DRIVER_CAPABILITIES={}, without graphics: it gets no Vulkan driver",
                         given),
             advice}};
  }
  const std::string visible = variable(facts, "NVIDIA_VISIBLE_DEVICES");
  if (given.empty() && !visible.empty() && visible != "void" && visible != "none") {
    return {{"no-graphics-capability",
             "this container was given NVIDIA GPUs without NVIDIA_DRIVER_CAPABILITIES, which then is compute,utility",
             advice}};
  }
  const bool driverFile = std::ranges::any_of(
      facts.driverFiles, [](const DriverFile& file) { return file.exists && contains(file.path, "nvidia"); });
  if (!facts.nvidiaKernel || driverFile) return {};
  return {{"no-graphics-capability",
           "NVIDIA's kernel module is loaded, but no Vulkan driver file of NVIDIA (nvidia_icd.json) is found",
           advice + "; outside containers install the whole driver (Debian: nvidia-vulkan-icd)"}};
}

std::vector<Finding> checkDisplay(const Patient& patient) {
  const std::string display = variable(patient.facts, "DISPLAY");
  if (display.empty()) return {};
  bool ours = false;
  for (const gpu::Adapter& adapter : patient.adapters) {
    if (!adapter.software()) ours = ours || displayOf(patient.facts, adapter) != "none";
  }
  if (ours) return {};
  return {{"foreign-display",
           fmt::format("DISPLAY={} is set, but no GPU that Vulkan lists drives a display: that X server is another's "
                       "(VNC, Xvfb, ssh -X) and may hide GPUs",
                       display),
           "unset DISPLAY: capture, bench and devices need none"}};
}

std::vector<Finding> checkHiddenGpus(const Patient& patient) {
  std::vector<Finding> findings;
  for (const DisplayDevice& device : patient.facts.displays) {
    // Server management chips and virtual screens have no Vulkan driver; a GPU under vfio belongs to a virtual machine.
    const bool known = device.vendor == kNvidia || device.vendor == kAmd || device.vendor == kIntel;
    if (!known || device.kernelDriver == "vfio-pci" || isListed(patient, device)) continue;
    findings.push_back({"hidden-gpu",
                        fmt::format("the {} GPU {:04x}:{:04x} at PCI {} is not listed by any Vulkan driver",
                                    vendorName(device.vendor), device.vendor, device.device, device.address),
                        adviceFor(device)});
  }
  return findings;
}

std::vector<Finding> checkMesa(const Patient& patient) {
  std::vector<Finding> findings;
  for (const gpu::Adapter& adapter : patient.adapters) {
    const uint32_t major = mesaMajor(adapter.driver);
    if (major == 0 || major >= kOldestMesa) continue;
    findings.push_back({"old-mesa",
                        fmt::format("GPU {} ({}) runs on an old Mesa: {}; Tandem is tested with {} and later",
                                    adapter.index, adapter.name, adapter.driver, kOldestMesa),
                        "update mesa-vulkan-drivers (Debian 12: from bookworm-backports)"});
  }
  return findings;
}

std::vector<Finding> checkNvidiaVersions(const Patient& patient) {
  const MachineFacts& facts = patient.facts;
  if (facts.nvidiaKernelVersion.empty() || facts.nvidiaLibraries.empty()) return {};
  if (std::ranges::find(facts.nvidiaLibraries, facts.nvidiaKernelVersion) != facts.nvidiaLibraries.end()) return {};
  return {{"nvidia-mismatch",
           fmt::format("NVIDIA's kernel module is {} and its user libraries are {}", facts.nvidiaKernelVersion,
                       fmt::join(facts.nvidiaLibraries, ", ")),
           "restart the machine after the driver's update; in a container bring no libraries of your own"}};
}

std::vector<Finding> diagnose(const MachineFacts& facts, const std::vector<gpu::Adapter>& adapters) {
  const Patient patient{facts, adapters};
  std::vector<Finding> all;
  for (const auto check : {checkDriverFiles, checkNamedFiles, checkContainer, checkDisplay, checkHiddenGpus, checkMesa,
                           checkNvidiaVersions}) {
    for (Finding& finding : check(patient)) all.push_back(std::move(finding));
  }
  return all;
}

std::string displayOf(const MachineFacts& facts, const gpu::Adapter& adapter) {
  const DisplayDevice* device = adapter.pci ? facts.displayAt(adapter.pci->text()) : nullptr;
  if (!facts.connectorsTold || device == nullptr) return "N/A";
  return device->connected.empty() ? "none" : fmt::format("{}", fmt::join(device->connected, ", "));
}

std::optional<uint32_t> displayOwner(const MachineFacts& facts, const std::vector<gpu::Adapter>& adapters) {
  std::optional<uint32_t> owner;
  for (const gpu::Adapter& adapter : adapters) {
    const DisplayDevice* device = adapter.pci ? facts.displayAt(adapter.pci->text()) : nullptr;
    if (device == nullptr || device->connected.empty()) continue;
    if (!owner || device->bootVga) owner = adapter.index;
  }
  return owner;
}

}  // namespace tandem::jobs
