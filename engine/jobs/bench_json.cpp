// The benchmark's JSON, schema 1. Times in the unit that their names end in.
#include <nlohmann/json.hpp>

#include "jobs/bench_report.h"
#include "jobs/pixel_hash.h"
#include "jobs/run_json.h"
#include "jobs/version.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json orNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json definitionsJson() {
  return {{"fps", "timed frames of all runs divided by their seconds"},
          {"frameMs", "from the end of the frame before to the end of this frame, as the host saw it"},
          {"latencyMs", "from the start of a frame to its end, with others under way"},
          {"percentiles",
           "nearest rank: the smallest value that p percent of all values do not exceed; null where there "
           "are fewer than 100 / (100 - p) values"},
          {"deviation", "of a sample, over n - 1"},
          {"speedup", "fps of the mode divided by fps of single"},
          {"passes", "ms: median over the timed frames"},
          {"busyMsOfNode", "mean over the timed frames of the sum over the node's passes"},
          {"rowsOfNode", "rows that the node traced; in summaries the mean over the timed frames"},
          {"links", "over the renderer's life: warm-up and proof frames too"},
          {"proofs",
           "one frame, rendered as often as frames can be under way, outside the measured time; nodes: where it was "
           "rendered"}};
}

json adapterJson(const gpu::Adapter& adapter) {
  return {
      {"index", adapter.index},
      {"name", adapter.name},
      {"type", gpu::adapterTypeName(adapter.type)},
      {"uuid", adapter.uuidText()},
      {"pci", adapter.pci ? json(adapter.pci->text()) : json(nullptr)},
      {"driver", adapter.driver},
      {"apiVersion", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(adapter.apiVersion),
                                 VK_API_VERSION_MINOR(adapter.apiVersion), VK_API_VERSION_PATCH(adapter.apiVersion))},
      {"memoryBytes", adapter.deviceLocalBytes()}};
}

json machineJson(const MachineReport& machine) {
  json document = {{"cpu", orNull(machine.cpu)},
                   {"threads", orNull(machine.threads)},
                   {"memoryBytes", orNull(machine.memoryBytes)},
                   {"kernel", orNull(machine.kernel)},
                   {"adapters", json::array()}};
  for (const gpu::Adapter& adapter : machine.adapters) document["adapters"].push_back(adapterJson(adapter));
  return document;
}

json settingsJson(const BenchReport& report) {
  const RunPlan& plan = report.plan;
  const frame::PictureSettings& picture = report.picture;
  const frame::MachineSettings& machine = report.settings.machine;
  return {{"size", {picture.size.width, picture.size.height}},
          {"samples", picture.samples},
          {"bounces", picture.bounces},
          {"seed", picture.seed},
          {"motionBlur", picture.motionBlur},
          {"environment", report.settings.environment},
          {"sceneFramesPerSecond", plan.times.rate.perSecond()},
          {"shutterDegrees", plan.times.shutterDegrees},
          {"frames", plan.frames > 0 ? json(plan.frames) : json(nullptr)},
          {"seconds", plan.frames > 0 ? json(nullptr) : json(plan.seconds)},
          {"repeats", report.repeats},
          {"readback", plan.readback},
          {"gpus", machine.gpus},
          {"simulateDual", machine.simulateDual},
          {"topology", topology::topologyKindName(machine.topology)},
          {"link", topology::linkKindName(machine.link)},
          {"linkGbps", machine.linkGbps > 0.0 ? json(machine.linkGbps) : json(nullptr)},
          {"validation", report.settings.validation}};
}

json statisticsJson(const Statistics& values) {
  return {{"count", values.count},     {"mean", values.mean},       {"deviation", orNull(values.deviation)},
          {"least", values.least},     {"p50", values.p50},         {"p90", orNull(values.p90)},
          {"p95", orNull(values.p95)}, {"p99", orNull(values.p99)}, {"most", values.most}};
}

