#include "jobs/bench_json.h"

#include "jobs/version.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

constexpr std::pair<const char*, const char*> kDefinitions[] = {
    {"fps", "timed frames of all runs divided by their seconds"},
    {"interval",
     "95 %, percentiles of a hierarchical bootstrap: repeats are "
     "drawn with replacement, then within each blocks of "
     "consecutive frames; modes that ran in turn are drawn by "
     "the same repeats"},
    {"frameMs",
     "from the end of the frame before to the end of this frame, "
     "as the host saw it"},
    {"latencyMs", "from the start of a frame to its end, with others under way"},
    {"latencyFrames", "mean latency divided by mean frame time"},
    {"percentiles",
     "nearest rank: the smallest value that p percent of all "
     "values do not exceed; null where there are fewer than "
     "100 / (100 - p) values"},
    {"deviation", "of a sample, over n - 1"},
    {"onePercentLow",
     "byP99: 1000 / p99 of the frame times; timeWeighted: 1000 / the frame "
     "time at which the longest frames' sum "
     "reaches 1 % of all time; null below 100 frames"},
    {"stutter",
     "frames longer than twice the median of the 11 frames around "
     "them; timeShare: of all time"},
    {"deltaMs", "|this frame time - the one before|: micro-stutter"},
    {"speedup", "fps of the mode divided by fps of single on the first GPU"},
    {"efficiency", "speedup divided by the number of GPUs"},
    {"karpFlatt",
     "serial fraction (1/s - 1/n) / (1 - 1/n) for speedup s on "
     "n GPUs (Karp and Flatt 1990)"},
    {"ofSum",
     "fps divided by the sum of what each GPU makes alone: 1 is all "
     "that unlike GPUs can give"},
    {"passes",
     "ms: median over the timed frames; bytes: planes read and "
     "written, each once; gbps: bytes / ms"},
    {"busyMs", "a frame's share of the time in which the node ran a pass"},
    {"idle",
     "the rest, by what was waited for: bytes on their way, another "
     "node's pass, or neither (the CPU)"},
    {"raysPerSecond",
     "closest-hit and shadow rays of the node's rows "
     "divided by the time of its tracing passes"},
    {"copyGbps",
     "what the GPU reads and writes a second while it copies "
     "within its memory"},
    {"hiddenShare", "part of the link's busy time in which the receiver ran a pass"},
    {"bound",
     "the least that the mode could take with these passes and this "
     "link: single R + P, pipelined max(R, P, X), sfr "
     "the best deal of rows, afr the nodes' rates added; distance: "
     "mean frame time / bound"},
    {"rowsOfNode", "rows that the node traced"},
    {"links",
     "of a mode: over the renderer's life, warm-up and proof frames "
     "too; of a summary: timed frames alone"},
    {"power",
     "of the GPUs that the mode uses, idle ones not counted, while "
     "the timed frames ran"},
    {"gpus",
     "of a summary: the GPUs that the mode uses, as they were while the timed frames ran; watched at samplingMs"},
    {"framesPerDollar",
     "fps * 3600 / price of an hour, of one GPU for "
     "single and of two for the rest"},
    {"proofs",
     "one frame, rendered as often as frames can be under way, "
     "outside the measured time; nodes: where it was "
     "rendered"}};

json definitionsJson() {
  json document;
  for (const auto& [word, sentence] : kDefinitions) document[word] = sentence;
  return document;
}

json stateJson(const GpuState& state) {
  return {{"graphicsMHz", orNull(state.graphicsMHz)},
          {"memoryMHz", orNull(state.memoryMHz)},
          {"powerW", orNull(state.powerW)},
          {"powerLimitW", orNull(state.powerLimitW)},
          {"temperatureC", orNull(state.temperatureC)},
          {"throttleReasons", orNull(state.throttleReasons)}};
}

