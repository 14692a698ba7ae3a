// What the post passes hand to their shaders as push constants, and what they keep between their own dispatches.
// Addresses are device addresses of the planes in planes.h; sizes are pixels. "Rows of X": a row table, one device
// address of a row's first texel per row.
#ifndef TANDEM_SHADERS_SHARED_POST_H
#define TANDEM_SHADERS_SHARED_POST_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// Half of the longest motion in a square tile of pixels (or in the 3x3 tiles around one), in pixels, length at most
/// the tile's side.
struct MotionTile {
  vec2 halfMotion;
};

/// post/motion_tiles: one work group a tile.
struct MotionTilesParams {
  uint64_t motion;      // rows of MotionTexel
  uint64_t tiles;       // MotionTile[], written
  uvec2 size;
  uvec2 tileCount;
  uint tileSize;
};

/// post/motion_neighbours: one invocation a tile.
struct MotionNeighboursParams {
  uint64_t tiles;        // MotionTile[]
  uint64_t neighbours;   // MotionTile[], written
  uvec2 tileCount;
};

/// post/motion_blur: one invocation a pixel.
struct MotionBlurParams {
  uint64_t radiance;     // rows of RadianceTexel
  uint64_t motion;       // rows of MotionTexel
  uint64_t depth;        // rows of DepthTexel
  uint64_t neighbours;   // MotionTile[]
  uint64_t blurred;      // RadianceTexel[], written
  uvec2 size;
  uint tilesX;
  uint tileSize;
  uint samples;
  uint frame;            // moves the sampling pattern
};

#ifdef __cplusplus
inline constexpr uint32_t kExposureBins = 256;
inline constexpr uint32_t kExposureFractionSteps = 64;
#else
const uint kExposureBins = 256u;
const uint kExposureFractionSteps = 64u;
#endif

/// Histogram of log2 luminance; bin b holds [kExposureMinLog2 + b / 8, + (b + 1) / 8) (shaders/post/exposure.glsl).
/// `fraction` sums, per bin, where in the bin its pixels lie, in 64ths of the bin: the mean stays exact though the bins
/// are coarse. 64 * pixels must fit 32 bits: below 2^26 pixels.
struct ExposureHistogram {
  uint count[kExposureBins];
  uint fraction[kExposureBins];
};

/// post/exposure_histogram and post/exposure_resolve.
struct ExposureParams {
  uint64_t radiance;     // rows of RadianceTexel
  uint64_t histogram;    // ExposureHistogram, zero before the first dispatch
  uint64_t state;        // ExposureState, written by the second
  uvec2 size;
};

/// post/tonemap: one invocation a pixel.
struct TonemapParams {
  uint64_t radiance;     // rows of RadianceTexel
  uint64_t exposure;     // ExposureState
  uint64_t ldr;          // LdrTexel[], written
  uvec2 size;
  uint tone;             // post::Tone
  uint frame;            // moves the dither
};

TANDEM_SHARED_END
#endif
