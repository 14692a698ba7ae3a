#include "output/readback.h"

#include <algorithm>
#include <cstring>

#include "gpu/post_bench.h"
#include "shaders/shared/planes.h"

namespace tandem::output {
namespace {

using shared::LdrTexel;

class ReadbackTest : public test::PostBench {
 protected:
  /// A plane that holds what `texels` holds at the time of recording.
  graph::Resource<LdrTexel> changingInput(graph::Graph& graph, std::shared_ptr<const std::vector<LdrTexel>> texels) {
    auto out = std::make_shared<graph::Resource<LdrTexel>>();
    return graph.addPass(
        "ldr",
        [&](graph::PassBuilder& pass) {
          return *out = pass.create<LdrTexel>({"ldr", texels->size() * sizeof(LdrTexel), 1});
        },
        [=](graph::Recording& recording) {
          recording.commands().update(recording.buffer(*out), 0, std::as_bytes(std::span(*texels)));
        });
  }
};

TEST_F(ReadbackTest, EachSlotKeepsWhatWasRecordedIntoIt) {
  Readback readback(3);
  graph::Graph graph;
  auto texels = std::make_shared<std::vector<LdrTexel>>(900);
  const auto plane = changingInput(graph, texels);
  readback.addTo(graph, "readback", plane);
  EXPECT_THROW(readback.bytes(0), BrokenPromise) << "nothing recorded yet";
  EXPECT_THROW(readback.setSlot(3), BrokenPromise);
  const auto holds = [&](uint32_t slot, uint32_t value) {
    const std::vector<LdrTexel> wanted(900, {value});
    return readback.bytes(slot).size() == 3600 && std::memcmp(readback.bytes(slot).data(), wanted.data(), 3600) == 0;
  };
  for (uint32_t frame = 0; frame < 5; ++frame) {
    std::fill(texels->begin(), texels->end(), LdrTexel{frame + 7});
    readback.setSlot(frame % 3);
    run(graph, plane);
    EXPECT_TRUE(holds(frame % 3, frame + 7)) << frame;
  }
  EXPECT_TRUE(holds(2, 9)) << "of frame 2, two frames later";
}

TEST_F(ReadbackTest, APassThatIsReadBackIsNeverCulled) {
  Readback readback(1);
  graph::Graph graph;
  readback.addTo(graph, "readback", input(graph, "ldr", std::vector<LdrTexel>(4)));
  EXPECT_TRUE(graph.passes().back().sideEffect);
  EXPECT_EQ(graph.passes().back().name, "readback");
}

}  // namespace
}  // namespace tandem::output
