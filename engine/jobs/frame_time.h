// When a frame happens. Frame 1 is at 0 s of the scene, whatever range is rendered: frames 3-4 alone are frames 3-4 of
// 1-4.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "frame/renderer.h"

namespace tandem::jobs {

/// Frames per second, as a fraction in lowest terms: 24, or 24000/1001.
struct FrameRate {
  uint32_t numerator = 24;
  uint32_t denominator = 1;
  double perSecond() const { return double(numerator) / denominator; }
};

/// Reads the value of `--fps`: `24`, `23.976` (read as written, 2997/125) or `24000/1001`. Refuses (WrongUsage) what is
/// not above 0.
Expected<FrameRate> parseFrameRate(std::string_view text);

struct FrameTimes {
  FrameRate rate;
  double start = 0.0;             // seconds of the scene at frame 1 (`--time`)
  double shutterDegrees = 180.0;  // 360 = open for the whole frame
  double shutterSeconds() const;
};

/// Centre = start + (frame - 1) / fps; the shutter is open for shutterDegrees / 360 of a frame around it. Whole numbers
/// up to one division at the end, so that a frame's times depend on its number alone.
frame::FrameRequest requestFor(uint32_t frame, const FrameTimes& times);

}  // namespace tandem::jobs
