#include "post/motion_blur.h"

#include "base/check.h"
#include "gpu/commands.h"
#include "graph/recording.h"
#include "shaders/shared/post.h"

namespace tandem::post {

namespace {

using graph::PassBuilder;
using graph::Recording;
using graph::Resource;
using shared::MotionTile;

uvec2 tilesOf(const MotionBlurSettings& settings) {
  return {gpu::groupsFor(settings.size.width, settings.maxRadius),
          gpu::groupsFor(settings.size.height, settings.maxRadius)};
}

Resource<MotionTile> addTiles(graph::Graph& graph, const MotionBlurSettings& settings,
                              Resource<shared::MotionTexel> motion) {
  const uvec2 tiles = tilesOf(settings);
  // Shared, because the record function is made before the declaration has run and filled the handle in.
  auto out = std::make_shared<Resource<MotionTile>>();
  return graph.addPass(
      "motion_tiles",
      [&](PassBuilder& pass) {
        pass.readRows(motion);
        return *out = pass.create<MotionTile>({"motion_tiles", tiles.x * sizeof(MotionTile), tiles.y});
      },
      [=](Recording& recording) {
        shared::MotionTilesParams params{};
        params.motion = recording.rows(motion);
        params.tiles = recording.buffer(*out).address();
        params.size = {settings.size.width, settings.size.height};
        params.tileCount = tiles;
        params.tileSize = settings.maxRadius;
        recording.commands().dispatch("post/motion_tiles", params, {tiles.x, tiles.y});
      });
}

Resource<MotionTile> addNeighbours(graph::Graph& graph, const MotionBlurSettings& settings, Resource<MotionTile> tile) {
  const uvec2 tiles = tilesOf(settings);
  auto out = std::make_shared<Resource<MotionTile>>();
  return graph.addPass(
      "motion_neighbours",
      [&](PassBuilder& pass) {
        pass.read(tile);
        return *out = pass.create<MotionTile>({"motion_neighbours", tiles.x * sizeof(MotionTile), tiles.y});
      },
      [=](Recording& recording) {
        shared::MotionNeighboursParams params{};
        params.tiles = recording.buffer(tile).address();
        params.neighbours = recording.buffer(*out).address();
        params.tileCount = tiles;
        recording.commands().dispatch("post/motion_neighbours", params,
                                      {gpu::groupsFor(tiles.x, 8), gpu::groupsFor(tiles.y, 8)});
      });
}

}  // namespace

Resource<shared::RadianceTexel> addMotionBlur(graph::Graph& graph, const MotionBlurSettings& settings,
                                              Resource<shared::RadianceTexel> radiance,
                                              Resource<shared::MotionTexel> motion, Resource<shared::DepthTexel> depth,
                                              std::shared_ptr<const PostFrame> frame) {
  if (!settings.enabled) return radiance;
  const Extent size = settings.size;
  TANDEM_CHECK(size.pixels() > 0 && settings.maxRadius > 0 && settings.samples > 0,
               "motion blur of {}x{}, radius {}, {} samples", size.width, size.height, settings.maxRadius,
               settings.samples);
  const Resource<MotionTile> neighbours = addNeighbours(graph, settings, addTiles(graph, settings, motion));
  auto out = std::make_shared<Resource<shared::RadianceTexel>>();
  return graph.addPass(
      "motion_blur",
      [&](PassBuilder& pass) {
        pass.readRows(radiance);
        pass.readRows(motion);
        pass.readRows(depth);
        pass.read(neighbours);
        return *out = pass.create<shared::RadianceTexel>(
                   {"radiance_blurred", size.width * sizeof(shared::RadianceTexel), size.height});
      },
      [=](Recording& recording) {
        shared::MotionBlurParams params{};
        params.radiance = recording.rows(radiance);
        params.motion = recording.rows(motion);
        params.depth = recording.rows(depth);
        params.neighbours = recording.buffer(neighbours).address();
        params.blurred = recording.buffer(*out).address();
        params.size = {size.width, size.height};
        params.tilesX = tilesOf(settings).x;
        params.tileSize = settings.maxRadius;
        params.samples = settings.samples;
        params.frame = frame->frame;
        recording.commands().dispatch("post/motion_blur", params,
                                      {gpu::groupsFor(size.width, 8), gpu::groupsFor(size.height, 8)});
      });
}

}  // namespace tandem::post
