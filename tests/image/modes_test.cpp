// The same pixels, whatever the machine: `single` and `pipelined` over every link, a run and its repeat, a frame alone
// and within a range. Each comparison also proves from the run's own report that both ways really ran.
#include <algorithm>
#include <map>

#include "frame/renderer.h"
#include "scene/builtin.h"
#include "scene/environment.h"
#include "scene/gltf.h"
#include "support/gpu_fixture.h"

namespace tandem::test {
namespace {

struct Picture {
  std::vector<uint8_t> linear, ldr, depth;
  bool operator==(const Picture&) const = default;
};

template <class T>
std::vector<uint8_t> bytesOf(std::span<const T> texels) {
  const auto bytes = std::as_bytes(texels);
  std::vector<uint8_t> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

struct Rendering {
  std::map<uint32_t, Picture> frames;
  frame::RunReport report;
};

frame::FrameRequest requestFor(uint32_t number) {
  const double centre = (number - 1) / 24.0, half = 0.25 / 24.0;
  return {number, centre, centre - half, centre + half};
}

class ModesTest : public GpuFixture {
 protected:
  static std::shared_ptr<const scene::Scene> builtin(const char* name) {
    auto made = scene::makeBuiltin(name);
    if (!made) throw std::runtime_error(made.refusal().message);
    return std::make_shared<const scene::Scene>(std::move(*made));
  }

  static std::shared_ptr<const scene::Scene> courtyard() {
    auto loaded = scene::loadGltf(TANDEM_SOURCE_DIR "/assets/scenes/courtyard.glb");
    if (!loaded) throw std::runtime_error(loaded.refusal().message);
    loaded->scene.environment = scene::defaultSky();
    return std::make_shared<const scene::Scene>(std::move(loaded->scene));
  }

  Rendering render(const std::shared_ptr<const scene::Scene>& scene, frame::MachineSettings machine, uint32_t first,
                   uint32_t last) {
    frame::PictureSettings picture;
    picture.size = {117, 66};  // odd sizes find what whole tiles hide
    picture.samples = 2;
    picture.bounces = 2;
    picture.aovs = {frame::Aov::Depth};
    auto renderer = frame::Renderer::make(instance(), scene, picture, machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    Rendering result;
    auto finish = [&] {
      const frame::FrameResult done = (*renderer)->finish();
      result.frames[done.request.frame] = {bytesOf(done.linear), bytesOf(done.ldr), bytesOf(done.depth)};
    };
    const uint32_t inFlight = (*renderer)->framesInFlight();
    for (uint32_t number = first; number <= last; ++number) {
      if (number - first >= inFlight) finish();
      (*renderer)->start(requestFor(number));
    }
    for (uint32_t left = std::min(inFlight, last - first + 1); left > 0; --left) finish();
    result.report = (*renderer)->report();
    return result;
  }

  static uint32_t nodeOf(const Rendering& run, const std::string& pass) {
    for (const auto& [name, node] : run.report.nodeOfPass) {
      if (name == pass) return node;
    }
    throw std::runtime_error("no pass " + pass + " ran");
  }
};

frame::MachineSettings single() {
  frame::MachineSettings machine;
  machine.mode = frame::Mode::Single;
  return machine;
}

frame::MachineSettings dual(topology::LinkKind link) {
  frame::MachineSettings machine;
  machine.mode = frame::Mode::Pipelined;
  machine.simulateDual = true;
  machine.link = link;
  return machine;
}

class LinkedModesTest : public ModesTest, public testing::WithParamInterface<topology::LinkKind> {};

TEST_P(LinkedModesTest, PipelinedEqualsSingle) {
  const auto scene = builtin("spinners");
  const Rendering one = render(scene, single(), 1, 5);
  const Rendering two = render(scene, dual(GetParam()), 1, 5);
  EXPECT_EQ(one.report.mode, "single");
  EXPECT_EQ(two.report.mode, "pipelined");
  ASSERT_EQ(one.report.nodes.size(), 1u);
  ASSERT_EQ(two.report.nodes.size(), 2u);
  EXPECT_EQ(nodeOf(one, "tonemap"), 0u);
  EXPECT_EQ(nodeOf(two, "path_trace"), 0u);
  EXPECT_EQ(nodeOf(two, "motion_blur"), 1u);
  EXPECT_EQ(nodeOf(two, "tonemap"), 1u);
  EXPECT_EQ(two.report.nodes[0].tracer, "compute");
  EXPECT_EQ(two.report.nodes[0].rows, 66u);
  EXPECT_EQ(two.report.nodes[1].tracer, "none");
  ASSERT_EQ(two.report.links.size(), 1u);
  EXPECT_EQ(two.report.links[0].carried.kind, topology::linkKindName(GetParam()));
  EXPECT_EQ(two.report.links[0].plannedBytesPerFrame, 117u * 66u * 16u);  // radiance 8, motion 4, depth 4
  EXPECT_EQ(two.report.links[0].carried.bytes, 5u * 117u * 66u * 16u);
  for (uint32_t number = 1; number <= 5; ++number)
    EXPECT_EQ(one.frames.at(number), two.frames.at(number)) << "frame " << number;
  EXPECT_NE(one.frames.at(1), one.frames.at(2)) << "the scene does not move: equality proves little";
}

INSTANTIATE_TEST_SUITE_P(Links, LinkedModesTest,
                         testing::Values(topology::LinkKind::HostImport, topology::LinkKind::HostCopy),
                         [](const auto& tested) {
                           return tested.param == topology::LinkKind::HostImport ? "HostImport" : "HostCopy";
                         });

TEST_F(ModesTest, ARunEqualsItsRepeat) {
  const auto scene = courtyard();
  const Rendering once = render(scene, dual(topology::LinkKind::Auto), 1, 2);
  const Rendering again = render(scene, dual(topology::LinkKind::Auto), 1, 2);
  EXPECT_EQ(once.frames, again.frames);
  EXPECT_EQ(again.report.mode, "pipelined");
}

TEST_F(ModesTest, FramesAloneEqualFramesWithinARange) {
  const auto scene = courtyard();
  const Rendering whole = render(scene, dual(topology::LinkKind::Auto), 1, 4);
  const Rendering part = render(scene, single(), 3, 4);
  EXPECT_EQ(whole.frames.at(3), part.frames.at(3));
  EXPECT_EQ(whole.frames.at(4), part.frames.at(4));
  EXPECT_NE(whole.frames.at(3), whole.frames.at(4));
}

// A dropped wait between the nodes must change the picture or be reported; or else the equalities above prove nothing.
TEST_F(ModesTest, SabotageDroppedBridgeWaitIsNoticed) {
  const auto scene = builtin("spinners");
  frame::MachineSettings sabotaged = dual(topology::LinkKind::HostCopy);
  sabotaged.seam = [](const gpu::SeamEvent& event) {
    return event.point == gpu::SeamPoint::BridgeWait ? gpu::SeamReply::Skip : gpu::SeamReply::Proceed;
  };
  const Rendering right = render(scene, single(), 1, 4);
  const Rendering wrong = render(scene, sabotaged, 1, 4);
  EXPECT_TRUE(takeMessages() > 0 || right.frames != wrong.frames);
}

}  // namespace
}  // namespace tandem::test
