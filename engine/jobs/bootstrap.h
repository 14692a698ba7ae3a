// How sure a frame rate, or a ratio of two, is: 95 % percentile intervals of a hierarchical bootstrap (Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, sections 8.6 and 13.3). One resample draws as many repeats as
// there are, with replacement; then, within each that was drawn, blocks of consecutive frames with replacement (the
// moving-block bootstrap: Kuensch, The Jackknife and the Bootstrap for General Stationary Observations, Annals of
// Statistics 17, 1989), the last one cut, until the run has its length again. Blocks, because the times of neighbouring
// frames are alike: frames drawn one by one would make intervals that are too narrow.
// Pure, and the same on every machine: the generator starts from the same seed each time.
// Times in ms; a run is the frame times of one repeat, in order. Negative times, and runs longer than kLongestRunMs,
// are a broken promise of the caller's: what comes from a file is checked before.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tandem::jobs {

/// `low` and `high` are the 2.5th and 97.5th percentile (nearest rank) of kResamples resamples; `value` is that of the
/// frames as measured. With few repeats the true value is missed somewhat more often than in 1 of 20: the spread of
/// five repeats is, on average, less than that of what they were drawn from.
struct Interval {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

inline constexpr size_t kResamples = 2000;
inline constexpr double kLongestRunMs = 1e9;  // 11 days

/// 2 n^(1/3) rounded, at least 1 and at most n / 2 (there must be blocks to choose from). n^(1/3) is the order that is
/// best for the variance of a mean (Kuensch 1989); its factor is (1.5 (2 f / (1 - f^2))^2)^(1/3) where neighbours
/// correlate by f (Politis and White, Automatic Block-Length Selection for the Dependent Bootstrap, 2004, for AR(1)):
/// 2 at f = 0.66.
size_t blockLength(size_t frames);

/// Frames of all runs / their time, per second. `blockFrames`: length of the blocks; 0: blockLength() of each run.
/// Nothing with fewer than two runs, or where a run has no frame or takes no time.
std::optional<Interval> fpsInterval(std::span<const std::vector<double>> runs, size_t blockFrames = 0);

/// fps of `above` / fps of `below`. Where both have as many runs, run i of both must be the same repeat, measured one
/// after the other: repeats are then drawn in pairs, so that what both had in common (a GPU that grew warm) cancels.
/// Nothing where one of them has no fpsInterval().
std::optional<Interval> ratioInterval(std::span<const std::vector<double>> above,
                                      std::span<const std::vector<double>> below, size_t blockFrames = 0);

/// Whether the ratio is other than 1, as far as its interval can tell: 1 lies outside. The ends belong to the interval.
bool differs(const Interval& ratio);

}  // namespace tandem::jobs
