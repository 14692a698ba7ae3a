#include "jobs/bench_report.h"

#include <algorithm>
#include <set>
#include <span>

#include "jobs/bench_findings.h"
#include "jobs/pixel_hash.h"

namespace tandem::jobs {
namespace {

using frame::Mode;

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
        text += fmt::format("; {}: node {} rendered none of them", mode.contender.label(), node.node);
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
    for (const FrameTrace& frame : std::span(run.frames).first(run.frameMs.size())) {
      passes.push_back(frame.passes);
      busy.push_back(busyMs(frame.passes));
      rows.emplace_back(frame.rowsOfNode.begin(), frame.rowsOfNode.end());
    }
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

std::string Contender::label() const {
  return fmt::format("{}{}", frame::modeName(mode), secondGpu ? " (second GPU)" : "");
}

const ModeReport* reportOf(const SceneReport& scene, const Contender& contender) {
  const auto found = std::ranges::find(scene.modes, contender, &ModeReport::contender);
  return found == scene.modes.end() ? nullptr : &*found;
}

std::optional<double> speedup(const SceneReport& scene, const ModeReport& mode) {
  const ModeReport* single = reportOf(scene, {Mode::Single, false});
  if (single == nullptr) return std::nullopt;
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
  return verdictOf(verdictFacts(scene, report));
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
      hashes += fmt::format("{}{} has {}", hashes.empty() ? "" : ", ", mode.contender.label(), hash);
  }
  return fmt::format("pictures DIFFER between modes in frame {}: {}{}", kProofFrame, hashes,
                     unlikeGpus(scene) ? "; the GPUs are of different kinds, which may round differently" : "");
}

}  // namespace tandem::jobs
