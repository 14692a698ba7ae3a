// What the benchmark measures by: rays that are counted, copies that are timed, a pass that is made slower.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "frame/renderer.h"
#include "gpu/copy_speed.h"
#include "scene/builtin_shapes.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

constexpr Extent kSize{45, 31};
constexpr uint32_t kSamples = 3;
constexpr uint64_t kPaths = 45 * 31 * kSamples;

/// A floor larger than the picture, seen from straight above. With a sun every hit asks for light once, and the next
/// segment leaves the scene.
std::shared_ptr<const scene::Scene> floorScene(bool sun) {
  scene::Scene scene;
  scene::addMaterial(scene, "grey", vec3(0.5f), 0.5f);
  scene::addShape(scene, "floor",
                  scene::makeQuad(vec3(-9.0f, 0.0f, 9.0f), vec3(18.0f, 0.0f, 0.0f), vec3(0.0f, 0.0f, -18.0f), 0));
  if (sun) scene::addSun(scene, vec3(0.3f, -1.0f, 0.0f), vec3(1.0f), 10.0f);
  scene::addCamera(scene, "above", vec3(0.0f, 5.0f, 1e-4f), vec3(0.0f), 40.0f);
  scene.nodes.back().rotation = glm::angleAxis(-0.5f * std::numbers::pi_v<float>, vec3(1.0f, 0.0f, 0.0f));
  scene.nodes.back().translation = vec3(0.0f, 5.0f, 0.0f);
  scene.lenses.back().orthographic = true;
  scene.lenses.back().ymag = 1.0f;
  scene.lenses.back().xmag = 1.0f;
  return std::make_shared<const scene::Scene>(std::move(scene));
}

class Measuring : public GpuFixture {
 protected:
  std::unique_ptr<frame::Renderer> rendererOf(const std::shared_ptr<const scene::Scene>& scene,
                                              const frame::MachineSettings& machine) {
    frame::PictureSettings picture;
    picture.size = kSize;
    picture.samples = kSamples;
    picture.bounces = 0;
    auto renderer = frame::Renderer::make(instance(), scene, picture, machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    return std::move(*renderer);
  }
  static frame::FrameResult render(frame::Renderer& renderer, bool countRays) {
    frame::FrameRequest request;
    request.frame = 1;
    request.readback = false;
    request.countRays = countRays;
    renderer.start(request);
    return renderer.finish();
  }
};

frame::MachineSettings machineOf(frame::Mode mode) {
  frame::MachineSettings machine;
  machine.mode = mode;
  machine.simulateDual = mode != frame::Mode::Single;
  return machine;
}

TEST_F(Measuring, EveryRayCountsOnce) {
  const auto dark = rendererOf(floorScene(false), machineOf(frame::Mode::Single));
  EXPECT_EQ(render(*dark, true).rays, kPaths) << "one camera ray a path, and no light to ask for";
  const auto lit = rendererOf(floorScene(true), machineOf(frame::Mode::Single));
  EXPECT_EQ(render(*lit, true).rays, 2 * kPaths) << "and one shadow ray at each hit";
  EXPECT_EQ(render(*lit, true).rays, 2 * kPaths) << "counting begins anew";
  EXPECT_EQ(render(*lit, false).rays, std::nullopt);
}

TEST_F(Measuring, NodesThatShareAFrameCountTogether) {
  for (const frame::Mode mode : {frame::Mode::Pipelined, frame::Mode::Sfr, frame::Mode::Afr}) {
    const auto renderer = rendererOf(floorScene(true), machineOf(mode));
    const frame::FrameResult frame = render(*renderer, true);
    EXPECT_EQ(frame.rays, 2 * kPaths) << frame::modeName(mode);
    if (mode == frame::Mode::Sfr) {
      ASSERT_EQ(frame.rowsOfNode.size(), 2u);
      EXPECT_GT(frame.rowsOfNode[0], 0u);
      EXPECT_GT(frame.rowsOfNode[1], 0u);
    }
  }
}

TEST_F(Measuring, TrafficIsThePlanesOfAPass) {
  const auto renderer = rendererOf(floorScene(true), machineOf(frame::Mode::Single));
  const auto report = renderer->report();
  const auto trace = std::ranges::find(report.traffic, "path_trace", &frame::PassTraffic::name);
  ASSERT_NE(trace, report.traffic.end());
  const uint64_t perPixel = sizeof(shared::RadianceTexel) + sizeof(shared::AlbedoTexel) + sizeof(shared::NormalTexel) +
                            sizeof(shared::DepthTexel) + sizeof(shared::MotionTexel);
  EXPECT_EQ(trace->bytes, kSize.pixels() * perPixel);
  EXPECT_TRUE(trace->sceneToo);
}

TEST_F(Measuring, CopiesHaveASpeed) {
  const auto gbps = gpu::measureCopyGbps(device());
  ASSERT_TRUE(gbps.has_value());
  EXPECT_GT(*gbps, 0.01);
  EXPECT_LT(*gbps, 50'000.0) << "no memory is that fast";
}

TEST_F(Measuring, APassIsMadeSlowerAndThePictureStays) {
  constexpr double kSlower = 40.0;  // far more than this picture takes, and than what else runs here may add
  frame::MachineSettings machine = machineOf(frame::Mode::Single);
  const auto plain = rendererOf(floorScene(true), machine);
  machine.slowPass = exec::SlowPass{"tonemap", kSlower};
  const auto slow = rendererOf(floorScene(true), machine);
  const auto millisecondsOf = [](const frame::FrameResult& frame, std::string_view name) {
    const auto pass = std::ranges::find(frame.passes, name, &exec::PassReport::name);
    return pass == frame.passes.end() ? -1.0 : pass->milliseconds;
  };
  const auto pictureOf = [](frame::Renderer& renderer) {
    frame::FrameRequest request;
    request.frame = 1;
    renderer.start(request);
    const frame::FrameResult frame = renderer.finish();
    const auto bytes = std::as_bytes(frame.ldr);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_GE(millisecondsOf(render(*slow, false), "tonemap"), 0.5 * kSlower);
  EXPECT_GE(millisecondsOf(render(*plain, false), "tonemap"), 0.0) << "that is how the pass is called";
  EXPECT_EQ(pictureOf(*slow), pictureOf(*plain));
}

TEST_F(Measuring, AnUnknownPassIsRefusedByName) {
  frame::MachineSettings machine = machineOf(frame::Mode::Single);
  machine.slowPass = exec::SlowPass{"denoize", 1.0};
  const auto refused = frame::Renderer::make(instance(), floorScene(true), {.size = kSize}, machine, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.refusal().exit, ExitCode::WrongUsage);
  EXPECT_NE(refused.refusal().message.find("denoize"), std::string::npos);
  EXPECT_NE(refused.refusal().message.find("path_trace"), std::string::npos) << "names what there is";
}

}  // namespace
}  // namespace tandem::test
