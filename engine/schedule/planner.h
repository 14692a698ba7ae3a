// Which mode to run: what each is expected to take, from what the passes cost on each node and what the links carry,
// and the choice once some have been measured. Pure arithmetic; thread-safe.
//
// Every frame time here is that of a stream of frames: with several in flight a link's latency delays pictures and
// costs no frame rate. R is the milliseconds of tracing a whole frame, P those of post-processing it, X those of moving
// what tracing made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::schedule {

/// The ways to run a frame, from the simplest on (frame::Mode without "auto").
enum class Way { Single, Pipelined, Sfr, Afr };
inline constexpr Way kWays[] = {Way::Single, Way::Pipelined, Way::Sfr, Way::Afr};

/// "single", "pipelined", "sfr", "afr".
std::string_view wayName(Way way);

/// What one whole frame costs on one node, in milliseconds.
struct NodeCosts {
  double traceMs = 0.0;  // R
  double postMs = 0.0;   // P
};

struct LinkCosts {
  double gbps = 0.0;   // 1e9 bytes a second; 0: nothing can cross
  double hopMs = 0.0;  // from ready to usable, without bytes: latency, which no prediction counts
};

struct Costs {
  uint32_t count = 1;            // nodes
  std::vector<NodeCosts> nodes;  // one per node; or one alone, which stands for all: nodes that are alike
  LinkCosts link;                // towards node 1, which has the post passes
  uint64_t bytesPerFrame = 0;    // that cross when node 0 traces everything
  bool temporal = false;         // a pass reads its own past: no afr
};

/// The frame time of one way, or why it cannot be.
struct Forecast {
  std::optional<double> ms;  // per frame
  std::string refusal;       // where there is no time: "needs two GPUs"
};

using Prediction = std::map<Way, Forecast>;  // all four

/// single: R + P of node 0. pipelined: the longest of R of node 0, P of node 1, X. sfr: all nodes trace, node 1 also
/// does post: the split at which all finish together, never shorter than node 1's P, nor than what crosses (all rows
/// but node 1's) takes. afr: the nodes' rates added.
Prediction predict(const Costs& costs);

/// "predicted: single 14.2 ms, pipelined 11.9 ms (1.19x), sfr 7.3 ms (1.95x), afr not (needs two GPUs): sfr".
std::string predictionText(const Prediction& prediction, Way chosen);

/// Measured milliseconds per frame of ways that have run on this scene and size; the caller forgets them when either
/// changes.
using Measured = std::map<Way, double>;

/// The way to run next. What is measured counts for more than what is predicted. Keeps `present` unless another is
/// better by more than 3 %, and of ways that are within 3 % prefers the simpler; never one that measures slower than
/// single does.
Way choose(const Prediction& prediction, const Measured& measured, Way present);

inline constexpr double kHysteresis = 0.03;

}  // namespace tandem::schedule
