// From a declared frame and a placement to a plan: done once for each graph, and again when the placement changes.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "graph/plan.h"
#include "support/graph_builders.h"

namespace tandem::graph {
namespace {

struct Frame {
  Graph graph;
  Placement placement;
};

/// A pass that two nodes share by rows, a chain of `steps` passes that read the two before them, alternately on one
/// node and the other, and a sink.
Frame makeChain(uint32_t steps) {
  Frame frame;
  frame.placement.nodes = 2;
  frame.placement.sharedBy["rays"] = {0, 1};
  const auto rays = test::addRows(frame.graph, "rays");
  const auto first = frame.graph.addPass("step0",
                                         [&](PassBuilder& b) {
                                           b.readRows(rays);
                                           return b.create<test::Pixel>(test::small("step0_out"));
                                         },
                                         {});
  std::vector<Resource<test::Pixel>> made{first};
  for (uint32_t i = 1; i < steps; ++i) {
    const std::string name = fmt::format("step{}", i);
    const auto latest = made.end() - std::min<std::ptrdiff_t>(2, std::ssize(made));
    made.push_back(test::addStep(frame.graph, name, {latest, made.end()}));
    frame.placement.nodeOfPass[name] = i % 2;
  }
  test::addSink(frame.graph, "sink", made.back());
  return frame;
}

/// Every pass runs, none that is placed elsewhere than asked for, and each step's output crosses to the next one's
/// node.
void checkPlan(const Frame& frame, const Plan& plan, uint32_t steps) {
  const auto& passes = frame.graph.passes();
  TANDEM_CHECK(passes.size() == steps + 2 && plan.nodesOfPass.size() == passes.size(), "{} passes", passes.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    const auto placed = frame.placement.nodeOfPass.find(passes[i].name);
    std::vector<uint32_t> nodes{placed == frame.placement.nodeOfPass.end() ? 0 : placed->second};
    if (passes[i].name == "rays") nodes = {0, 1};
    TANDEM_CHECK(plan.nodesOfPass[i] == nodes, "{} is on the wrong node", passes[i].name);
  }
  TANDEM_CHECK(plan.shares() && plan.transfers.size() >= steps - 1, "{} transfers", plan.transfers.size());
}

void graphCompile(benchmark::State& state) {
  const auto steps = static_cast<uint32_t>(state.range(0));
  const Frame frame = makeChain(steps);
  checkPlan(frame, *compile(frame.graph, frame.placement), steps);
  for ([[maybe_unused]] auto round : state) {
    Expected<Plan> plan = compile(frame.graph, frame.placement);
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(frame.graph.passes().size()));
}
BENCHMARK(graphCompile)
    ->Name("graph_compile/two_nodes")
    ->ArgName("steps")
    ->Arg(8)
    ->Arg(64)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tandem::graph
