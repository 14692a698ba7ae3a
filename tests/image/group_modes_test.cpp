// The same pixels over a linked group of two GPUs as on one of them, in every mode, by peer copies; and the layer below
// saw nothing that a real group could not have done.
#include <atomic>
#include <cstring>

#include "frame/renderer.h"
#include "layers/group_fixture.h"
#include "scene/builtin.h"

namespace tandem::test {
namespace {

using Bytes = std::vector<uint8_t>;

struct Rendering {
  std::vector<Bytes> pictures;  // per frame: linear, then ldr
  frame::RunReport report;
};

template <class T>
void append(Bytes& bytes, std::span<const T> texels) {
  const auto more = std::as_bytes(texels);
  bytes.resize(bytes.size() + more.size());
  std::memcpy(bytes.data() + bytes.size() - more.size(), more.data(), more.size());
}

class GroupModesTest : public GroupTest, public testing::WithParamInterface<frame::Mode> {
 protected:
  static Rendering render(const frame::MachineSettings& machine) {
    auto scene = scene::makeBuiltin("spinners");
    if (!scene) throw std::runtime_error(scene.refusal().message);
    frame::PictureSettings picture;
    picture.size = {77, 50};
    picture.samples = 1;
    picture.bounces = 1;
    auto renderer = frame::Renderer::make(instance(), std::make_shared<const scene::Scene>(std::move(*scene)), picture,
                                          machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    Rendering result;
    const auto finish = [&] {
      const frame::FrameResult done = (*renderer)->finish();
      append(result.pictures.emplace_back(), done.linear);
      append(result.pictures.back(), done.ldr);
    };
    const uint32_t inFlight = (*renderer)->framesInFlight(), frames = 7;
    for (uint32_t n = 0; n < frames; ++n) {
      if (n >= inFlight) finish();
      (*renderer)->start({n + 1, n / 24.0, n / 24.0 - 0.01, n / 24.0 + 0.01});
    }
    while (result.pictures.size() < frames) finish();
    result.report = (*renderer)->report();
    return result;
  }

  static frame::MachineSettings onGroup(frame::Mode mode) {
    frame::MachineSettings machine;
    machine.gpus = "0,1";
    machine.topology = topology::TopologyKind::Group;
    machine.mode = mode;
    if (mode == frame::Mode::Sfr) machine.shares = {0.4, 0.6};
    return machine;
  }
};

TEST_P(GroupModesTest, EqualsOneGpu) {
  frame::MachineSettings alone;
  alone.gpus = "0";
  alone.mode = frame::Mode::Single;
  const Rendering one = render(alone);
  EXPECT_EQ(one.report.topology, "single");
  const Rendering group = render(onGroup(GetParam()));
  EXPECT_EQ(group.report.topology, "group");
  EXPECT_EQ(group.report.mode, frame::modeName(GetParam()));
  EXPECT_EQ(group.report.nodes.size(), 2u);
  EXPECT_EQ(group.report.links.empty(), GetParam() == frame::Mode::Afr);
  for (const auto& link : group.report.links) {
    EXPECT_EQ(link.carried.kind, "peer");
    EXPECT_GT(link.carried.bytes, 0u);
  }
  EXPECT_EQ(one.pictures, group.pictures);
  EXPECT_NE(one.pictures[0], one.pictures[1]) << "the scene does not move: equality proves little";
  const GroupLayerCounts below = seen();
  EXPECT_EQ(below.devices, 1u);
  EXPECT_GE(below.submits[0], 3u);
  EXPECT_GE(below.submits[1], 3u);
  EXPECT_EQ(below.peerCopies > 0, GetParam() != frame::Mode::Afr);
  expectClean(below);
}

// A seat that fails takes nothing with it that its neighbour on the same logical device still needs.
TEST_P(GroupModesTest, GoesOnWithoutALostSeat) {
  frame::MachineSettings alone;
  alone.gpus = "0";
  alone.mode = frame::Mode::Single;
  const Rendering one = render(alone);
  frame::MachineSettings machine = onGroup(GetParam());
  const auto submits = std::make_shared<std::atomic<int>>(0);
  machine.seam = [submits](const gpu::SeamEvent& event) {
    const bool second = event.point == gpu::SeamPoint::Submit && event.device->hooks().seatIndex() == 1;
    const bool inAFrame = second && event.name.starts_with("frame");
    return inAFrame && ++*submits == 3 ? gpu::SeamReply::FailLost : gpu::SeamReply::Proceed;
  };
  const Rendering group = render(machine);
  ASSERT_EQ(group.report.losses.size(), 1u);
  EXPECT_EQ(group.report.losses[0].node, 1u);
  EXPECT_EQ(one.pictures, group.pictures);
  expectClean(seen());
}

INSTANTIATE_TEST_SUITE_P(Modes, GroupModesTest,
                         testing::Values(frame::Mode::Pipelined, frame::Mode::Sfr, frame::Mode::Afr),
                         [](const auto& tested) { return std::string(frame::modeName(tested.param)); });

}  // namespace
}  // namespace tandem::test
