// Exposure: how many stops lie between radiance and picture. Automatic exposure looks at the frame itself and at
// nothing before it, so that every frame of a sequence can be made alone.
#pragma once

#include "base/math.h"
#include "graph/graph.h"
#include "shaders/shared/planes.h"

namespace tandem::post {

/// Most pixels that the automatic exposure can count.
inline constexpr uint64_t kMostPixels = (uint64_t{1} << 26) - 1;

struct ExposureSettings {
  Extent size;
  bool automatic = true;
  float ev = 0.0f;  // stops; exposed = radiance * 2^ev. Only where not automatic
};

/// Adds the pass `exposure`. Automatic: the log-average luminance between the 40th and the 95th percentile of the
/// frame's pixels that are not black becomes 0.18 (Reinhard et al. 2002, "Photographic Tone Reproduction for Digital
/// Images", Eq. 1 and 2), within 0.1 %; an all black frame gives EV 0. Luminance outside 2^-16 to 2^16 counts as if at
/// these ends. Frames below 2^26 pixels.
graph::Resource<shared::ExposureState> addExposure(graph::Graph& graph, const ExposureSettings& settings,
                                                   graph::Resource<shared::RadianceTexel> radiance);

}  // namespace tandem::post
