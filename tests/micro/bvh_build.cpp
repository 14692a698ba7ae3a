// The trees that the compute traversal walks, of terrains of 100,000 and 1,000,000 triangles. On all cores: wall time.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "scene/builtin.h"
#include "trace/compute_bvh.h"

namespace tandem {
namespace {

/// The tree has each of the mesh's triangles, once or more, and all of them are inside its bounds.
void checkTree(const trace::MeshTree& tree, const scene::Mesh& mesh) {
  Bounds bounds;
  for (const vec3& position : mesh.positions) bounds.add(position);
  TANDEM_CHECK(tree.bounds.min == bounds.min && tree.bounds.max == bounds.max, "the bounds are not the mesh's");
  std::vector<bool> seen(mesh.indices.size() / 3);
  for (const shared::BvhTriangle& triangle : tree.triangles) seen.at(triangle.primitive) = true;
  TANDEM_CHECK(std::ranges::find(seen, false) == seen.end(), "a triangle is missing");
}

void bvhBuild(benchmark::State& state) {
  const auto terrain = scene::makeBuiltin(fmt::format("terrain?triangles={}", state.range(0)));
  const scene::Mesh& mesh = terrain->meshes.at(0);
  checkTree(trace::buildMeshTree(mesh.positions, mesh.indices), mesh);
  for ([[maybe_unused]] auto round : state) {
    trace::MeshTree tree = trace::buildMeshTree(mesh.positions, mesh.indices);
    benchmark::DoNotOptimize(tree);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(mesh.indices.size() / 3));
}
BENCHMARK(bvhBuild)
    ->Name("bvh_build/terrain")
    ->ArgName("triangles")
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace tandem
