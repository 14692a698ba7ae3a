#include "jobs/bench_spans.h"

#include <algorithm>

namespace tandem::jobs {

Spans unionOf(std::vector<Span> spans, Span window) {
  std::ranges::sort(spans, {}, &Span::begin);
  Spans merged;
  for (const Span& span : spans) {
    const Span clipped{std::max(span.begin, window.begin), std::min(span.end, window.end)};
    if (clipped.end <= clipped.begin) continue;
    if (!merged.empty() && clipped.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, clipped.end);
    } else {
      merged.push_back(clipped);
    }
  }
  return merged;
}

Spans intersectionOf(const Spans& a, const Spans& b) {
  Spans common;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const Span both{std::max(i->begin, j->begin), std::min(i->end, j->end)};
    if (both.begin < both.end) common.push_back(both);
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

Spans differenceOf(const Spans& a, const Spans& b) {
  Spans rest;
  auto taken = b.begin();
  for (const Span& span : a) {
    uint64_t begin = span.begin;
    while (taken != b.end() && taken->end <= begin) ++taken;
    // The last one that is looked at may reach into the next span of `a`: it is not passed over.
    for (auto next = taken; next != b.end() && next->begin < span.end; ++next) {
      if (begin < next->begin) rest.push_back({begin, next->begin});
      begin = next->end;
    }
    if (begin < span.end) rest.push_back({begin, span.end});
  }
  return rest;
}

uint64_t lengthOf(const Spans& spans) {
  uint64_t length = 0;
  for (const Span& span : spans) length += span.end - span.begin;
  return length;
}

}  // namespace tandem::jobs
