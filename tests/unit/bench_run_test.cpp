// How a run is measured, on a renderer that renders nothing: which frames are asked for, and how many are under way.
#include "jobs/bench_run.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <set>

#include "jobs/pixel_hash.h"

namespace tandem::jobs {
namespace {

class FakeRenderer : public frame::Renderer {
 public:
  explicit FakeRenderer(uint32_t inFlight) : inFlight_(inFlight) {}
  uint32_t framesInFlight() const override { return inFlight_; }
  void start(const frame::FrameRequest& request) override {
    underWay_.push_back(request);
    started.push_back(request);
    EXPECT_LE(underWay_.size(), inFlight_);
  }
  frame::FrameResult finish() override {
    underWayAtFinish.push_back(underWay_.size());
    frame::FrameResult result;
    result.request = underWay_.front();
    underWay_.pop_front();
    // Odd and even frames on two nodes, as in afr; every serial number is told by its pass.
    const auto node = static_cast<uint32_t>(finished_ % 2);
    result.passes = {{.name = "path_trace", .node = node, .milliseconds = static_cast<double>(finished_)}};
    result.rowsOfNode = {result.request.frame, 0};
    if (result.request.readback) result.linear = pixels_;
    ++finished_;
    return result;
  }
  std::optional<Refusal> changeMode(frame::Mode, std::optional<uint32_t>) override { return std::nullopt; }
  frame::Mode mode() const override { return frame::Mode::Single; }
  frame::RunReport report() override { return {}; }
  std::vector<std::optional<double>> measureCopies() override { return {}; }

  bool idle() const { return underWay_.empty(); }
  std::vector<frame::FrameRequest> started;
  std::vector<size_t> underWayAtFinish;

 private:
  uint32_t inFlight_;
  size_t finished_ = 0;
  std::deque<frame::FrameRequest> underWay_;
  std::array<shared::RadianceTexel, 2> pixels_{};
};

/// Three frames of warm-up, whatever their times.
RunPlan planOf(size_t frames) {
  RunPlan plan;
  plan.frames = frames;
  plan.warmUp = {3, 0.0, 3, 1000.0};
  return plan;
}

TEST(BenchRun, TimesTheFramesAfterTheWarmUpWithAFullPipeline) {
  FakeRenderer renderer(3);
  const BenchRun run = measure(renderer, planOf(5));
  EXPECT_TRUE(run.complete && renderer.idle());
  // Three frames of warm-up, and two that had been started by the time it ended.
  EXPECT_EQ(run.warmUpFrames, 5u);
  ASSERT_EQ(run.frames.size(), 7u) << "and the two that were under way at the end";
  EXPECT_EQ(run.framesAfter(), 2u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(run.frames[i].passes[0].milliseconds, static_cast<double>(5 + i)) << "the frames after the warm-up";
    EXPECT_EQ(run.frames[i].rowsOfNode[0], i + 1) << "timed frames are 1 to 5";
  }
  EXPECT_EQ(run.frameMs.size(), 5u);
  EXPECT_EQ(run.latencyMs.size(), 5u);
  // Full at the end of each of the 10 frames that count; then the two that kept it full end.
  const std::vector<size_t> expected{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1};
  EXPECT_EQ(renderer.underWayAtFinish, expected);
}

TEST(BenchRun, WarmUpSeesTheFramesThatAreTimed) {
  FakeRenderer renderer(1);
  measure(renderer, planOf(2));
  std::vector<uint32_t> numbers;
  for (const frame::FrameRequest& request : renderer.started) numbers.push_back(request.frame);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 2, 1, 1, 2}));
  // Frame 2 is 1/24 s in, open for half a frame around that.
  EXPECT_DOUBLE_EQ(renderer.started.back().centre, 1.0 / 24.0);
  EXPECT_DOUBLE_EQ(renderer.started.back().close - renderer.started.back().open, 0.5 / 24.0);
}

TEST(BenchRun, PicturesStayOnTheDeviceUnlessAskedFor) {
  for (const bool readback : {false, true}) {
    FakeRenderer renderer(2);
    RunPlan plan = planOf(3);
    plan.readback = readback;
    measure(renderer, plan);
    for (const frame::FrameRequest& request : renderer.started) EXPECT_EQ(request.readback, readback);
  }
}

TEST(BenchRun, ARunBySecondsHasAtLeastOneFrame) {
  FakeRenderer renderer(2);
  RunPlan plan = planOf(0);
  plan.seconds = 1e-12;
  EXPECT_EQ(measure(renderer, plan).frameMs.size(), 1u);
  plan.seconds = 0.01;
  const BenchRun run = measure(renderer, plan);
  EXPECT_GE(run.seconds, 0.01);
  EXPECT_LT(run.seconds - 1e-3 * run.frameMs.back(), 0.01) << "it ends with the frame that reaches the time";
}

TEST(BenchRun, WarmUpEndsAtItsLimitWithoutSettling) {
  FakeRenderer renderer(1);
  RunPlan plan = planOf(1);
  plan.warmUp = {3, 1000.0, 7, 1000.0};
  const BenchRun run = measure(renderer, plan);
  EXPECT_EQ(run.warmUpFrames, 7u);
  EXPECT_FALSE(run.settled);
}

TEST(BenchRun, ProofFramesFillThePipelineAndNameTheirNodes) {
  FakeRenderer renderer(4);
  const std::vector<ProofFrame> proofs = prove(renderer, {});
  ASSERT_EQ(proofs.size(), 4u);
  EXPECT_EQ(renderer.underWayAtFinish.front(), 4u);
  std::set<uint32_t> nodes;
  for (const ProofFrame& proof : proofs) {
    EXPECT_TRUE(proof.samePicture(proofs[0]));
    nodes.insert(proof.nodes.begin(), proof.nodes.end());
  }
  EXPECT_EQ(nodes, (std::set<uint32_t>{0, 1}));
  const std::array<shared::RadianceTexel, 2> black{};
  EXPECT_EQ(proofs[0].linearHash, pixelHash(std::as_bytes(std::span(black))));
  for (const frame::FrameRequest& request : renderer.started) {
    EXPECT_EQ(request.frame, kProofFrame);
    EXPECT_TRUE(request.readback);
  }
}

}  // namespace
}  // namespace tandem::jobs
