// The same pixels, whatever the machine: `single`, `pipelined`, `sfr` and `afr` over every link and 2 to 4 nodes, a run
// and its repeat, a frame alone and within a range. Each comparison also proves from the run's own report that both
// ways really ran.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

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
  std::vector<std::vector<uint32_t>> rows;  // per frame: rows that each node traced
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

  static frame::PictureSettings smallPicture() {
    frame::PictureSettings picture;
    picture.size = {117, 66};  // odd sizes find what whole tiles hide
    picture.samples = 2;
    picture.bounces = 2;
    picture.aovs = {frame::Aov::Depth};
    return picture;
  }

  Rendering render(const std::shared_ptr<const scene::Scene>& scene, const frame::MachineSettings& machine,
                   uint32_t first, uint32_t last) {
    auto renderer = frame::Renderer::make(instance(), scene, smallPicture(), machine, {});
    if (!renderer) throw std::runtime_error(renderer.refusal().message);
    return runFrames(**renderer, first, last);
  }

  static Rendering runFrames(frame::Renderer& renderer, uint32_t first, uint32_t last) {
    Rendering result;
    auto finish = [&] {
      const frame::FrameResult done = renderer.finish();
      const uint32_t number = first + static_cast<uint32_t>(result.rows.size());
      EXPECT_EQ(done.request.frame, number) << "frames come out in the order of their start";
      result.frames[done.request.frame] = {bytesOf(done.linear), bytesOf(done.ldr), bytesOf(done.depth)};
      result.rows.push_back(done.rowsOfNode);
    };
    const uint32_t inFlight = renderer.framesInFlight();
    for (uint32_t number = first; number <= last; ++number) {
      if (number - first >= inFlight) finish();
      renderer.start(requestFor(number));
    }
    for (uint32_t left = std::min(inFlight, last - first + 1); left > 0; --left) finish();
    result.report = renderer.report();
    return result;
  }

  static std::set<uint32_t> nodesOf(const Rendering& run, const std::string& pass) {
    std::set<uint32_t> nodes;
    for (const auto& [name, node] : run.report.nodeOfPass) {
      if (name == pass) nodes.insert(node);
    }
    return nodes;
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

uint64_t sum(const std::vector<uint32_t>& rows) { return std::accumulate(rows.begin(), rows.end(), uint64_t{0}); }

TEST_P(LinkedModesTest, SfrEqualsSingle) {
  const auto scene = builtin("spinners");
  const Rendering one = render(scene, single(), 1, 6);
  frame::MachineSettings machine = dual(GetParam());
  machine.mode = frame::Mode::Sfr;
  const Rendering two = render(scene, machine, 1, 6);
  EXPECT_EQ(two.report.mode, "sfr");
  EXPECT_EQ(nodesOf(two, "path_trace"), (std::set<uint32_t>{0, 1}));
  EXPECT_EQ(nodesOf(two, "motion_blur"), (std::set<uint32_t>{1}));
  EXPECT_EQ(nodesOf(two, "tonemap"), (std::set<uint32_t>{1}));
  uint64_t crossing = 0;
  for (const auto& rows : two.rows) {
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(sum(rows), 66u);
    EXPECT_GT(rows[0], 0u);
    EXPECT_GT(rows[1], 0u);
    crossing += rows[0] * 117u * 16u;  // radiance 8, motion 4, depth 4 bytes a pixel
  }
  ASSERT_EQ(two.report.links.size(), 1u);
  EXPECT_EQ(two.report.links[0].carried.kind, topology::linkKindName(GetParam()));
  EXPECT_EQ(two.report.links[0].carried.bytes, two.report.links[0].plannedBytes);
  EXPECT_EQ(two.report.links[0].carried.bytes, crossing) << "only the primary's rows cross";
  EXPECT_EQ(one.frames, two.frames);
}

/// Frames with given shares of the rows, in N nodes.
class SharesTest : public ModesTest, public testing::WithParamInterface<std::vector<double>> {};

TEST_P(SharesTest, SfrWithForcedSharesEqualsSingle) {
  const auto scene = builtin("spinners");
  frame::MachineSettings machine = dual(topology::LinkKind::Auto);
  machine.mode = frame::Mode::Sfr;
  machine.shares = GetParam();
  machine.simulatedNodes = static_cast<uint32_t>(machine.shares.size());
  const Rendering one = render(scene, single(), 1, 4);
  const Rendering many = render(scene, machine, 1, 4);
  EXPECT_EQ(many.report.mode, "sfr");
  const double whole = std::accumulate(machine.shares.begin(), machine.shares.end(), 0.0);
  for (const auto& rows : many.rows) {
    ASSERT_EQ(rows.size(), machine.shares.size());
    EXPECT_EQ(sum(rows), 66u);
    for (size_t node = 0; node < rows.size(); ++node)
      EXPECT_NEAR(rows[node], 66.0 * machine.shares[node] / whole, 8.0) << "node " << node;
  }
  EXPECT_EQ(one.frames, many.frames);
}

INSTANTIATE_TEST_SUITE_P(Shares, SharesTest,
                         testing::Values(std::vector<double>{0, 1}, std::vector<double>{1, 99},
                                         std::vector<double>{37, 63}, std::vector<double>{99, 1},
                                         std::vector<double>{1, 0}, std::vector<double>{1, 1, 1},
                                         std::vector<double>{5, 0, 3}, std::vector<double>{4, 3, 2, 1}));

class AfrTest : public ModesTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(AfrTest, AfrEqualsSingle) {
  const auto scene = builtin("spinners");
  frame::MachineSettings machine = dual(topology::LinkKind::Auto);
  machine.mode = frame::Mode::Afr;
  machine.simulatedNodes = GetParam();
  const Rendering one = render(scene, single(), 1, 9);
  const Rendering many = render(scene, machine, 1, 9);
  EXPECT_EQ(many.report.mode, "afr");
  EXPECT_TRUE(many.report.links.empty()) << "whole frames need no link";
  std::set<uint32_t> used;
  for (const auto& rows : many.rows) {
    EXPECT_EQ(std::ranges::count(rows, 66u), 1) << "one node traces a whole frame";
    EXPECT_EQ(sum(rows), 66u);
    used.insert(static_cast<uint32_t>(std::ranges::find(rows, 66u) - rows.begin()));
  }
  EXPECT_EQ(used.size(), GetParam()) << "every node must have had a frame";
  EXPECT_EQ(one.frames, many.frames);
}

INSTANTIATE_TEST_SUITE_P(Nodes, AfrTest, testing::Values(2u, 3u, 4u));

TEST_F(ModesTest, PipelinedWithMoreNodesThanItNeedsEqualsSingle) {
  const auto scene = builtin("spinners");
  frame::MachineSettings machine = dual(topology::LinkKind::Auto);
  machine.simulatedNodes = 3;
  const Rendering many = render(scene, machine, 1, 3);
  EXPECT_EQ(many.report.mode, "pipelined");
  EXPECT_EQ(render(scene, single(), 1, 3).frames, many.frames);
}

// Pixels must not depend on where history or rings stand when the mode changes.
TEST_F(ModesTest, ChangingTheModeChangesNoPixel) {
  const auto scene = builtin("spinners");
  const Rendering one = render(scene, single(), 1, 2);
  auto renderer = frame::Renderer::make(instance(), scene, smallPicture(), dual(topology::LinkKind::Auto), {});
  ASSERT_TRUE(renderer) << renderer.refusal().message;
  for (const frame::Mode mode :
       {frame::Mode::Sfr, frame::Mode::Afr, frame::Mode::Single, frame::Mode::Pipelined, frame::Mode::Sfr}) {
    ASSERT_FALSE((*renderer)->changeMode(mode));
    EXPECT_EQ((*renderer)->mode(), mode);
    const Rendering again = runFrames(**renderer, 1, 2);
    EXPECT_EQ(again.report.mode, frame::modeName(mode));
    EXPECT_EQ(one.frames, again.frames) << frame::modeName(mode);
    // Who traces has a copy of the scene, and no one else.
    for (const frame::NodeReport& node : again.report.nodes)
      EXPECT_EQ(node.sceneBytes > 0, node.tracer != "none") << "node " << node.node << ", " << frame::modeName(mode);
  }
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

// Each node that traces deforms skins and morph targets for itself.
TEST_F(ModesTest, DeformingMeshesAreTheSameInEveryMode) {
  const auto scene = builtin("skinned?vertices=5000");
  const Rendering one = render(scene, single(), 1, 4);
  EXPECT_NE(one.frames.at(3), one.frames.at(4)) << "the scene does not move: equality proves little";
  for (const frame::Mode mode : {frame::Mode::Pipelined, frame::Mode::Sfr, frame::Mode::Afr}) {
    frame::MachineSettings machine = dual(topology::LinkKind::Auto);
    machine.mode = mode;
    const Rendering two = render(scene, machine, 1, 4);
    EXPECT_EQ(two.report.mode, frame::modeName(mode));
    EXPECT_EQ(one.frames, two.frames) << frame::modeName(mode);
  }
  const Rendering part = render(scene, single(), 3, 4);
  EXPECT_EQ(one.frames.at(3), part.frames.at(3));
  EXPECT_EQ(one.frames.at(4), part.frames.at(4));
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
