// Tone mapping: exposed radiance to 8-bit sRGB (IEC 61966-2-1). The curves and their sources are in
// shaders/lib/colour.glsl.
#pragma once

#include <memory>

#include "base/math.h"
#include "graph/graph.h"
#include "post/frame_values.h"
#include "shaders/shared/planes.h"

namespace tandem::post {

/// The numbers are read by shaders/post/tonemap.comp.
enum class Tone : uint32_t {
  Aces = 0,     // ACES RRT and sRGB ODT, Stephen Hill's fit
  Neutral = 1,  // Khronos PBR Neutral
  None = 2,     // clamp to [0, 1]
};

struct TonemapSettings {
  Extent size;
  Tone tone = Tone::Aces;
};

/// Adds the pass `tonemap`: exposure, curve, sRGB encoding, then dither by triangular noise of +-1 step of 8 bits, from
/// pixel and frame number alone. The mean over many equal pixels is the value itself; black stays 0 and white stays
/// 255.
graph::Resource<shared::LdrTexel> addTonemap(graph::Graph& graph, const TonemapSettings& settings,
                                             graph::Resource<shared::RadianceTexel> radiance,
                                             graph::Resource<shared::ExposureState> exposure,
                                             std::shared_ptr<const PostFrame> frame);

}  // namespace tandem::post
