#include "jobs/capture_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/pixel_hash.h"
#include "jobs/run_json.h"
#include "jobs/version.h"

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

std::string bytesText(uint64_t bytes) {
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string filesText(const CaptureReport& report) {
  std::string text;
  size_t written = 0, kept = 0;
  const CapturedFrame* first = nullptr;
  const CapturedFrame* last = nullptr;
  for (const CapturedFrame& frame : report.frames) {
    if (frame.failure) continue;
    (frame.kept ? kept : written) += 1;
    if (first == nullptr) first = &frame;
    last = &frame;
  }
  for (size_t i = 0; first != nullptr && i < first->files.size(); ++i) {
    text += fmt::format("{}{}\n", first->files[i], first == last ? "" : " ... " + last->files[i]);
  }
  text += fmt::format("{} of {} frames written in {:.2f} s", written, report.planned, report.seconds);
  if (written > 0 && report.seconds > 0)
    text += fmt::format(" ({:.3g} fps)", static_cast<double>(written) / report.seconds);
  if (kept > 0) text += fmt::format(", {} kept from before", kept);
  return text + fmt::format(", after {:.2f} s of loading\n", report.loadSeconds);
}

std::string passesText(const CaptureReport& report) {
  std::string text;
  for (const frame::NodeReport& node : report.run.nodes) {
    text +=
        fmt::format("node {}: {} ({}{}{})", node.node, node.adapter, node.type, node.pci.empty() ? "" : ", ", node.pci);
    text += node.rows > 0 ? fmt::format(", traces {} rows by {}\n", node.rows, node.tracer) : "\n";
  }
  for (const PassTime& pass : report.passes) {
    text += fmt::format("  node {}  {:<24} {:>10.2f} ms\n", pass.node, pass.name, pass.milliseconds);
  }
  return text;
}

std::string linksText(const CaptureReport& report) {
  std::string text;
  for (const exec::LinkUse& link : report.run.links) {
    text += fmt::format("link node {} -> node {}: {}, {} in {} transfers, {:.2f} GB/s\n", link.from, link.to,
                        link.carried.kind, bytesText(link.carried.bytes), link.carried.transfers,
                        link.carried.gigabytesPerSecond());
  }
  return text;
}

json frameJson(const CapturedFrame& frame) {
  json entry = {{"frame", frame.frame}, {"files", frame.files}, {"kept", frame.kept}};
  if (frame.failure) entry["failure"] = *frame.failure;
  entry["hash"] = {{"linear", hashText(frame.linearHash)}, {"ldr", hashText(frame.ldrHash)}};
  if (frame.kept) return entry;
  entry["seconds"] = frame.seconds;
  entry["ev"] = frame.ev;
  return entry;
}

}  // namespace

std::vector<PassTime> medianPasses(const std::vector<std::vector<exec::PassReport>>& frames) {
  std::vector<PassTime> passes;
  std::vector<std::vector<double>> times;
  for (const auto& frame : frames) {
    for (const exec::PassReport& pass : frame) {
      const auto known = std::ranges::find_if(
          passes, [&](const PassTime& other) { return other.name == pass.name && other.node == pass.node; });
      const auto index = static_cast<size_t>(known - passes.begin());
      if (known == passes.end()) {
        passes.push_back({pass.name, pass.node, 0.0});
        times.emplace_back();
      }
      times[index].push_back(pass.milliseconds);
    }
  }
  for (size_t i = 0; i < passes.size(); ++i) {
    std::ranges::sort(times[i]);
    const size_t count = times[i].size();
    passes[i].milliseconds = 0.5 * (times[i][(count - 1) / 2] + times[i][count / 2]);
  }
  return passes;
}

std::string captureText(const CaptureReport& report) {
  std::string text = filesText(report);
  if (report.run.nodes.empty()) return text;
  text +=
      fmt::format("{}x{}, {} samples, {} bounces, {}, {} triangles\n", report.run.size.width, report.run.size.height,
                  report.picture.samples, report.picture.bounces, report.run.camera, report.run.sceneTriangles);
  if (report.run.sceneTriangles > 0) {
    text += fmt::format("scene: {:.1f} MiB on a GPU, {:.1f} bytes a triangle\n",
                        static_cast<double>(report.run.sceneBytes) / (1 << 20),
                        static_cast<double>(report.run.sceneBytes) / static_cast<double>(report.run.sceneTriangles));
  }
  text += fmt::format("mode {}, topology {}\n", report.run.mode, report.run.topology);
  for (const frame::LossReport& loss : report.run.losses)
    text += fmt::format("lost {} in frame {}: {}\n", loss.gpu, loss.frame, loss.what);
  return text + passesText(report) + linksText(report);
}

std::string captureJson(const CaptureReport& report) {
  json document = {{"schema", 1},
                   {"version", kVersion},
                   {"mode", report.run.mode},
                   {"topology", report.run.topology},
                   {"camera", report.run.camera},
                   {"size", {report.picture.size.width, report.picture.size.height}},
                   {"samples", report.picture.samples},
                   {"bounces", report.picture.bounces},
                   {"seed", report.picture.seed},
                   {"triangles", report.run.sceneTriangles},
                   {"sceneBytes", report.run.sceneBytes},
                   {"framesPlanned", report.planned},
                   {"seconds", report.seconds},
                   {"loadSeconds", report.loadSeconds},
                   {"validationMessages", report.validationMessages},
                   {"warnings", report.warnings},
                   {"interruptedBy", report.interruptedBy},
                   {"exit", report.exit}};
  for (const char* list : {"frames", "nodes", "passes", "links", "losses"}) document[list] = json::array();
  for (const CapturedFrame& frame : report.frames) document["frames"].push_back(frameJson(frame));
  for (const frame::NodeReport& node : report.run.nodes) document["nodes"].push_back(nodeJson(node));
  for (const PassTime& pass : report.passes) {
    document["passes"].push_back({{"name", pass.name}, {"node", pass.node}, {"ms", pass.milliseconds}});
  }
  for (const exec::LinkUse& link : report.run.links) document["links"].push_back(linkJson(link));
  for (const frame::LossReport& loss : report.run.losses) {
    document["losses"].push_back({{"node", loss.node}, {"gpu", loss.gpu}, {"frame", loss.frame}, {"what", loss.what}});
  }
  document["historyResets"] = report.run.historyResets;
  // File names may be any bytes; JSON is UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
