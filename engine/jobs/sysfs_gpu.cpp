#include "jobs/sysfs_gpu.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

/// The whole number in a file. Drivers answer some files with an error while the GPU sleeps: nothing.
std::optional<double> numberIn(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return static_cast<double>(value);
}

/// Of the first of these files that holds a number. `least`: what is below it is no measurement.
std::optional<double> read(const fs::path& folder, std::initializer_list<const char*> names, double scale,
                           double least = 0.0) {
  for (const char* name : names) {
    if (const auto value = numberIn(folder / name); value && *value >= least) return *value * scale;
  }
  return std::nullopt;
}

class SysfsProbe : public GpuProbe {
 public:
  explicit SysfsProbe(fs::path folder) : folder_(std::move(folder)) {}

  std::string_view name() const override { return "sysfs"; }

  GpuState state() override {
    constexpr double kAbsoluteZero = -273150.0;
    GpuState state;
    state.graphicsMHz = read(folder_, {"freq1_input"}, 1e-6);
    state.memoryMHz = read(folder_, {"freq2_input"}, 1e-6);
    state.powerW = read(folder_, {"power1_average", "power1_input"}, 1e-6);
    state.powerLimitW = read(folder_, {"power1_cap", "power1_max"}, 1e-6, 1.0);  // 0: no limit is set
    state.temperatureC = read(folder_, {"temp1_input"}, 1e-3, kAbsoluteZero);
    return state;
  }

  std::optional<double> energyJoules() override { return read(folder_, {"energy1_input"}, 1e-6); }

 private:
  fs::path folder_;
};

}  // namespace

Expected<std::unique_ptr<GpuProbe>> makeSysfsProbe(const gpu::PciAddress& pci, const fs::path& devices) {
  const fs::path parent = devices / pci.text() / "hwmon";
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    folders.push_back(entry->path());
  if (folders.empty())
    return refuse(ExitCode::NoUsableGpu, "{} holds no sensors: the GPU's kernel driver offers none", parent.string());
  return std::unique_ptr<GpuProbe>(std::make_unique<SysfsProbe>(*std::ranges::min_element(folders)));
}

}  // namespace tandem::jobs
