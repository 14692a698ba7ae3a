#include "jobs/trace_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

/// A bar in a row. Rows are named; a process and a row are made as they come.
struct Bar {
  uint32_t process = 0;
  std::string row;
  std::string name;
  uint64_t beginNs = 0, endNs = 0;
  json details;
};

/// Bars of one row must not overlap, or viewers nest them: where transfers do (one leaves while the one before still
/// arrives), the later takes a second row.
class Rows {
 public:
  uint32_t rowFor(const Bar& bar) {
    for (uint32_t copy = 1;; ++copy) {
      const std::string name = copy == 1 ? bar.row : fmt::format("{} ({})", bar.row, copy);
      auto row = std::ranges::find_if(rows_, [&](const Row& r) { return r.process == bar.process && r.name == name; });
      if (row == rows_.end()) row = rows_.insert(row, {bar.process, name, 0});
      if (bar.beginNs < row->endNs) continue;
      row->endNs = bar.endNs;
      return static_cast<uint32_t>(row - rows_.begin()) + 1;
    }
  }

  void name(json& events) const {
    for (size_t index = 0; index < rows_.size(); ++index) {
      const auto thread = static_cast<uint32_t>(index) + 1;
      events.push_back({{"name", "thread_name"},
                        {"ph", "M"},
                        {"pid", rows_[index].process},
                        {"tid", thread},
                        {"args", {{"name", rows_[index].name}}}});
      events.push_back({{"name", "thread_sort_index"},
                        {"ph", "M"},
                        {"pid", rows_[index].process},
                        {"tid", thread},
                        {"args", {{"sort_index", thread}}}});
    }
  }

 private:
  struct Row {
    uint32_t process = 0;
    std::string name;
    uint64_t endNs = 0;
  };
  std::vector<Row> rows_;
};

json processName(uint32_t process, const std::string& name) {
  return {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"tid", 0}, {"args", {{"name", name}}}};
}

json barJson(const Bar& bar, uint32_t row, uint64_t originNs) {
  const auto microseconds = [](uint64_t ns) { return static_cast<double>(ns) / 1000.0; };
  return {{"name", bar.name},
          {"ph", "X"},
          {"pid", bar.process},
          {"tid", row},
          {"ts", microseconds(bar.beginNs - originNs)},
          {"dur", microseconds(bar.endNs - bar.beginNs)},
          {"args", bar.details}};
}

void addTransfer(std::vector<Bar>& bars, const exec::TransferReport& transfer, uint32_t host) {
  const topology::LinkEvent& event = transfer.event;
  const std::string way = fmt::format("{}->{}", transfer.from, transfer.to);
  const json details = {{"frame", transfer.frame}, {"bytes", event.bytes}};
  bars.push_back({transfer.from, "link " + way, "transfer", event.beginNs, event.endNs, details});
  if (event.bridgeEndNs > 0)
    bars.push_back({host, "bridge " + way, "hand over", event.bridgeBeginNs, event.bridgeEndNs, details});
}

}  // namespace

void TraceFile::add(const frame::FrameResult& frame) {
  for (const exec::PassReport& pass : frame.passes) passes_.push_back({frame.request.frame, pass});
  transfers_.insert(transfers_.end(), frame.transfers.begin(), frame.transfers.end());
}

void TraceFile::add(const WrittenFrame& written) { written_.push_back(written); }

std::string TraceFile::text(const std::vector<frame::NodeReport>& nodes) const {
  const auto host = static_cast<uint32_t>(nodes.size());
  std::vector<Bar> bars;
  for (const auto& [frame, pass] : passes_)
    bars.push_back({pass.node, "passes", pass.name, pass.beginNs, pass.endNs, {{"frame", frame}}});
  for (const exec::TransferReport& transfer : transfers_) addTransfer(bars, transfer, host);
  for (const WrittenFrame& written : written_) {
    for (const FileTime& time : written.times) {
      bars.push_back({host,
                      fmt::format("writer {}", time.thread),
                      time.file,
                      time.beginNs,
                      time.endNs,
                      {{"frame", written.frame}}});
    }
  }
  std::ranges::stable_sort(bars, {}, &Bar::beginNs);

  json events = json::array();
  for (const frame::NodeReport& node : nodes)
    events.push_back(processName(node.node, fmt::format("node {}: {}", node.node, node.adapter)));
  events.push_back(processName(host, "host"));
  Rows rows;
  const uint64_t originNs = bars.empty() ? 0 : bars.front().beginNs;
  for (const Bar& bar : bars) events.push_back(barJson(bar, rows.rowFor(bar), originNs));
  rows.name(events);
  const json whole = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::jobs
