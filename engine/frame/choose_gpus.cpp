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

std::string list(const std::vector<gpu::Adapter>& adapters) {
  std::string text;
  for (const auto& adapter : adapters) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {} ({}{})", adapter.index, adapter.name, adapter.uuidText().substr(0, 8),
                        adapter.pci ? ", " + adapter.pci->text() : std::string());
  }
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

bool matches(const gpu::Adapter& adapter, const std::string& word) {
  const bool digits = std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits && word.size() <= 3) return std::to_string(adapter.index) == word;
  if (adapter.pci && adapter.pci->text() == word) return true;
  if (word.size() >= 4 && adapter.uuidText().rfind(word, 0) == 0) return true;
  return lower(adapter.name).find(word) != std::string::npos;
}

Expected<uint32_t> findOne(const std::vector<gpu::Adapter>& adapters, const std::string& word) {
  std::vector<const gpu::Adapter*> found;
  for (const auto& adapter : adapters) {
    if (matches(adapter, lower(word))) found.push_back(&adapter);
  }
  if (found.empty()) return refuse(ExitCode::WrongUsage, "--gpus {}: no such GPU; there are {}", word, list(adapters));
  if (found.size() > 1) {
    return refuse(ExitCode::WrongUsage, "--gpus {} fits {} GPUs; give the index, PCI address or a longer UUID: {}",
                  word, found.size(), list(adapters));
  }
  if (!found[0]->usable()) {
    return refuse(ExitCode::NoUsableGpu, "--gpus {}: GPU {} ({}) {}", word, found[0]->index, found[0]->name,
                  found[0]->refusals.front());
  }
  return found[0]->index;
}

Expected<std::vector<uint32_t>> parse(const std::vector<gpu::Adapter>& adapters, const std::string& text) {
  std::vector<uint32_t> chosen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto one = findOne(adapters, text.substr(begin, end - begin));
    if (!one) return one.refusal();
    if (std::find(chosen.begin(), chosen.end(), *one) != chosen.end()) {
      return refuse(ExitCode::WrongUsage, "--gpus {} names GPU {} twice; --simulate-dual opens one GPU twice", text,
                    *one);
    }
    chosen.push_back(*one);
    begin = end + 1;
  }
  if (chosen.size() > 2) return refuse(ExitCode::WrongUsage, "--gpus {}: at most two GPUs, as A,B", text);
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
    chosen.push_back(usable[0]->index);
    const bool second = usable.size() > 1 && !usable[1]->software();
    if (second && settings.mode != Mode::Single && !settings.simulateDual) chosen.push_back(usable[1]->index);
  } else {
    auto parsed = parse(adapters, settings.gpus);
    if (!parsed) return parsed.refusal();
    chosen = std::move(*parsed);
  }
  if (settings.simulateDual) {
    if (chosen.size() > 1)
      return refuse(ExitCode::WrongUsage, "--simulate-dual opens one GPU twice, but --gpus names two");
    chosen.push_back(chosen[0]);
  }
  if (settings.mode == Mode::Single) chosen.resize(1);
  if (settings.mode == Mode::Pipelined && chosen.size() < 2) {
    return refuse(ExitCode::WrongUsage,
                  "--mode pipelined needs two GPUs and one is chosen; --simulate-dual opens it twice. There are {}",
                  list(adapters));
  }
  return chosen;
}

}  // namespace tandem::frame
