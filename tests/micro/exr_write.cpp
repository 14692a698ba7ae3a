// A 1080p picture to an EXR file: packing, compression, and the write into the page cache. Nothing is flushed, so that
// the disk is not measured.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfInputFile.h>
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <glm/gtc/packing.hpp>
#include <random>

#include "output/image_writer.h"

namespace tandem {
namespace {

constexpr Extent kSize{1920, 1080};

/// As hard to compress as a picture of few samples: smooth colours with noise of a tenth of them.
std::vector<shared::RadianceTexel> noisyPicture() {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> noise(0.9f, 1.1f);
  std::vector<shared::RadianceTexel> texels;
  for (uint32_t y = 0; y < kSize.height; ++y) {
    for (uint32_t x = 0; x < kSize.width; ++x) {
      const float red = (1.5f + std::sin(0.01f * static_cast<float>(x))) * noise(random);
      const float green = (1.5f + std::sin(0.01f * static_cast<float>(y))) * noise(random);
      texels.push_back({{glm::packHalf2x16({red, green}), glm::packHalf2x16({0.5f * noise(random), 1.0f})}});
    }
  }
  return texels;
}

/// The file's red and blue are the picture's, bit for bit.
void checkFile(const std::string& path, const std::vector<shared::RadianceTexel>& texels) {
  Imf::InputFile file(path.c_str(), 1);
  std::vector<uint16_t> red(texels.size()), blue(texels.size());
  Imf::FrameBuffer frame;
  const size_t row = sizeof(uint16_t) * kSize.width;
  frame.insert("R", Imf::Slice(Imf::HALF, reinterpret_cast<char*>(red.data()), sizeof(uint16_t), row));
  frame.insert("B", Imf::Slice(Imf::HALF, reinterpret_cast<char*>(blue.data()), sizeof(uint16_t), row));
  file.setFrameBuffer(frame);
  file.readPixels(0, static_cast<int>(kSize.height) - 1);
  for (size_t i = 0; i < texels.size(); ++i) {
    TANDEM_CHECK(red[i] == (texels[i].rgba.x & 0xffffu) && blue[i] == (texels[i].rgba.y & 0xffffu), "pixel {}", i);
  }
}

void exrWrite(benchmark::State& state, output::Compression compression) {
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("tandem_micro_{}.exr", ::getpid());
  const std::vector<shared::RadianceTexel> texels = noisyPicture();
  output::ExrImage image;
  image.size = kSize;
  image.radiance = texels;
  image.compression = compression;
  output::FileOps ops = output::FileOps::system();
  ops.fsync = [](int) { return 0; };
  output::writeExr(path, image, output::Existing::Replace, ops);
  checkFile(path, texels);
  for ([[maybe_unused]] auto round : state) output::writeExr(path, image, output::Existing::Replace, ops);
  state.counters["fileBytes"] = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kSize.pixels()));
}
BENCHMARK_CAPTURE(exrWrite, zip, output::Compression::Zip)
    ->Name("exr_write/1080p/zip")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(exrWrite, none, output::Compression::None)
    ->Name("exr_write/1080p/none")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace tandem
