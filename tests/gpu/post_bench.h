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
  /// A plane with these texels in `rows` rows, as a pass that makes it.
  template <class Texel>
  graph::Resource<Texel> input(graph::Graph& graph, const std::string& name, std::vector<Texel> texels,
                               uint32_t rows = 1) {
    auto out = std::make_shared<graph::Resource<Texel>>();
    return graph.addPass(
        name,
        [&](graph::PassBuilder& pass) {
          return *out = pass.create<Texel>({name, texels.size() * sizeof(Texel) / rows, rows});
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
      const Buffers tables = rowTables(commands, graph, buffers);
      for (const graph::Pass& pass : graph.passes()) {
        BenchRecording recording(commands, graph, buffers, tables);
        pass.record(recording);
        commands.barrier();
      }
    });
    return download<Texel>(device(), buffers[plane.index], graph.resources()[plane.index].bytes() / sizeof(Texel));
  }

 private:
  using Buffers = std::vector<gpu::Buffer>;

  Buffers rowTables(gpu::Commands& commands, const graph::Graph& graph, const Buffers& planes) {
    Buffers tables;
    for (size_t i = 0; i < planes.size(); ++i) {
      const graph::BufferDesc& desc = graph.resources()[i];
      std::vector<uint64_t> rows;
      for (uint32_t row = 0; row < desc.rows; ++row) rows.push_back(planes[i].address() + row * desc.rowBytes);
      tables.emplace_back(device(), rows.size() * sizeof(uint64_t), gpu::Memory::Device, desc.name + " rows");
      commands.update(tables.back(), 0, std::as_bytes(std::span(rows)));
    }
    commands.barrier();
    return tables;
  }

  class BenchRecording : public graph::Recording {
   public:
    BenchRecording(gpu::Commands& commands, const graph::Graph& graph, const Buffers& buffers, const Buffers& tables)
        : commands_(commands), graph_(graph), buffers_(buffers), tables_(tables) {}
    gpu::Commands& commands() override { return commands_; }
    graph::RowShare share() const override { throw BrokenPromise("no pass of this bench is shareable"); }

   protected:
    const gpu::Buffer& bufferOf(uint32_t resource, bool) const override { return buffers_[resource]; }
    uint64_t rowTableOf(uint32_t resource) const override { return tables_[resource].address(); }
    std::vector<graph::RowRun> runsOf(uint32_t resource) const override {
      return {{&buffers_[resource], 0, 0, graph_.resources()[resource].rows}};
    }

   private:
    gpu::Commands& commands_;
    const graph::Graph& graph_;
    const Buffers& buffers_;
    const Buffers& tables_;
  };
};

}  // namespace tandem::test
