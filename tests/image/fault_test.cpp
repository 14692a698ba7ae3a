// A GPU is lost, runs out of memory or hangs, at any submit and any wait, in any mode: the run goes on with the other
// one, no frame is lost, none is wrong, nothing hangs, and the report names GPU, work and frame.
#include <atomic>
#include <map>

#include "frame/renderer.h"
#include "scene/builtin.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

constexpr uint32_t kFrames = 8;

struct Fault {
  uint32_t node = 0;
  gpu::SeamPoint point = gpu::SeamPoint::Submit;
  gpu::SeamReply reply = gpu::SeamReply::FailLost;
  int which = 0;  // of the node's events of that kind, counted from the first frame's start
};

using Frames = std::map<uint32_t, std::vector<uint32_t>>;

class FaultTest : public GpuFixture {
 protected:
  static std::shared_ptr<const scene::Scene> spinners() {
    return std::make_shared<const scene::Scene>(std::move(*scene::makeBuiltin("spinners")));
  }

  /// Renders all frames; `armed` is set when the first frame starts, so that faults hit frames and not the loading.
  Frames render(const frame::MachineSettings& machine, std::atomic<bool>& armed) {
    frame::PictureSettings picture;
    picture.size = {40, 24};
    picture.samples = 1;
    picture.bounces = 1;
    auto renderer = frame::Renderer::make(instance(), spinners(), picture, machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    armed = true;
    Frames frames;
    uint32_t started = 0;
    while (frames.size() < kFrames) {
      while (started < kFrames && started - frames.size() < (*renderer)->framesInFlight()) {
        const double centre = started / 24.0;
        (*renderer)->start({started++, centre, centre - 0.01, centre + 0.01});
      }
      const frame::FrameResult done = (*renderer)->finish();
      std::vector<uint32_t>& words = frames[done.request.frame];
      for (const auto& texel : done.linear) words.insert(words.end(), {texel.rgba.x, texel.rgba.y});
      for (const auto& texel : done.ldr) words.push_back(texel.rgba);
    }
    armed = false;
    report_ = (*renderer)->report();
    return frames;
  }

  frame::RunReport report_;
};

frame::MachineSettings simulated(frame::Mode mode) {
  frame::MachineSettings machine;
  machine.mode = mode;
  machine.simulateDual = mode != frame::Mode::Single;
  return machine;
}

class EveryMode : public FaultTest, public testing::WithParamInterface<frame::Mode> {};

TEST_P(EveryMode, SurvivesTheLossOfEitherGpuAtAnySubmitAndWait) {
  std::atomic<bool> armed = false;
  const Frames right = render(simulated(frame::Mode::Single), armed);
  uint32_t injected = 0;
  for (const uint32_t node : {0u, 1u}) {
    for (const gpu::SeamPoint point : {gpu::SeamPoint::Submit, gpu::SeamPoint::HostWait, gpu::SeamPoint::BridgeWait}) {
      for (int which = 0; which < 10; ++which) {
        const auto reply = which % 3 == 0   ? gpu::SeamReply::FailLost
                           : which % 3 == 1 ? gpu::SeamReply::FailMemory
                                            : gpu::SeamReply::FailTimeout;
        SCOPED_TRACE(fmt::format("node {}, point {}, number {}", node, static_cast<int>(point), which));
        frame::MachineSettings machine = simulated(GetParam());
        auto count = std::make_shared<std::atomic<int>>(0);
        auto fired = std::make_shared<std::atomic<bool>>(false);
        machine.seam = [&armed, count, fired, node, point, which, reply](const gpu::SeamEvent& event) {
          const bool here = event.device->name().starts_with(fmt::format("node {} ", node));
          if (!armed || !here || event.point != point || (*count)++ != which) return gpu::SeamReply::Proceed;
          *fired = true;
          return reply;
        };
        const Frames frames = render(machine, armed);
        EXPECT_EQ(frames, right);
        EXPECT_EQ(report_.losses.size(), *fired ? 1u : 0u);
        if (!*fired || report_.losses.empty()) continue;
        ++injected;
        EXPECT_EQ(report_.losses[0].node, node);
        EXPECT_EQ(report_.mode, "single") << "it goes on alone";
        EXPECT_NE(report_.losses[0].what.find("injected fault"), std::string::npos) << report_.losses[0].what;
        EXPECT_LT(report_.losses[0].frame, kFrames);
        ASSERT_EQ(report_.nodes.size(), 2u);
        EXPECT_EQ(report_.nodes[node].tracer, "none");
      }
    }
  }
  // In afr no bridge waits, and whichever node is sooner done takes the next frame: about half of the frames each,
  // fewer on a loaded machine. Two submits and two waits of each node are the least.
  EXPECT_GE(injected, GetParam() == frame::Mode::Afr ? 8u : 42u) << "too few of the faults were met";
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, testing::Values(frame::Mode::Pipelined, frame::Mode::Sfr, frame::Mode::Afr),
                         [](const auto& tested) { return std::string(frame::modeName(tested.param)); });

TEST_F(FaultTest, TheLossOfTheLastGpuIsAnErrorThatNamesIt) {
  std::atomic<bool> armed = false;
  frame::MachineSettings machine = simulated(frame::Mode::Single);
  machine.seam = [&armed](const gpu::SeamEvent& event) {
    return armed && event.point == gpu::SeamPoint::Submit ? gpu::SeamReply::FailLost : gpu::SeamReply::Proceed;
  };
  try {
    render(machine, armed);
    FAIL() << "the loss was swallowed";
  } catch (const gpu::DeviceLost& error) {
    EXPECT_NE(std::string(error.what()).find("node 0"), std::string::npos) << error.what();
  }
}

TEST_F(FaultTest, TheLossOfBothGpusIsAnErrorAndNoHang) {
  std::atomic<bool> armed = false;
  frame::MachineSettings machine = simulated(frame::Mode::Sfr);
  auto count = std::make_shared<std::atomic<int>>(0);
  machine.seam = [&armed, count](const gpu::SeamEvent& event) {
    return armed && event.point == gpu::SeamPoint::Submit && ++*count > 6 ? gpu::SeamReply::FailLost
                                                                          : gpu::SeamReply::Proceed;
  };
  EXPECT_THROW(render(machine, armed), gpu::DeviceError);
}

}  // namespace
}  // namespace tandem::test
