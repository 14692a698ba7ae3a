#include "frame/frame.h"

#include <algorithm>

#include "post/exposure.h"
#include "post/motion_blur.h"
#include "post/tonemap.h"

namespace tandem::frame {

void describeFrame(graph::Graph& graph, const PictureSettings& picture, const FrameSources& sources,
                   FrameReadbacks& out) {
  const Extent size = picture.size;

  // Trace: what light arrives at every pixel, and what was hit there.
  const trace::TracedPlanes traced =
      trace::addPathTrace(graph, {size, picture.samples, picture.bounces, picture.seed}, sources.trace);

  // Post: from radiance to a picture for the eye.
  const auto blurred = post::addMotionBlur(graph, {.size = size, .enabled = picture.motionBlur}, traced.radiance,
                                           traced.motion, traced.depth, sources.post);
  const auto exposure = post::addExposure(graph, {size, !picture.ev, picture.ev.value_or(0.0f)}, blurred);
  const auto ldr = post::addTonemap(graph, {size, picture.tone}, blurred, exposure, sources.post);

  // Output: scene-linear for compositing, tone-mapped for looking at.
  out.linear.addTo(graph, "linear_readback", blurred);
  out.ldr.addTo(graph, "ldr_readback", ldr);
  out.exposure.addTo(graph, "exposure_readback", exposure);
  if (wants(picture, Aov::Albedo)) out.albedo.addTo(graph, "albedo_readback", traced.albedo);
  if (wants(picture, Aov::Normal)) out.normal.addTo(graph, "normal_readback", traced.normal);
  if (wants(picture, Aov::Depth)) out.depth.addTo(graph, "depth_readback", traced.depth);
  if (wants(picture, Aov::Motion)) out.motion.addTo(graph, "motion_readback", traced.motion);
}

bool wants(const PictureSettings& picture, Aov aov) {
  return std::find(picture.aovs.begin(), picture.aovs.end(), aov) != picture.aovs.end();
}

void FrameReadbacks::setSlot(uint32_t slot, bool copies) {
  for (output::Readback* readback : {&linear, &ldr, &exposure, &albedo, &normal, &depth, &motion})
    readback->setSlot(slot, copies);
}

}  // namespace tandem::frame
