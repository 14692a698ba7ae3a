// The doctor: names the mistakes that commonly keep a GPU from being seen or used. Each check is a small function over
// facts; it says nothing where all is well.
#pragma once

#include <string>
#include <vector>

#include "gpu/adapter.h"
#include "jobs/doctor_facts.h"

namespace tandem::jobs {

struct Finding {
  std::string id;       // "no-driver-file"; for programs
  std::string message;  // what is wrong, in one line
  std::string advice;   // what to do, in one line
};

/// What is known when a check is made. `adapters`: what Vulkan lists; empty where it answers nothing.
struct Patient {
  const MachineFacts& facts;
  const std::vector<gpu::Adapter>& adapters;
};

/// "no-driver-file": the loader finds no driver at all.
std::vector<Finding> checkDriverFiles(const Patient& patient);
/// "missing-driver-file": a variable names a driver file that is not there.
std::vector<Finding> checkNamedFiles(const Patient& patient);
/// "no-graphics-capability": a container that was given an NVIDIA GPU for computing alone.
std::vector<Finding> checkContainer(const Patient& patient);
/// "foreign-display": DISPLAY is set and no GPU of ours is there.
std::vector<Finding> checkDisplay(const Patient& patient);
/// "hidden-gpu": a GPU on the PCI bus that no Vulkan driver lists, as on laptops with two.
std::vector<Finding> checkHiddenGpus(const Patient& patient);
/// "old-mesa": Mesa before 25.
std::vector<Finding> checkMesa(const Patient& patient);
/// "nvidia-mismatch": NVIDIA's kernel module and user libraries are of different versions.
std::vector<Finding> checkNvidiaVersions(const Patient& patient);

/// All of them.
std::vector<Finding> diagnose(const MachineFacts& facts, const std::vector<gpu::Adapter>& adapters);

/// "HDMI-A-1, DP-2", "none", or "N/A" where the kernel does not tell.
std::string displayOf(const MachineFacts& facts, const gpu::Adapter& adapter);
/// Index of the GPU that drives the display: with a monitor; of several the one that the firmware used. None: no GPU of
/// ours, or not told.
std::optional<uint32_t> displayOwner(const MachineFacts& facts, const std::vector<gpu::Adapter>& adapters);

}  // namespace tandem::jobs
