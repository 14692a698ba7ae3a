// The pixel planes that flow through the frame: linear buffers, width * height texels, row 0 at the top, no padding between rows.
// What post reads is found through a row table: one 64-bit device address per row, since rows may lie in several places.
// Whatever may cross a link is packed here, by the pass that writes it, in every mode: so the picture is the same on one GPU and on two.
// 16 bytes a pixel cross from tracing to post: radiance 8, motion 4, depth 4.
#ifndef TANDEM_SHADERS_SHARED_PLANES_H
#define TANDEM_SHADERS_SHARED_PLANES_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// Linear Rec.709 radiance, unexposed, mean over the samples; half floats R, G | B, coverage (1 = every sample hit something, 0 = sky).
struct RadianceTexel {
  uvec2 rgba;   // packHalf2x16(r, g), packHalf2x16(b, coverage)
};

/// Motion of the first hit over the shutter interval, in pixels (x right, y down): place at shutter close minus place at shutter open;
/// half floats. Camera and object motion together; of the sky, the camera's alone.
struct MotionTexel {
  uint xy;      // packHalf2x16
};

/// Distance of the first hit along the view direction (view-space depth), metres; 1e30 where nothing was hit. Of the first sample.
struct DepthTexel {
  float metres;
};

/// First-hit diffuse + specular reflectance colour, mean over the samples, unorm8 R, G, B; A = coverage.
struct AlbedoTexel {
  uint rgba;    // packUnorm4x8
};

/// First-hit shading normal, world space, octahedral snorm16 x2 (Cigolle et al. 2014, "A Survey of Efficient Representations for
/// Independent Unit Vectors"); 0 where nothing was hit (+Z itself, which packs to 0, is stored as 1). Of the first
/// sample.
struct NormalTexel {
  uint oct;     // packSnorm2x16
};

/// The finished picture: sRGB-encoded (or linear for `--tonemap none`, still encoded) unorm8 R, G, B, 255.
struct LdrTexel {
  uint rgba;    // packUnorm4x8
};

/// Exposure that tone mapping uses: exposed = radiance * scale, scale = 2^ev.
struct ExposureState {
  float scale;
  float ev;
};

TANDEM_SHARED_END
#endif