json runJson(const BenchRun& run) {
  const auto statistics = summarize(run.frameMs);
  return {{"repeat", run.repeat},
          {"complete", run.complete},
          {"warmUp", {{"frames", run.warmUpFrames}, {"seconds", run.warmUpSeconds}, {"settled", run.settled}}},
          {"seconds", run.seconds},
          {"fps", statistics ? json(static_cast<double>(run.frameMs.size()) / run.seconds) : json(nullptr)},
          {"statistics", statistics ? statisticsJson(*statistics) : json(nullptr)},
          {"frameMs", run.frameMs},
          {"latencyMs", run.latencyMs},
          {"rowsOfNode", run.rowsOfNode}};
}

json summaryJson(const ModeSummary& summary) {
  json document = {{"fps", summary.fps},
                   {"frameMs", statisticsJson(summary.frameMs)},
                   {"latencyMs", statisticsJson(summary.latencyMs)},
                   {"passes", json::array()},
                   {"busyMsOfNode", summary.busyMsOfNode},
                   {"rowsOfNode", summary.rowsOfNode}};
  for (const PassTime& pass : summary.passes)
    document["passes"].push_back({{"name", pass.name}, {"node", pass.node}, {"ms", pass.milliseconds}});
  return document;
}

json modeJson(const SceneReport& scene, const ModeReport& mode) {
  json document = {{"mode", frame::modeName(mode.mode)}, {"failure", orNull(mode.failure)}};
  document["ranAs"] = mode.run.nodes.empty() ? json(nullptr) : json(mode.run.mode);
  document["topology"] = mode.run.topology;
  document["speedup"] = orNull(speedup(scene, mode));
  const auto summary = summarizeMode(mode);
  document["summary"] = summary ? summaryJson(*summary) : json(nullptr);
  for (const char* list : {"proofs", "nodes", "nodeOfPass", "links", "runs"}) document[list] = json::array();
  for (const ProofFrame& proof : mode.proofs) {
    document["proofs"].push_back({{"frame", proof.frame},
                                  {"linear", hashText(proof.linearHash)},
                                  {"ldr", hashText(proof.ldrHash)},
                                  {"nodes", proof.nodes}});
  }
  for (const frame::NodeReport& node : mode.run.nodes) document["nodes"].push_back(nodeJson(node));
  for (const auto& [pass, node] : mode.run.nodeOfPass)
    document["nodeOfPass"].push_back({{"pass", pass}, {"node", node}});
  for (const exec::LinkUse& link : mode.run.links) document["links"].push_back(linkJson(link));
  for (const BenchRun& run : mode.runs) document["runs"].push_back(runJson(run));
  return document;
}

json sceneJson(const SceneReport& scene, const BenchReport& report) {
  json document = {{"scene", scene.scene},
                   {"failure", orNull(scene.failure)},
                   {"verdict", verdict(scene, report)},
                   {"picturesEqual", orNull(picturesEqual(scene))},
                   {"pictures", pictureVerdict(scene)}};
  for (const ModeReport& mode : scene.modes) {
    if (mode.run.nodes.empty()) continue;
    document["triangles"] = mode.run.sceneTriangles;
    document["sceneBytes"] = mode.run.sceneBytes;
    document["camera"] = mode.run.camera;
  }
  document["modes"] = json::array();
  for (const ModeReport& mode : scene.modes) document["modes"].push_back(modeJson(scene, mode));
  return document;
}

}  // namespace

std::string benchJson(const BenchReport& report) {
  json document = {{"schema", 1},
                   {"kind", "tandem bench"},
                   {"version", kVersion},
                   {"commit", orNull(report.machine.commit)},
                   {"build", report.machine.build},
                   {"date", report.machine.date},
                   {"commandLine", report.settings.commandLine},
                   {"partial", report.partial()},
                   {"interruptedBy", report.interruptedBy},
                   {"exit", report.exit},
                   {"validationMessages", report.validationMessages},
                   {"warnings", report.warnings},
                   {"machine", machineJson(report.machine)},
                   {"settings", settingsJson(report)},
                   {"definitions", definitionsJson()},
                   {"scenes", json::array()}};
  for (const SceneReport& scene : report.scenes) document["scenes"].push_back(sceneJson(scene, report));
  // File names may be any bytes; JSON is UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
