// Where the time of one mode went: per node, per link, and against the least that the mode could take. Pure arithmetic
// over what the frames reported; thread-safe. Milliseconds are per frame, unless a name says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exec/trace_events.h"
#include "frame/settings.h"

namespace tandem::jobs {

/// What one frame did. Frames overlap in time. All times on the host's steady clock.
struct FrameTrace {
  std::vector<exec::PassReport> passes;
  std::vector<exec::TransferReport> transfers;  // finished since the frame before; may belong to another frame
  std::vector<uint32_t> rowsOfNode;             // rows that each node traced, one entry per node
  uint64_t endNs = 0;                           // when the host had it
};

/// The time in which a node ran no pass, by what was to be waited for. Moment by moment, the first that holds:
/// link: bytes on their way to this node; otherNode: another node runs a pass; link again: bytes on their way between
/// others while no node works, as where all slots are full; cpu: nothing of all that, which is the same moments for
/// all nodes.
struct IdleTimes {
  double link = 0.0;
  double otherNode = 0.0;
  double cpu = 0.0;
};

struct NodeTimes {
  uint32_t node = 0;
  double busyMs = 0.0;  // moments with one pass at least; passes that overlap count once
  double idleMs = 0.0;  // sum of `idle`; with busyMs the whole frame time
  IdleTimes idle;
  double rows = 0.0;        // traced; in afr all rows of some frames
  double traceMs = 0.0;     // sum over the passes that trace, each on its own
  double postMs = 0.0;      // sum over all other passes
  std::string longestPass;  // empty: it ran none
};

/// A link that carried something.
struct LinkTimes {
  uint32_t from = 0, to = 0;
  double bytesPerFrame = 0.0;  // a transfer that is not all inside of the window counts in proportion
  double busyMs = 0.0;         // moments with bytes under way; transfers that overlap count once
  std::optional<double> gbps;  // 1e9 bytes a second while busy
  /// The part of busyMs in which the receiving node ran a pass: only in the rest can the link have held it up.
  std::optional<double> hiddenShare;
};

struct ModeTimes {
  size_t frames = 0;     // counted
  double frameMs = 0.0;  // wall clock
  std::vector<NodeTimes> nodes;
  std::vector<LinkTimes> links;
};

/// Names of the passes that trace; all others are post.
using TracePasses = std::set<std::string, std::less<>>;

/// Over all runs of a mode together. A run counts from the end of its first frame to the end of its last but `after`:
/// with n frames under way, work of n - 1 frames begins before the last counted one ends, and belongs into the window.
/// Whoever keeps those frames passes them too and says how many they are. Frames in the order of their ends. Nothing
/// where no run has two frames to count between.
std::optional<ModeTimes> timesOf(std::span<const std::vector<FrameTrace>> runs, const TracePasses& tracePasses,
                                 size_t after = 0);

/// The least that the mode could take with its passes and its link as they were (schedule::predict).
struct Bound {
  double traceMs = 0.0;   // R: passes that trace, summed over the nodes
  double postMs = 0.0;    // P: all others
  double linkMs = 0.0;    // X: the busiest link; in sfr for the rows that crossed
  double ms = 0.0;        // single: R + P; pipelined: max(R, P, X); sfr: the best deal of rows; afr: all nodes' rates
  double distance = 1.0;  // measured / bound; below 1 where passes of one node ran beside each other
};

/// A link that was not seen to carry anything counts as free. In sfr a whole frame on one node is taken to cost what
/// its rows did, in proportion, and a node without rows to cost what the others do. Nothing where no pass was timed,
/// or for Mode::Auto.
std::optional<Bound> boundOf(frame::Mode mode, const ModeTimes& times);

/// Speed-up per GPU: 1 is ideal.
double efficiency(double speedup, uint32_t gpus);

/// The experimentally determined serial fraction of Karp & Flatt, "Measuring Parallel Processor Performance", CACM
/// 33(5), 1990: (1/s - 1/n) / (1 - 1/n). 0 is ideal, 1 no gain, below 0 more than n times as fast. Nothing for one GPU,
/// or where `speedup` is not above 0.
std::optional<double> karpFlatt(double speedup, uint32_t gpus);

/// Of unlike GPUs: frames per second of both together by the sum of what each does alone. Nothing where that is 0.
std::optional<double> ofSum(double fps, double fpsFirst, double fpsSecond);

}  // namespace tandem::jobs
