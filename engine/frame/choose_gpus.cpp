#include "frame/choose_gpus.h"

#include <algorithm>
#include <cctype>

namespace tandem::frame {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// "1: NVIDIA H200 (8c2e1f00-..., 0000:18:00.0)"; the whole UUID where it must tell equal cards apart.
std::string describe(const gpu::Adapter& adapter, bool wholeUuid) {
  const std::string uuid = adapter.uuidText();
  return fmt::format("{}: {} ({}{})", adapter.index, adapter.name, wholeUuid ? uuid : uuid.substr(0, 8),
                     adapter.pci ? ", " + adapter.pci->text() : std::string());
}

std::string list(const std::vector<gpu::Adapter>& adapters) {
  std::string text;
  for (const auto& adapter : adapters) text += (text.empty() ? "" : "; ") + describe(adapter, false);
  return text.empty() ? "none" : text;
}

int rank(gpu::AdapterType type) {
  switch (type) {
    case gpu::AdapterType::Discrete:
      return 0;
    case gpu::AdapterType::Virtual:
      return 1;
    case gpu::AdapterType::Integrated:
      return 2;
    case gpu::AdapterType::Other:
      return 3;
    case gpu::AdapterType::Software:
      return 4;
  }
  return 4;
}

/// Usable adapters, the best first.
std::vector<const gpu::Adapter*> ranked(const std::vector<gpu::Adapter>& adapters) {
  std::vector<const gpu::Adapter*> usable;
  for (const auto& adapter : adapters) {
    if (adapter.usable()) usable.push_back(&adapter);
  }
  std::stable_sort(usable.begin(), usable.end(), [](const auto* a, const auto* b) {
    return rank(a->type) != rank(b->type) ? rank(a->type) < rank(b->type)
                                          : a->deviceLocalBytes() > b->deviceLocalBytes();
  });
  return usable;
}

/// Two adapters may be one card: two drivers for it, as RADV and AMDVLK.
bool sameGpu(const gpu::Adapter& a, const gpu::Adapter& b) {
  return a.index == b.index || (a.pci.has_value() && a.pci == b.pci);
}

bool matches(const gpu::Adapter& adapter, const std::string& word) {
  const bool digits = std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits && word.size() <= 3) return std::to_string(adapter.index) == word;
  if (adapter.pci && (adapter.pci->text() == word || adapter.pci->text() == "0000:" + word)) return true;
  if (word.size() >= 4 && adapter.uuidText().starts_with(word)) return true;
  return lower(adapter.name).find(word) != std::string::npos;
}

/// The adapters that `word` may mean; one alone where it is a whole name and another's name only contains it.
std::vector<const gpu::Adapter*> candidates(const std::vector<gpu::Adapter>& adapters, const std::string& word) {
  std::vector<const gpu::Adapter*> found;
  std::vector<const gpu::Adapter*> exact;
  for (const auto& adapter : adapters) {
    if (matches(adapter, word)) found.push_back(&adapter);
    if (lower(adapter.name) == word) exact.push_back(&adapter);
  }
  return exact.empty() ? found : exact;
}

Expected<uint32_t> findOne(const std::vector<gpu::Adapter>& adapters, const std::string& word) {
  if (word.empty()) {
    return refuse(ExitCode::WrongUsage, "--gpus: a name is missing before or after a comma; there are {}",
                  list(adapters));
  }
  const auto found = candidates(adapters, lower(word));
  if (found.empty()) return refuse(ExitCode::WrongUsage, "--gpus {}: no such GPU; there are {}", word, list(adapters));
  if (found.size() > 1) {
    std::string fits;
    for (const auto* adapter : found) fits += (fits.empty() ? "" : "; ") + describe(*adapter, true);
    return refuse(ExitCode::WrongUsage, "--gpus {} fits {} GPUs; give the index, PCI address or a longer UUID: {}",
                  word, found.size(), fits);
  }
  if (!found[0]->usable()) {
    return refuse(ExitCode::NoUsableGpu, "--gpus {}: GPU {} ({}) cannot be used: it {}", word, found[0]->index,
                  found[0]->name, found[0]->refusals.front());
  }
  return found[0]->index;
}

Expected<std::vector<uint32_t>> parse(const std::vector<gpu::Adapter>& adapters, const std::string& text) {
  std::vector<uint32_t> chosen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto one = findOne(adapters, text.substr(begin, end - begin));
    if (!one) return one.refusal();
    for (const uint32_t other : chosen) {
      if (!sameGpu(adapters[other], adapters[*one])) continue;
      return refuse(ExitCode::WrongUsage,
                    "--gpus {} names one GPU twice: {}; use --simulate-dual to open one GPU twice", text,
                    other == *one ? describe(adapters[other], false)
                                  : describe(adapters[other], false) + " and " + describe(adapters[*one], false));
    }
    chosen.push_back(*one);
    begin = end + 1;
  }
  return chosen;
}

/// `auto`: the best one, and with it the best other GPU where a second is of use.
std::vector<uint32_t> best(const std::vector<const gpu::Adapter*>& usable, const MachineSettings& settings) {
  std::vector<uint32_t> chosen{usable[0]->index};
  if (settings.mode == Mode::Single || settings.simulateDual) return chosen;
  const auto other = std::find_if(usable.begin() + 1, usable.end(), [&](const gpu::Adapter* adapter) {
    return !adapter->software() && !sameGpu(*adapter, *usable[0]);
  });
  if (other != usable.end()) chosen.push_back((*other)->index);
  return chosen;
}

}  // namespace

Expected<std::vector<uint32_t>> chooseGpus(const std::vector<gpu::Adapter>& adapters, const MachineSettings& settings) {
  const auto usable = ranked(adapters);
  if (usable.empty()) {
    std::string reasons;
    for (const auto& adapter : adapters) reasons += fmt::format("; {} {}", adapter.name, adapter.refusals.front());
    return refuse(ExitCode::NoUsableGpu,
                  "no usable Vulkan GPU{}; install a driver (software: mesa-vulkan-drivers), see 'tandem devices'",
                  reasons);
  }
  std::vector<uint32_t> chosen;
  if (settings.gpus == "auto") {
    chosen = best(usable, settings);
  } else {
    auto parsed = parse(adapters, settings.gpus);
    if (!parsed) return parsed.refusal();
    chosen = std::move(*parsed);
  }
  if (settings.simulateDual) {
    if (chosen.size() > 1) {
      return refuse(ExitCode::WrongUsage, "--simulate-dual opens one GPU twice, but --gpus names {}: leave one out",
                    chosen.size());
    }
    TANDEM_CHECK(settings.simulatedNodes >= 2, "{} simulated nodes", settings.simulatedNodes);
    chosen.assign(settings.simulatedNodes, chosen[0]);
  }
  if (settings.mode == Mode::Single) chosen.resize(1);
  const bool needsTwo = settings.mode != Mode::Single && settings.mode != Mode::Auto;
  if (needsTwo && chosen.size() < 2) {
    return refuse(ExitCode::WrongUsage,
                  "--mode {} needs two GPUs and one is chosen: name two by --gpus A,B, or open one twice by "
                  "--simulate-dual, or use --mode single. The GPUs: {}",
                  modeName(settings.mode), list(adapters));
  }
  return chosen;
}

}  // namespace tandem::frame
