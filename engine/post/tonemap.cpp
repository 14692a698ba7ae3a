#include "post/tonemap.h"

#include "gpu/commands.h"
#include "graph/recording.h"
#include "shaders/shared/post.h"

namespace tandem::post {

graph::Resource<shared::LdrTexel> addTonemap(graph::Graph& graph, const TonemapSettings& settings,
                                             graph::Resource<shared::RadianceTexel> radiance,
                                             graph::Resource<shared::ExposureState> exposure,
                                             std::shared_ptr<const PostFrame> frame) {
  const Extent size = settings.size;
  auto out = std::make_shared<graph::Resource<shared::LdrTexel>>();
  return graph.addPass(
      "tonemap",
      [&](graph::PassBuilder& pass) {
        pass.readRows(radiance);
        pass.read(exposure);
        return *out = pass.create<shared::LdrTexel>({"ldr", size.width * sizeof(shared::LdrTexel), size.height});
      },
      [=](graph::Recording& recording) {
        shared::TonemapParams params{};
        params.radiance = recording.rows(radiance);
        params.exposure = recording.buffer(exposure).address();
        params.ldr = recording.buffer(*out).address();
        params.size = {size.width, size.height};
        params.tone = static_cast<uint32_t>(settings.tone);
        params.frame = frame->frame;
        recording.commands().dispatch("post/tonemap", params,
                                      {gpu::groupsFor(size.width, 8), gpu::groupsFor(size.height, 8)});
      });
}

}  // namespace tandem::post
