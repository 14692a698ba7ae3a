// What Vulkan devices there are, why each can or cannot be used, which links they can have, and what is wrong with this
// machine: `tandem devices`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "gpu/adapter.h"
#include "gpu/instance.h"
#include "jobs/devices_predict.h"
#include "jobs/doctor.h"
#include "topology/probe.h"

namespace tandem::jobs {

/// The links between two GPUs. The same index twice: one GPU opened twice, as by --simulate-dual.
struct PairReport {
  uint32_t a = 0, b = 0;
  topology::PairProbe probe;
};

/// Plain data; the handles in it are dead.
struct DeviceReport {
  std::vector<gpu::Adapter> adapters;
  std::vector<std::vector<uint32_t>> groups;  // device groups as indices of adapters
  MachineFacts facts;
  std::vector<Finding> findings;
  std::vector<PairReport> pairs;  // empty unless asked for
  std::optional<ScenePrediction> prediction;
  bool anyUsable() const;
};

struct DeviceRequest {
  bool probe = false;                     // try every link of every pair of GPUs
  std::optional<PredictRequest> predict;  // how long a frame takes in each mode
};

/// Refuses (NoUsableGpu), with what the doctor found, where there is no device at all; otherwise as predictScene. A
/// probe's result is kept for later runs.
Expected<DeviceReport> inspectDevices(const DeviceRequest& request);

/// For people.
std::string devicesText(const DeviceReport& report);
/// One JSON object (schema 1), indented, ending in a line end. Figures that could not be measured are null.
std::string devicesJson(const DeviceReport& report);

}  // namespace tandem::jobs
