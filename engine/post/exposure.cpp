#include "post/exposure.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "base/check.h"
#include "gpu/commands.h"
#include "graph/recording.h"
#include "shaders/shared/post.h"

namespace tandem::post {

namespace {

using graph::PassBuilder;
using graph::Recording;
using graph::Resource;
using shared::ExposureHistogram;
using shared::ExposureState;

Resource<ExposureState> createState(PassBuilder& pass) {
  return pass.create<ExposureState>({"exposure", sizeof(ExposureState), 1});
}

Resource<ExposureState> addFixed(graph::Graph& graph, float ev) {
  auto out = std::make_shared<Resource<ExposureState>>();
  return graph.addPass(
      "exposure", [&](PassBuilder& pass) { return *out = createState(pass); },
      [=](Recording& recording) {
        const ExposureState state{std::exp2(ev), ev};
        recording.commands().update(recording.buffer(*out), 0, std::as_bytes(std::span(&state, 1)));
      });
}

Resource<ExposureState> addAutomatic(graph::Graph& graph, Extent size, Resource<shared::RadianceTexel> radiance) {
  struct Handles {
    Resource<ExposureHistogram> histogram;
    Resource<ExposureState> state;
  };
  auto handles = std::make_shared<Handles>();
  return graph.addPass(
      "exposure",
      [&](PassBuilder& pass) {
        pass.readRows(radiance);
        handles->histogram = pass.create<ExposureHistogram>({"exposure_histogram", sizeof(ExposureHistogram), 1});
        return handles->state = createState(pass);
      },
      [=](Recording& recording) {
        gpu::Commands& commands = recording.commands();
        const gpu::Buffer& histogram = recording.buffer(handles->histogram);
        shared::ExposureParams params{};
        params.radiance = recording.rows(radiance);
        params.histogram = histogram.address();
        params.state = recording.buffer(handles->state).address();
        params.size = {size.width, size.height};
        // Few groups with many pixels each: the shared histograms are merged as many times as there are groups.
        const uint32_t groups = std::min(gpu::groupsFor(static_cast<uint32_t>(size.pixels()), 256), 1024u);
        commands.fill(histogram, 0);
        commands.barrier();
        commands.dispatch("post/exposure_histogram", params, {groups});
        commands.barrier();
        commands.dispatch("post/exposure_resolve", params, {1});
      });
}

}  // namespace

Resource<ExposureState> addExposure(graph::Graph& graph, const ExposureSettings& settings,
                                    Resource<shared::RadianceTexel> radiance) {
  if (!settings.automatic) return addFixed(graph, settings.ev);
  TANDEM_CHECK(settings.size.pixels() > 0 && settings.size.pixels() <= kMostPixels,
               "automatic exposure of {}x{} pixels", settings.size.width, settings.size.height);
  return addAutomatic(graph, settings.size, radiance);
}

}  // namespace tandem::post
