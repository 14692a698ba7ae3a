#include "exec/trace_events.h"

namespace tandem::exec {

NodeClocks::NodeClocks(topology::Topology& topology) {
  for (uint32_t node = 0; node < topology.nodes(); ++node) clocks_.emplace_back(topology.device(node));
}

std::vector<PassReport> NodeClocks::place(const std::vector<BatchSections>& batches, uint64_t doneNs) {
  std::vector<PassReport> reports;
  for (const BatchSections& batch : batches) {
    for (const gpu::PassTime& time : batch.times) reports.push_back({time.name, batch.node, time.milliseconds, 0, 0});
  }
  for (uint32_t node = 0; node < clocks_.size(); ++node) {
    std::vector<gpu::SubmittedSection> sections;
    for (const BatchSections& batch : batches) {
      if (batch.node != node) continue;
      for (const gpu::PassTime& time : batch.times) sections.push_back({time, batch.submittedNs});
    }
    const std::vector<gpu::HostSpan> spans = clocks_[node].place(sections, doneNs);
    auto span = spans.begin();
    for (PassReport& report : reports) {
      if (report.node != node) continue;
      report.beginNs = span->beginNs;
      report.endNs = span->endNs;
      ++span;
    }
  }
  return reports;
}

}  // namespace tandem::exec