json adapterJson(const gpu::Adapter& adapter, const AdapterFacts& facts) {
  return {
      {"index", adapter.index},
      {"name", adapter.name},
      {"type", gpu::adapterTypeName(adapter.type)},
      {"uuid", adapter.uuidText()},
      {"pci", adapter.pci ? json(adapter.pci->text()) : json(nullptr)},
      {"driver", adapter.driver},
      {"apiVersion", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(adapter.apiVersion),
                                 VK_API_VERSION_MINOR(adapter.apiVersion), VK_API_VERSION_PATCH(adapter.apiVersion))},
      {"memoryBytes", adapter.deviceLocalBytes()},
      {"watcher", orNull(facts.watcher)},
      {"before", stateJson(facts.before)},
      {"after", stateJson(facts.after)}};
}

json machineJson(const BenchReport& report) {
  const MachineReport& machine = report.machine;
  json document = {{"cpu", orNull(machine.cpu)},
                   {"threads", orNull(machine.threads)},
                   {"memoryBytes", orNull(machine.memoryBytes)},
                   {"kernel", orNull(machine.kernel)},
                   {"loadAverage", orNull(machine.loadAverage)},
                   {"samplingMs", orNull(report.samplingMs)},
                   {"adapters", json::array()}};
  for (size_t i = 0; i < machine.adapters.size(); ++i)
    document["adapters"].push_back(adapterJson(machine.adapters[i], machine.facts[i]));
  return document;
}

json settingsJson(const BenchReport& report) {
  const RunPlan& plan = report.plan;
  const frame::PictureSettings& picture = report.picture;
  const frame::MachineSettings& machine = report.settings.machine;
  const auto& price = report.settings.pricePerHour;
  const auto& slow = machine.slowPass;
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
          {"rowsShare", machine.shares},
          {"sampling", report.settings.sampling},
          {"pricePerHour", price ? json{{"one", price->one}, {"two", price->two}} : json(nullptr)},
          {"slowPass", slow ? json{{"name", slow->pass}, {"milliseconds", slow->milliseconds}} : json(nullptr)},
          {"validation", report.settings.validation}};
}

json sceneJson(const SceneReport& scene, const BenchReport& report) {
  json document = {{"name", scene.wanted.name},
                   {"scene", scene.wanted.scene},
                   {"size", {scene.picture.size.width, scene.picture.size.height}},
                   {"samples", scene.picture.samples},
                   {"bounces", scene.picture.bounces},
                   {"shutterDegrees", scene.plan.times.shutterDegrees},
                   {"scaling", scene.wanted.scaling.empty() ? json(nullptr) : json(scene.wanted.scaling)},
                   {"series", scene.wanted.series.empty() ? json(nullptr) : json(scene.wanted.series)},
                   {"whole", scene.whole},
                   {"triangles", nullptr},
                   {"sceneBytes", nullptr},
                   {"camera", nullptr},
                   {"raysPerFrame", orNull(scene.raysPerFrame)},
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
  for (const ModeReport& mode : scene.modes) document["modes"].push_back(modeJson(scene, mode, report));
  return document;
}

}  // namespace

std::string benchJson(const BenchReport& report) {
  json document = {{"schema", 2},
                   {"kind", "tandem bench"},
                   {"version", kVersion},
                   {"commit", orNull(report.machine.commit)},
                   {"build", report.machine.build},
                   {"date", report.machine.date},
                   {"commandLine", report.settings.commandLine},
                   {"suite", report.settings.suite.empty() ? json(nullptr) : json(report.settings.suite)},
                   {"partial", report.partial()},
                   {"interruptedBy", report.interruptedBy},
                   {"exit", report.exit},
                   {"validationMessages", report.validationMessages},
                   {"warnings", report.warnings},
                   {"machine", machineJson(report)},
                   {"settings", settingsJson(report)},
                   {"definitions", definitionsJson()},
                   {"scenes", json::array()}};
  for (const std::string& kept : report.kept) document["scenes"].push_back(json::parse(kept));
  for (const SceneReport& scene : report.scenes) document["scenes"].push_back(sceneJson(scene, report));
  // File names may be any bytes; JSON is UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
