// The trees that the compute traversal walks, of terrains of 100,000, 1 and 10 million triangles, whole and by step:
// boxes and their check, Embree and the flattening, gathering. On all cores: wall time; `taskset -c 0-3` gives it four.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <utility>

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
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// From boxes to nodes and order: Embree's part and our flattening.
void treeBuild(benchmark::State& state) {
  const auto terrain = scene::makeBuiltin(fmt::format("terrain?triangles={}", state.range(0)));
  const scene::Mesh& mesh = terrain->meshes.at(0);
  RawVector<trace::TreeBox> boxes(mesh.indices.size() / 3);
  for (size_t i = 0; i < boxes.size(); i++) {
    Bounds box;
    for (size_t k = 0; k < 3; k++) box.add(mesh.positions[mesh.indices[3 * i + k]]);
    boxes[i] = {box.min, 0, box.max, static_cast<uint32_t>(i)};
  }
  for ([[maybe_unused]] auto round : state) {
    state.PauseTiming();
    RawVector<trace::TreeBox> copy = boxes;
    state.ResumeTiming();
    trace::BinaryTree tree = trace::buildBinaryTree(std::move(copy), {.leafSize = 4, .depth = trace::kMeshTreeDepth});
    benchmark::DoNotOptimize(tree);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(treeBuild)
    ->Name("bvh_build/nodes")
    ->ArgName("triangles")
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Triangles in leaf order, here in the mesh's own.
void gather(benchmark::State& state) {
  const auto terrain = scene::makeBuiltin(fmt::format("terrain?triangles={}", state.range(0)));
  const scene::Mesh& mesh = terrain->meshes.at(0);
  std::vector<uint32_t> order(mesh.indices.size() / 3);
  std::iota(order.begin(), order.end(), 0u);
  for ([[maybe_unused]] auto round : state) {
    auto triangles = trace::gatherTriangles(mesh.positions, mesh.indices, order);
    benchmark::DoNotOptimize(triangles);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(gather)
    ->Name("bvh_build/gather")
    ->ArgName("triangles")
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace tandem
