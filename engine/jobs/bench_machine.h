// The machine that a benchmark ran on. What cannot be read is nothing, never 0: reports write N/A.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/adapter.h"
#include "jobs/gpu_probe.h"

namespace tandem::jobs {

/// What was read of an adapter beyond Vulkan.
struct AdapterFacts {
  std::optional<std::string> watcher;  // "nvml", "sysfs": who was asked; nothing: nobody can be
  GpuState before, after;              // all runs
};

struct MachineReport {
  std::optional<std::string> cpu;   // "AMD EPYC 9554 64-Core Processor"
  std::optional<uint32_t> threads;  // that this process may use at once
  std::optional<uint64_t> memoryBytes;
  std::optional<std::string> kernel;   // "Linux 6.1.0-28-amd64 x86_64"
  std::optional<double> loadAverage;   // of one minute, when the machine was described: how many threads wanted a CPU
  std::vector<gpu::Adapter> adapters;  // plain data; the handles in it are dead by the time of the report
  std::vector<AdapterFacts> facts;     // one per adapter, in the same order; filled by whoever watches
  std::string date;                    // "2026-12-01T12:34:56Z"
  std::optional<std::string> commit;   // that the program was built from
  std::string build;                   // "release" or "debug"
};

MachineReport describeMachine(const std::vector<gpu::Adapter>& adapters);

/// The value of the first line "key : value" in a text like /proc/cpuinfo or /proc/meminfo.
std::optional<std::string> valueOfKey(const std::string& text, const std::string& key);

}  // namespace tandem::jobs
