#include "jobs/bench_findings.h"
#include "jobs/bench_json.h"
#include "jobs/pixel_hash.h"
#include "jobs/run_json.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

json intervalJson(const std::optional<Interval>& interval, std::optional<double> value) {
  if (!value) return nullptr;
  return {{"value", *value},
          {"low", interval ? json(interval->low) : json(nullptr)},
          {"high", interval ? json(interval->high) : json(nullptr)}};
}

json passesJson(const ModeSummary& summary, const frame::RunReport& run, bool readback) {
  json passes = json::array();
  for (const PassTime& pass : summary.passes) {
    json entry = {
        {"name", pass.name}, {"node", pass.node}, {"ms", pass.milliseconds}, {"bytes", nullptr}, {"gbps", nullptr}};
    const auto traffic = std::ranges::find(run.traffic, pass.name, &frame::PassTraffic::name);
    // What a pass reads of the scene is not known; what is not wanted is not copied to the host.
    const bool idle = !readback && pass.name.ends_with("_readback");
    if (traffic != run.traffic.end() && !traffic->sceneToo && !idle && pass.milliseconds > 0.0) {
      entry["bytes"] = traffic->bytes;
      entry["gbps"] = static_cast<double>(traffic->bytes) / (pass.milliseconds * 1e6);
    }
    passes.push_back(std::move(entry));
  }
  return passes;
}

json nodesJson(const SceneReport& scene, const ModeReport& mode, const ModeTimes& times) {
  json nodes = json::array();
  for (const NodeTimes& node : times.nodes) {
    std::optional<double> copies;
    if (node.node < mode.adapters.size() && mode.adapters[node.node] < scene.copyGbps.size())
      copies = scene.copyGbps[mode.adapters[node.node]];
    nodes.push_back({{"node", node.node},
                     {"busyMs", node.busyMs},
                     {"idleMs", node.idleMs},
                     {"idle", {{"link", node.idle.link}, {"otherNode", node.idle.otherNode}, {"cpu", node.idle.cpu}}},
                     {"rows", node.rows},
                     {"raysPerSecond", orNull(raysPerSecond(scene, node))},
                     {"copyGbps", orNull(copies)}});
  }
  return nodes;
}

json linksJson(const ModeReport& mode, const ModeTimes& times) {
  json links = json::array();
  for (const LinkTimes& link : times.links) {
    std::string kind;
    for (const exec::LinkUse& use : mode.run.links) {
      if (use.from == link.from && use.to == link.to) kind = use.carried.kind;
    }
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"kind", kind},
                     {"bytesPerFrame", link.bytesPerFrame},
                     {"gbps", orNull(link.gbps)},
                     {"busyMs", link.busyMs},
                     {"hiddenShare", orNull(link.hiddenShare)}});
  }
  return links;
}

json boundJson(const std::optional<Bound>& bound) {
  if (!bound) return nullptr;
  return {{"traceMs", bound->traceMs},
          {"postMs", bound->postMs},
          {"linkMs", bound->linkMs},
          {"ms", bound->ms},
          {"distance", bound->distance}};
}

json summaryJson(const SceneReport& scene, const ModeReport& mode, const ModeSummary& summary,
                 const ModeFindings& findings) {
  const auto percentile = [&](std::optional<double> Statistics::*which) {
    return findings.deltaMs ? orNull((*findings.deltaMs).*which) : json(nullptr);
  };
  json document = {{"fps", summary.fps},
                   {"fpsLow", findings.fps ? json(findings.fps->low) : json(nullptr)},
                   {"fpsHigh", findings.fps ? json(findings.fps->high) : json(nullptr)},
                   {"frameMs", statisticsJson(summary.frameMs)},
                   {"latencyMs", statisticsJson(summary.latencyMs)},
                   {"latencyFrames", findings.latencyFrames}};
  document["onePercentLow"] = {{"byP99", orNull(findings.onePercentLow.byP99)},
                               {"timeWeighted", orNull(findings.onePercentLow.timeWeighted)}};
  document["stutter"] = findings.stutter
                            ? json{{"count", findings.stutter->count}, {"timeShare", findings.stutter->timeShare}}
                            : json(nullptr);
  document["deltaMs"] = {{"p50", findings.deltaMs ? json(findings.deltaMs->p50) : json(nullptr)},
                         {"p95", percentile(&Statistics::p95)},
                         {"p99", percentile(&Statistics::p99)}};
  document["passes"] = passesJson(summary, mode.run, scene.plan.readback);
  document["nodes"] = findings.times ? nodesJson(scene, mode, *findings.times) : json::array();
  document["links"] = findings.times ? linksJson(mode, *findings.times) : json::array();
  document["bound"] = boundJson(findings.bound);
  document["limit"] = findings.limit;
  document["power"] = findings.joulesPerFrame && findings.watts
                          ? json{{"joulesPerFrame", *findings.joulesPerFrame}, {"watts", *findings.watts}}
                          : json(nullptr);
  document["gpus"] = json::array();
  for (const GpuMeanwhile& gpu : findings.gpus) {
    document["gpus"].push_back({{"adapter", gpu.adapter},
                                {"meanMHz", orNull(gpu.meanMHz)},
                                {"maxWatts", orNull(gpu.maxWatts)},
                                {"maxTemperatureC", orNull(gpu.maxTemperatureC)},
                                {"throttleReasons", orNull(gpu.throttleReasons)}});
  }
  document["framesPerDollar"] = orNull(findings.framesPerDollar);
  return document;
}

