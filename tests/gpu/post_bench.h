// Runs post passes alone on one device: planes from the host in, planes back to the host.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/commands.h"
#include "graph/graph.h"
#include "graph/recording.h"
#include "support/gpu_fixture.h"

namespace tandem::test {

/// One frame of a graph, pass by pass in the order of declaration, a full barrier after each.
class PostBench : public GpuFixture {
 protected:
  /// A plane with these texels, as a pass that makes it.
  template <class Texel>
  graph::Resource<Texel> input(graph::Graph& graph, const std::string& name, std::vector<Texel> texels) {
    auto out = std::make_shared<graph::Resource<Texel>>();
    return graph.addPass(
        name,
        [&](graph::PassBuilder& pass) {
          return *out = pass.create<Texel>({name, texels.size() * sizeof(Texel), 1});
        },
        [=](graph::Recording& recording) {
          recording.commands().update(recording.buffer(*out), 0, std::as_bytes(std::span(texels)));
        });
  }

  /// Runs the whole graph once and returns what `plane` holds at its end.
  template <class Texel>
  std::vector<Texel> run(const graph::Graph& graph, graph::Resource<Texel> plane) {
    Buffers buffers;
    for (const graph::BufferDesc& desc : graph.resources()) {
      buffers.emplace_back(device(), desc.bytes(), gpu::Memory::Device, desc.name);
    }
    gpu::runOnce(device(), "post bench", [&](gpu::Commands& commands) {
      for (const graph::Pass& pass : graph.passes()) {
        BenchRecording recording(commands, buffers);
        pass.record(recording);
        commands.barrier();
      }
    });
    return download<Texel>(device(), buffers[plane.index], graph.resources()[plane.index].bytes() / sizeof(Texel));
  }

 private:
  using Buffers = std::vector<gpu::Buffer>;

  class BenchRecording : public graph::Recording {
   public:
    BenchRecording(gpu::Commands& commands, const Buffers& buffers) : commands_(commands), buffers_(buffers) {}
    gpu::Commands& commands() override { return commands_; }

   protected:
    const gpu::Buffer& bufferOf(uint32_t resource, bool) const override { return buffers_[resource]; }

   private:
    gpu::Commands& commands_;
    const Buffers& buffers_;
  };
};

}  // namespace tandem::test
