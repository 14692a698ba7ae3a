// What passes may declare, and what is a broken promise.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "base/check.h"
#include "support/graph_builders.h"

using namespace tandem;
using namespace tandem::graph;
using namespace tandem::graph::test;

namespace {

struct Radiance {};
struct Depth {};

template <class From, class To>
constexpr bool kPasses = std::is_convertible_v<Resource<From>, Resource<To>>;
static_assert(!kPasses<Radiance, Depth> && !kPasses<Depth, Radiance> && kPasses<Depth, Depth>,
              "handles are typed by what they hold");
static_assert(!std::is_convertible_v<uint32_t, Resource<Depth>>, "a number is no handle");

template <class Declare>
void expectBroken(Declare declare, std::initializer_list<std::string> words) {
  try {
    declare();
    ADD_FAILURE() << "no promise was broken";
  } catch (const BrokenPromise& broken) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(broken.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << broken.what();
    }
  }
}

TEST(Graph, AWriteMakesANewVersionAndPassesKeepWhatTheyDeclared) {
  Graph graph;
  const auto first = addStep(graph, "make", {});
  const auto second = graph.addPass("change", [&](PassBuilder& b) { return b.write(first); }, {});
  EXPECT_EQ(second.index, first.index);
  EXPECT_EQ(second.version, first.version + 1);
  EXPECT_EQ(graph.version(first.index), second.version);
  EXPECT_EQ(graph.passes()[1].writes, (std::vector<Access>{{first.index, 1}}));
  EXPECT_TRUE(graph.passes()[1].reads.empty());
  EXPECT_FALSE(graph.passes()[1].temporal());
}

TEST(Graph, ReadingTwiceIsReadingOnce) {
  Graph graph;
  const auto made = addStep(graph, "make", {});
  addStep(graph, "use", {made, made});
  EXPECT_EQ(graph.passes()[1].reads.size(), 1u);
}

TEST(Graph, MisuseNamesPassAndResource) {
  Graph graph;
  const auto old = addStep(graph, "make", {});
  const auto now = graph.addPass("change", [&](PassBuilder& b) { return b.write(old); }, {});
  const Resource<Pixel> never;
  const auto declare = [&graph](auto body) {
    return [&graph, body] { graph.addPass("bad", [&](PassBuilder& b) { body(b); }, {}); };
  };
  expectBroken(declare([&](PassBuilder& b) { b.read(old); }), {"'bad'", "'make_out'", "version 0"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(old); }), {"'bad'", "'make_out'", "version 0"});
  expectBroken(declare([&](PassBuilder& b) { b.read(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { b.readPrevious(never); }), {"'bad'", "no pass has created"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.create<Pixel>({"nothing", 0, 4}); }), {"'bad'", "'nothing'"});
  expectBroken(declare([&](PassBuilder& b) { b.read(b.create<Pixel>(small("own"))); }), {"'bad'", "'own'"});
  expectBroken([&] { addStep(graph, "make", {}); }, {"'make'", "two passes"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(b.write(now)); }), {"'bad'", "'make_out'", "twice"});
}

TEST(Graph, WhatAShareablePassMakesIsReadByRowsOnly) {
  Graph graph;
  const auto rows = addRows(graph, "trace");
  const auto whole = addStep(graph, "make", {});
  const auto declare = [&graph](auto body) {
    return [&graph, body] { graph.addPass("bad", [&](PassBuilder& b) { body(b); }, {}); };
  };
  expectBroken(declare([&](PassBuilder& b) { b.read(rows); }), {"'bad'", "'trace_out'", "readRows"});
  expectBroken(declare([&](PassBuilder& b) { (void)b.write(rows); }), {"'bad'", "'trace_out'"});
  expectBroken(declare([&](PassBuilder& b) { b.readPrevious(rows); }), {"'bad'", "'trace_out'"});
  EXPECT_EQ(graph.passes().size(), 2u) << "none of them is in the frame";

  // By rows anything may be read, and what is read by rows is known.
  const auto reader = [&](PassBuilder& b) { b.readRows(rows), b.readRows(whole), b.sideEffect(); };
  graph.addPass("reader", reader, {});
  EXPECT_EQ(graph.passes()[2].reads, (std::vector<Access>{{rows.index, 0}, {whole.index, 0}}));
  EXPECT_EQ(graph.passes()[2].rowReads, (std::vector<uint32_t>{rows.index, whole.index}));
  EXPECT_EQ(graph.sharedMaker(rows.index), 0u);
  EXPECT_EQ(graph.sharedMaker(whole.index), UINT32_MAX);
}

TEST(Graph, ReadingByRowsKeepsTheRulesOfReading) {
  Graph graph;
  const auto old = addStep(graph, "make", {});
  (void)graph.addPass("change", [&](PassBuilder& b) { return b.write(old); }, {});
  const auto stale = [&](PassBuilder& b) { b.readRows(old); };
  const auto own = [](PassBuilder& b) { b.readRows(b.create<Pixel>(small("own"))); };
  const auto never = [](PassBuilder& b) { b.readRows(Resource<Pixel>{}); };
  expectBroken([&] { graph.addPass("bad", stale, {}); }, {"'bad'", "'make_out'", "version 0"});
  expectBroken([&] { graph.addPass("bad", own, {}); }, {"'bad'", "'own'"});
  expectBroken([&] { graph.addPass("bad", never, {}); }, {"'bad'", "no pass has created"});
}

TEST(Graph, AShareablePassMakesNewPlanesOfOneHeight) {
  Graph graph;
  const auto whole = addStep(graph, "make", {});
  const auto differing = [](PassBuilder& b) {
    (void)b.create<Pixel>({"tall", 16, 100});
    (void)b.create<Pixel>({"short", 16, 50});
    b.shareable();
  };
  const auto changing = [&](PassBuilder& b) {
    b.shareable();
    (void)b.write(whole);
  };
  const auto remembering = [](PassBuilder& b) {
    b.readPrevious(b.create<Pixel>({"remembered", 16, 100}));
    b.shareable();
  };
  const auto nothing = [](PassBuilder& b) { b.shareable(), b.sideEffect(); };
  expectBroken([&] { graph.addPass("bad", differing, {}); }, {"'bad'", "'short'", "50", "100"});
  expectBroken([&] { graph.addPass("bad", nothing, {}); }, {"'bad'", "makes nothing"});
  expectBroken([&] { graph.addPass("bad", remembering, {}); }, {"'bad'", "'remembered'", "previous"});
  expectBroken([&] { graph.addPass("bad", changing, {}); }, {"'bad'", "'make_out'", "new"});
}

}  // namespace