json runJson(const BenchRun& run) {
  const auto statistics = summarize(run.frameMs);
  json rows = json::array();
  for (size_t i = 0; i < run.frameMs.size(); ++i) rows.push_back(run.frames[i].rowsOfNode);
  return {{"repeat", run.repeat},
          {"complete", run.complete},
          {"warmUp", {{"frames", run.warmUpFrames}, {"seconds", run.warmUpSeconds}, {"settled", run.settled}}},
          {"seconds", run.seconds},
          {"fps", statistics ? json(static_cast<double>(run.frameMs.size()) / run.seconds) : json(nullptr)},
          {"statistics", statistics ? statisticsJson(*statistics) : json(nullptr)},
          {"frameMs", run.frameMs},
          {"latencyMs", run.latencyMs},
          {"rowsOfNode", std::move(rows)}};
}

/// Some frames from the middle of a run, from their first event on.
json timelineJson(const BenchRun& run) {
  constexpr size_t kFrames = 4;
  struct Event {
    uint32_t frame;
    std::string lane, name;
    uint64_t beginNs, endNs;
  };
  std::vector<Event> events;
  const size_t count = std::min(kFrames, run.frameMs.size());
  const size_t first = (run.frameMs.size() - count) / 2;
  for (size_t i = first; i < first + count; ++i) {
    const auto number = static_cast<uint32_t>(i + 1);
    for (const exec::PassReport& pass : run.frames[i].passes)
      events.push_back({number, fmt::format("node {}", pass.node), pass.name, pass.beginNs, pass.endNs});
    for (const exec::TransferReport& transfer : run.frames[i].transfers) {
      events.push_back({number, fmt::format("link {} -> {}", transfer.from, transfer.to),
                        fmt::format("{:.1f} MB", static_cast<double>(transfer.event.bytes) * 1e-6),
                        transfer.event.beginNs, transfer.event.endNs});
    }
  }
  std::ranges::stable_sort(events, {}, &Event::beginNs);
  json timeline = json::array();
  for (const Event& event : events) {
    const auto ms = [&](uint64_t ns) { return static_cast<double>(ns - events.front().beginNs) * 1e-6; };
    timeline.push_back({{"frame", event.frame},
                        {"lane", event.lane},
                        {"name", event.name},
                        {"beginMs", ms(event.beginNs)},
                        {"endMs", ms(event.endNs)}});
  }
  return timeline;
}

}  // namespace

json statisticsJson(const Statistics& values) {
  return {{"count", values.count},     {"mean", values.mean},       {"deviation", orNull(values.deviation)},
          {"least", values.least},     {"p50", values.p50},         {"p90", orNull(values.p90)},
          {"p95", orNull(values.p95)}, {"p99", orNull(values.p99)}, {"p999", orNull(values.p999)},
          {"most", values.most}};
}

json modeJson(const SceneReport& scene, const ModeReport& mode, const BenchReport& report) {
  const auto summary = summarizeMode(mode);
  const ModeFindings findings = findingsOf(scene, mode, report);
  json document = {{"label", mode.contender.label()},
                   {"mode", frame::modeName(mode.contender.mode)},
                   {"adapters", mode.adapters},
                   {"failure", orNull(mode.failure)},
                   {"ranAs", mode.run.nodes.empty() ? json(nullptr) : json(mode.run.mode)},
                   {"topology", mode.run.topology},
                   {"speedup", intervalJson(findings.speedup, speedup(scene, mode))},
                   {"efficiency", orNull(findings.efficiency)},
                   {"karpFlatt", orNull(findings.karpFlatt)},
                   {"ofSum", orNull(findings.ofSum)},
                   {"summary", summary ? summaryJson(scene, mode, *summary, findings) : json(nullptr)}};
  for (const char* list : {"proofs", "nodes", "nodeOfPass", "links", "runs"}) document[list] = json::array();
  for (const ProofFrame& proof : mode.proofs) {
    document["proofs"].push_back({{"frame", proof.frame},
                                  {"linearHash", hashText(proof.linearHash)},
                                  {"ldrHash", hashText(proof.ldrHash)},
                                  {"nodes", proof.nodes}});
  }
  for (const frame::NodeReport& node : mode.run.nodes) document["nodes"].push_back(nodeJson(node));
  for (const auto& [pass, node] : mode.run.nodeOfPass)
    document["nodeOfPass"].push_back({{"pass", pass}, {"node", node}});
  for (const exec::LinkUse& link : mode.run.links) document["links"].push_back(linkJson(link));
  for (const BenchRun& run : mode.runs) document["runs"].push_back(runJson(run));
  document["timeline"] = mode.runs.empty() ? json::array() : timelineJson(mode.runs.back());
  return document;
}

}  // namespace tandem::jobs
