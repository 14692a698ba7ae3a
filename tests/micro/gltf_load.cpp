// Reading the shipped glTF scene, file to checked Scene. The file is in the page cache after the first time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>

#include "scene/gltf.h"

namespace tandem {
namespace {

const char* const kCourtyard = TANDEM_SOURCE_DIR "/assets/scenes/courtyard.glb";

void checkCourtyard(const scene::LoadedScene& loaded) {
  const scene::Scene& found = loaded.scene;
  TANDEM_CHECK(loaded.warnings.empty(), "{}", loaded.warnings.front());
  TANDEM_CHECK(!found.lenses.empty() && !found.lights.empty() && !found.animations.empty(), "a part is missing");
  TANDEM_CHECK(!found.meshes.empty() && !found.images.empty(), "a part is missing");
  for (const scene::Mesh& mesh : found.meshes) {
    TANDEM_CHECK(!mesh.indices.empty() && mesh.normals.size() == mesh.positions.size(), "{}", mesh.name);
    TANDEM_CHECK(std::ranges::max(mesh.indices) < mesh.positions.size(), "{}", mesh.name);
  }
}

void gltfLoad(benchmark::State& state) {
  checkCourtyard(*scene::loadGltf(kCourtyard));
  for ([[maybe_unused]] auto round : state) {
    Expected<scene::LoadedScene> loaded = scene::loadGltf(kCourtyard);
    benchmark::DoNotOptimize(loaded);
  }
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(kCourtyard));
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(gltfLoad)->Name("gltf_load/courtyard")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tandem
