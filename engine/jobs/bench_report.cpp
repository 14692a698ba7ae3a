#include "jobs/bench_report.h"

#include <algorithm>
#include <set>

#include "jobs/pixel_hash.h"

namespace tandem::jobs {
namespace {

using frame::Mode;

/// A node is what limits the frame rate where it is busy for more than this part of the frame time.
constexpr double kBusy = 0.9;

/// Means per node of what each frame has per node.
std::vector<double> meansOfNodes(const std::vector<std::vector<double>>& frames) {
  std::vector<double> means;
  for (const auto& frame : frames) {
    means.resize(std::max(means.size(), frame.size()), 0.0);
    for (size_t node = 0; node < frame.size(); ++node) means[node] += frame[node];
  }
  for (double& mean : means) mean /= static_cast<double>(frames.size());
  return means;
}

/// Milliseconds of passes per node.
std::vector<double> busyMs(const std::vector<exec::PassReport>& passes) {
  std::vector<double> busy;
  for (const exec::PassReport& pass : passes) {
    if (pass.node >= busy.size()) busy.resize(pass.node + 1, 0.0);
    busy[pass.node] += pass.milliseconds;
  }
  return busy;
}

/// The best of the modes that use two GPUs; null: none was measured.
const ModeReport* fastestDual(const SceneReport& scene) {
  const ModeReport* fastest = nullptr;
  double fps = 0.0;
  for (const ModeReport& mode : scene.modes) {
    const auto summary = summarizeMode(mode);
    if (mode.mode == Mode::Single || !summary || summary->fps <= fps) continue;
    fastest = &mode;
    fps = summary->fps;
  }
  return fastest;
}

/// Why a mode is no faster than it is: the node that is busy all the time, or that none is.
std::string limitOf(const ModeSummary& summary) {
  const auto busiest = std::ranges::max_element(summary.busyMsOfNode);
  if (busiest == summary.busyMsOfNode.end()) return "no pass was timed";
  const auto node = static_cast<uint32_t>(busiest - summary.busyMsOfNode.begin());
  const std::string busy = fmt::format("{:.2f} of {:.2f} ms a frame", *busiest, summary.frameMs.mean);
  if (*busiest < kBusy * summary.frameMs.mean)
    return fmt::format("no GPU is busy for more than {}: they wait for the link, for each other or for the CPU", busy);
  const PassTime* longest = nullptr;
  for (const PassTime& pass : summary.passes) {
    if (pass.node == node && (longest == nullptr || pass.milliseconds > longest->milliseconds)) longest = &pass;
  }
  return fmt::format("node {} is busy for {}, longest with {}", node, busy, longest->name);
}

bool onSoftware(const ModeReport& mode) {
  return std::ranges::any_of(mode.run.nodes, [](const frame::NodeReport& node) { return node.type == "cpu"; });
}

std::string caveats(const ModeReport& mode, const BenchReport& report) {
  std::string text;
  if (report.settings.machine.simulateDual && mode.mode != Mode::Single)
    text += "; one GPU was opened twice, which says nothing about two";
  if (onSoftware(mode)) text += "; times of software devices say nothing about GPUs";
  if (report.settings.validation) text += "; validation layers were on, which slow everything down";
  return text;
}

/// GPUs or drivers that are not all the same may round differently.
bool unlikeGpus(const SceneReport& scene) {
  std::set<std::string> kinds;
  for (const ModeReport& mode : scene.modes) {
    for (const frame::NodeReport& node : mode.run.nodes) kinds.insert(node.adapter + node.driver);
  }
  return kinds.size() > 1;
}

/// "; afr: node 1 rendered none of them": what the proof frames do not prove.
std::string unproven(const SceneReport& scene) {
  std::string text;
  for (const ModeReport& mode : scene.modes) {
    std::set<uint32_t> proven;
    for (const ProofFrame& proof : mode.proofs) proven.insert(proof.nodes.begin(), proof.nodes.end());
    for (const frame::NodeReport& node : mode.run.nodes) {
      if (!mode.proofs.empty() && !proven.contains(node.node))
        text += fmt::format("; {}: node {} rendered none of them", frame::modeName(mode.mode), node.node);
    }
  }
  return text;
}

}  // namespace

std::optional<ModeSummary> summarizeMode(const ModeReport& report) {
  std::vector<double> frameMs, latencyMs;
  std::vector<std::vector<exec::PassReport>> passes;
  std::vector<std::vector<double>> busy, rows;
  double seconds = 0.0;
  for (const BenchRun& run : report.runs) {
    frameMs.insert(frameMs.end(), run.frameMs.begin(), run.frameMs.end());
    latencyMs.insert(latencyMs.end(), run.latencyMs.begin(), run.latencyMs.end());
    passes.insert(passes.end(), run.passes.begin(), run.passes.end());
    for (const auto& frame : run.passes) busy.push_back(busyMs(frame));
    for (const auto& frame : run.rowsOfNode) rows.emplace_back(frame.begin(), frame.end());
    seconds += run.seconds;
  }
  if (frameMs.empty() || seconds <= 0.0) return std::nullopt;
  return ModeSummary{static_cast<double>(frameMs.size()) / seconds,
                     *summarize(frameMs),
                     *summarize(latencyMs),
                     medianPasses(passes),
                     meansOfNodes(busy),
                     meansOfNodes(rows)};
}

std::optional<double> speedup(const SceneReport& scene, const ModeReport& mode) {
  const auto single = std::ranges::find(scene.modes, Mode::Single, &ModeReport::mode);
  if (single == scene.modes.end()) return std::nullopt;
  const auto one = summarizeMode(*single);
  const auto other = summarizeMode(mode);
  if (!one || !other) return std::nullopt;
  return other->fps / one->fps;
}

std::optional<bool> picturesEqual(const SceneReport& scene) {
  std::vector<ProofFrame> proofs;
  size_t modes = 0;
  for (const ModeReport& mode : scene.modes) {
    modes += mode.proofs.empty() ? 0 : 1;
    proofs.insert(proofs.end(), mode.proofs.begin(), mode.proofs.end());
  }
  if (modes < 2) return std::nullopt;
  return std::ranges::all_of(proofs, [&](const ProofFrame& proof) { return proof.samePicture(proofs.front()); });
}

std::string verdict(const SceneReport& scene, const BenchReport& report) {
  if (scene.failure) return fmt::format("not measured: {}", *scene.failure);
  const ModeReport* dual = fastestDual(scene);
  const auto gain = dual != nullptr ? speedup(scene, *dual) : std::nullopt;
  if (gain) {
    const std::string_view name = frame::modeName(dual->mode);
    if (*gain > 1.0) return fmt::format("{} is {:.2f}x single{}", name, *gain, caveats(*dual, report));
    return fmt::format("one GPU is faster here: {} is {:.2f}x single, because {}{}", name, *gain,
                       limitOf(*summarizeMode(*dual)), caveats(*dual, report));
  }
  if (dual != nullptr) {
    return fmt::format("{} is the fastest with {:.4g} fps; single was not measured{}", frame::modeName(dual->mode),
                       summarizeMode(*dual)->fps, caveats(*dual, report));
  }
  for (const ModeReport& mode : scene.modes) {
    if (const auto summary = summarizeMode(mode))
      return fmt::format("single makes {:.4g} fps; no mode of two GPUs was measured{}", summary->fps,
                         caveats(mode, report));
  }
  return "nothing was measured";
}

std::string pictureVerdict(const SceneReport& scene) {
  const auto equal = picturesEqual(scene);
  if (!equal) return "";
  if (*equal)
    return fmt::format("pictures are equal in all modes, bit for bit (frame {}){}", kProofFrame, unproven(scene));
  std::string hashes;
  for (const ModeReport& mode : scene.modes) {
    std::set<std::string> own;
    for (const ProofFrame& proof : mode.proofs) own.insert(hashText(proof.linearHash));
    for (const std::string& hash : own)
      hashes += fmt::format("{}{} has {}", hashes.empty() ? "" : ", ", frame::modeName(mode.mode), hash);
  }
  return fmt::format("pictures DIFFER between modes in frame {}: {}{}", kProofFrame, hashes,
                     unlikeGpus(scene) ? "; the GPUs are of different kinds, which may round differently" : "");
}

}  // namespace tandem::jobs
