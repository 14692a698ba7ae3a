// Small passes for tests of the graph and its compiler.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace tandem::graph::test {

struct Pixel {};

inline BufferDesc small(std::string name) { return {std::move(name), 16, 1}; }

/// Adds a pass that creates one small resource of its own name + "_out" after reading `reads`.
inline Resource<Pixel> addStep(Graph& graph, const std::string& name, std::vector<Resource<Pixel>> reads) {
  return graph.addPass(name,
                       [&](PassBuilder& b) {
                         for (Resource<Pixel> handle : reads) b.read(handle);
                         return b.create<Pixel>(small(name + "_out"));
                       },
                       {});
}

/// Adds a shareable pass that creates one plane of its own name + "_out".
inline Resource<Pixel> addRows(Graph& graph, const std::string& name) {
  return graph.addPass(name,
                       [&](PassBuilder& b) {
                         b.shareable();
                         return b.create<Pixel>({name + "_out", 16, 100});
                       },
                       {});
}

/// Adds a pass that reads `input`, with a side effect.
inline void addSink(Graph& graph, const std::string& name, Resource<Pixel> input) {
  const auto declare = [&](PassBuilder& b) {
    b.readRows(input);
    b.sideEffect();
  };
  graph.addPass(name, declare, {});
}

}  // namespace tandem::graph::test
