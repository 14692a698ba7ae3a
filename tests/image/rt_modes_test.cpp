// Frames by the driver's ray-tracing pipelines: every mode makes the pixels of `single`, and the report says who
// traced. Small: the software device traces so about ten times slower than by our own kernels.
#include <cstring>
#include <map>
#include <set>

#include "frame/renderer.h"
#include "scene/builtin.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

using frame::Mode;

constexpr uint32_t kFrames = 3;

struct Rendering {
  std::vector<std::vector<uint8_t>> pixels;  // per frame
  frame::RunReport report;
};

class RtModesTest : public GpuFixture {
 protected:
  static std::shared_ptr<const scene::Scene> builtin(const char* name) {
    auto made = scene::makeBuiltin(name);
    if (!made) throw std::runtime_error(made.refusal().message);
    return std::make_shared<const scene::Scene>(std::move(*made));
  }

  Rendering render(const char* name, Mode mode, frame::Tracer tracer) {
    frame::PictureSettings picture;
    picture.size = {61, 34};
    picture.samples = 1;
    picture.bounces = 2;
    frame::MachineSettings machine;
    machine.mode = mode;
    machine.tracer = tracer;
    machine.simulateDual = mode != Mode::Single;
    auto renderer = frame::Renderer::make(instance(), builtin(name), picture, machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    Rendering run;
    const auto finish = [&] {
      const frame::FrameResult done = (*renderer)->finish();
      const auto bytes = std::as_bytes(done.linear);
      auto& copy = run.pixels.emplace_back(bytes.size());
      std::memcpy(copy.data(), bytes.data(), bytes.size());
    };
    for (uint32_t frame = 1; frame <= kFrames; ++frame) {
      const double centre = frame / 24.0, half = 0.25 / 24.0;
      (*renderer)->start({frame, centre, centre - half, centre + half});
      if (frame >= (*renderer)->framesInFlight()) finish();
    }
    while (run.pixels.size() < kFrames) finish();
    run.report = (*renderer)->report();
    return run;
  }
};

class EveryRtMode : public RtModesTest, public testing::WithParamInterface<Mode> {};

/// Moving instances, and meshes that deform: structures are built anew and updated on each GPU.
TEST_P(EveryRtMode, MakesThePixelsOfSingle) {
  for (const char* scene : {"spinners", "skinned"}) {
    const Rendering one = render(scene, Mode::Single, frame::Tracer::Rt);
    const Rendering two = render(scene, GetParam(), frame::Tracer::Rt);
    ASSERT_EQ(two.report.nodes.size(), 2u);
    EXPECT_EQ(two.report.mode, frame::modeName(GetParam()));
    EXPECT_EQ(one.report.nodes[0].tracer, "rt");
    EXPECT_EQ(two.report.nodes[0].tracer, "rt");
    EXPECT_EQ(two.report.nodes[1].tracer, GetParam() == Mode::Pipelined ? "none" : "rt");
    for (uint32_t frame = 0; frame < kFrames; ++frame)
      EXPECT_EQ(one.pixels[frame], two.pixels[frame]) << scene << ", frame " << frame;
    EXPECT_NE(one.pixels[0], one.pixels[1]) << scene << " does not move: equality proves little";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryRtMode, testing::Values(Mode::Pipelined, Mode::Sfr, Mode::Afr),
                         [](const auto& mode) { return std::string(frame::modeName(mode.param)); });

TEST_F(RtModesTest, AutoTakesComputeHere) {
  const Rendering run = render("cornell", Mode::Single, frame::Tracer::Auto);
  EXPECT_EQ(run.report.nodes[0].tracer, "compute");
}

}  // namespace
}  // namespace tandem::test
