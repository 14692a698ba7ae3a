#include "jobs/bench_machine.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace tandem::jobs {
namespace {

std::string contentsOf(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// "model name" on x86; kernels for ARM name no model.
std::optional<std::string> cpuName() {
  const std::string text = contentsOf("/proc/cpuinfo");
  for (const char* key : {"model name", "Model", "Processor"}) {
    if (auto name = valueOfKey(text, key)) return name;
  }
  return std::nullopt;
}

std::optional<std::string> kernelName() {
  struct utsname name {};
  if (::uname(&name) != 0) return std::nullopt;
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::optional<uint64_t> memoryBytes() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return std::nullopt;
  return uint64_t{info.totalram} * info.mem_unit;
}

std::optional<double> loadAverage() {
  double oneMinute = 0;
  if (::getloadavg(&oneMinute, 1) != 1) return std::nullopt;
  return oneMinute;
}

std::optional<std::string> commitOfBuild() {
#ifdef TANDEM_COMMIT
  return TANDEM_COMMIT;
#else
  return std::nullopt;
#endif
}

}  // namespace

std::optional<std::string> valueOfKey(const std::string& text, const std::string& key) {
  constexpr const char* kBlank = " \t";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(kBlank, key.size()) != colon) continue;
    const size_t begin = line.find_first_not_of(kBlank, colon + 1);
    if (begin == std::string::npos) return std::nullopt;
    return line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
  }
  return std::nullopt;
}

MachineReport describeMachine(const std::vector<gpu::Adapter>& adapters) {
  MachineReport report;
  report.cpu = cpuName();
  if (const unsigned threads = std::thread::hardware_concurrency(); threads > 0) report.threads = threads;
  report.memoryBytes = memoryBytes();
  report.kernel = kernelName();
  report.loadAverage = loadAverage();
  report.adapters = adapters;
  report.facts.resize(adapters.size());
  report.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report.commit = commitOfBuild();
#ifdef NDEBUG
  report.build = "release";
#else
  report.build = "debug";
#endif
  return report;
}

}  // namespace tandem::jobs
