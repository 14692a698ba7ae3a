// Sets of moments, as spans of time: what a node was busy with, what a link carried, and what is left between them.
// Nanoseconds of any one clock. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::jobs {

/// From `begin` until just before `end`. Empty where end <= begin.
struct Span {
  uint64_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
};

/// A set of moments: ascending spans that neither overlap nor touch, none of them empty.
using Spans = std::vector<Span>;

/// The moments of `window` that are in any of `spans`, which may be in any order and overlap.
Spans unionOf(std::vector<Span> spans, Span window);
Spans intersectionOf(const Spans& a, const Spans& b);
/// The moments of `a` that are not in `b`.
Spans differenceOf(const Spans& a, const Spans& b);
/// Nanoseconds in all.
uint64_t lengthOf(const Spans& spans);

}  // namespace tandem::jobs
