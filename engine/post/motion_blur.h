// Motion blur as a filter over the finished radiance: McGuire, Hennessy, Bukowski, Osman 2012, "A Reconstruction Filter
// for Plausible Motion Blur" (tile maximum, neighbour maximum, gather with soft depth comparison).
// shaders/post/motion_blur.comp says where and why the weights differ from the paper's.
//
// In and out: linear radiance, half floats (shaders/shared/planes.h). The motion plane holds the displacement in pixels
// over the whole shutter interval, and the picture is taken to be that of its middle: blur spans -motion / 2 to +motion
// / 2. A pixel with no motion of half a pixel or more in its neighbourhood is copied bit for bit. The noise depends on
// pixel and frame number alone.
#pragma once

#include <algorithm>
#include <memory>

#include "base/math.h"
#include "graph/graph.h"
#include "post/frame_values.h"
#include "shaders/shared/planes.h"

namespace tandem::post {

struct MotionBlurSettings {
  Extent size;
  bool enabled = true;
  /// Longest blur to either side, in pixels, and the side of a tile. Longer motion is cut to it.
  uint32_t maxRadius = std::max(8u, (size.height + 26) / 27);
  uint32_t samples = 15;  // per pixel, along the longest motion nearby
};

/// Adds the passes `motion_tiles`, `motion_neighbours`, `motion_blur` and returns the blurred radiance. Not enabled:
/// adds none and returns `radiance`.
graph::Resource<shared::RadianceTexel> addMotionBlur(graph::Graph& graph, const MotionBlurSettings& settings,
                                                     graph::Resource<shared::RadianceTexel> radiance,
                                                     graph::Resource<shared::MotionTexel> motion,
                                                     graph::Resource<shared::DepthTexel> depth,
                                                     std::shared_ptr<const PostFrame> frame);

}  // namespace tandem::post
