// `tandem bench`: that every mode really ran, that the report adds up, and the ways in which it ends early.
#include <map>
#include <set>

#include "cli/run_program.h"

namespace tandem::cli {
namespace {

class Bench : public Cli {
 protected:
  /// Two runs of four tiny frames for each mode, with more arguments.
  ProgramResult bench(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    const std::vector<std::string> tiny{"bench", "--size",   "64x48", "--samples", "1", "--bounces",
                                        "1",     "--repeat", "2",     "--json",    "f", "--simulate-dual"};
    arguments.insert(arguments.begin(), tiny.begin(), tiny.end());
    return run(std::move(arguments), options);
  }
  json report() const { return json::parse(read("f")); }
};

std::set<uint32_t> nodesOf(const json& mode, const std::string& pass) {
  std::set<uint32_t> nodes;
  for (const json& entry : mode["summary"]["passes"]) {
    if (entry["name"] == pass) nodes.insert(entry["node"].get<uint32_t>());
  }
  return nodes;
}

double sumOf(const json& values) {
  double sum = 0.0;
  for (const json& value : values) sum += value.get<double>();
  return sum;
}

/// The frame times of a mode are its seconds, and the frame rate follows from them.
void expectTimesAddUp(const json& mode, size_t frames, size_t repeats) {
  ASSERT_EQ(mode["runs"].size(), repeats);
  double seconds = 0.0;
  for (size_t i = 0; i < repeats; ++i) {
    const json& one = mode["runs"][i];
    EXPECT_EQ(one["repeat"], i + 1);
    EXPECT_EQ(one["complete"], true);
    EXPECT_GE(one["warmUp"]["frames"], 2);
    ASSERT_EQ(one["frameMs"].size(), frames);
    EXPECT_EQ(one["latencyMs"].size(), frames);
    EXPECT_NEAR(one["seconds"].get<double>(), 1e-3 * sumOf(one["frameMs"]), 1e-9);
    seconds += one["seconds"].get<double>();
  }
  EXPECT_NEAR(mode["summary"]["fps"].get<double>(), static_cast<double>(frames * repeats) / seconds, 1e-6);
  EXPECT_EQ(mode["summary"]["frameMs"]["count"], frames * repeats);
  EXPECT_TRUE(mode["summary"]["frameMs"]["p99"].is_null()) << "too few frames";
}

/// All rows of every frame were traced, by whom `nodes` says, and links carried what was planned.
void expectRowsAndBytes(const json& mode, uint32_t height, const std::set<uint32_t>& tracing) {
  std::set<uint32_t> nodes;
  for (const json& one : mode["runs"]) {
    for (const json& rows : one["rowsOfNode"]) {
      EXPECT_EQ(sumOf(rows), height);
      for (uint32_t node = 0; node < rows.size(); ++node) {
        if (rows[node] > 0) nodes.insert(node);
      }
    }
  }
  EXPECT_TRUE(std::ranges::includes(tracing, nodes));
  for (const json& link : mode["links"]) {
    EXPECT_EQ(link["bytes"], link["plannedBytes"]);
    EXPECT_GT(link["transfers"], 0);
  }
}

/// What each mode is: where rays and post run.
void expectRanAs(const json& mode) {
  struct Shape {
    std::set<uint32_t> rays, post;
    size_t links;
  };
  const std::map<std::string, Shape> shapes = {
      {"single", {{0}, {0}, 0}}, {"pipelined", {{0}, {1}, 1}}, {"sfr", {{0, 1}, {1}, 1}}, {"afr", {{0, 1}, {0, 1}, 0}}};
  const std::string name = mode["mode"];
  SCOPED_TRACE(name);
  EXPECT_TRUE(mode["failure"].is_null());
  EXPECT_EQ(mode["ranAs"], name);
  const Shape& shape = shapes.at(name);
  EXPECT_EQ(mode["nodes"].size(), name == "single" ? 1u : 2u);
  EXPECT_EQ(mode["links"].size(), shape.links);
  std::set<uint32_t> proven;
  for (const json& proof : mode["proofs"]) proven.insert(proof["nodes"].begin(), proof["nodes"].end());
  if (name == "afr") {
    // So few frames may all be one node's; the proof frames are not.
    EXPECT_EQ(proven, (std::set<uint32_t>{0, 1}));
  } else {
    EXPECT_EQ(nodesOf(mode, "path_trace"), shape.rays);
    EXPECT_EQ(nodesOf(mode, "tonemap"), shape.post);
  }
  expectTimesAddUp(mode, 4, 2);
  expectRowsAndBytes(mode, 48, shape.rays);
}

TEST_F(Bench, EveryModeRunsAndMakesTheSamePicture) {
  const ProgramResult result = bench({"builtin:cornell", "--frames", "4", "--modes", "single,pipelined,sfr,afr"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_TRUE(says(result.out, "pictures are equal in all modes")) << result.out;
  const json document = report();
  EXPECT_EQ(document["schema"], 2);
  EXPECT_EQ(document["partial"], false);
  const json& scene = document["scenes"].at(0);
  EXPECT_EQ(scene["picturesEqual"], true);
  ASSERT_EQ(scene["modes"].size(), 4u);
  std::set<std::string> linear, ldr;
  for (const json& mode : scene["modes"]) {
    expectRanAs(mode);
    ASSERT_FALSE(mode["proofs"].empty());
    for (const json& proof : mode["proofs"]) {
      linear.insert(proof["linearHash"].get<std::string>());
      ldr.insert(proof["ldrHash"].get<std::string>());
    }
    const double ratio = mode["summary"]["fps"].get<double>() / scene["modes"][0]["summary"]["fps"].get<double>();
    EXPECT_NEAR(mode["speedup"]["value"].get<double>(), ratio, 1e-9);
  }
  EXPECT_EQ(linear.size(), 1u);
  EXPECT_EQ(ldr.size(), 1u);
}

TEST_F(Bench, TheProofIsTheFrameThatCaptureWrites) {
  ASSERT_EQ(bench({"builtin:spinners", "--frames", "1", "--modes", "single"}).exit, 0);
  const ProgramResult captured = run({"capture", "builtin:spinners", "--size", "64x48", "--samples", "1", "--bounces",
                                      "1", "--frames", "12", "-o", "a.png", "--mode", "single", "--json"});
  ASSERT_EQ(captured.exit, 0) << captured.err;
  const json frame = json::parse(captured.out)["frames"][0];
  const json proof = report()["scenes"][0]["modes"][0]["proofs"][0];
  EXPECT_EQ(proof["frame"], 12);
  EXPECT_EQ(proof["linearHash"], frame["hash"]["linear"]);
  EXPECT_EQ(proof["ldrHash"], frame["hash"]["ldr"]);
}

TEST_F(Bench, TheReportSaysWhatWasRunOnWhat) {
  ASSERT_EQ(bench({"builtin:cornell", "--seconds", "0.05", "--modes", "pipelined", "--readback", "on", "--seed", "7",
                   "--link", "host-copy"})
                .exit,
            0);
  const json document = report();
  EXPECT_TRUE(says(document["commandLine"].get<std::string>(), " bench --size 64x48 ")) << document["commandLine"];
  EXPECT_EQ(document["settings"]["readback"], true);
  EXPECT_EQ(document["settings"]["seed"], 7);
  EXPECT_EQ(document["settings"]["seconds"], 0.05);
  EXPECT_TRUE(document["settings"]["frames"].is_null());
  EXPECT_FALSE(document["machine"]["adapters"].empty());
  EXPECT_TRUE(says(document["machine"]["kernel"].get<std::string>(), "Linux"));
  EXPECT_EQ(document["date"].get<std::string>().size(), std::string("2026-12-01T00:00:00Z").size());
  const json& mode = document["scenes"][0]["modes"][0];
  EXPECT_TRUE(mode["speedup"].is_null()) << "single was not measured";
  EXPECT_EQ(mode["links"][0]["kind"], "host-copy");
  EXPECT_TRUE(document["scenes"][0]["picturesEqual"].is_null());
  for (const json& one : mode["runs"]) EXPECT_GE(one["seconds"], 0.05);
}

TEST_F(Bench, ASceneThatCannotBeLoadedDoesNotStopTheOthers) {
  const ProgramResult result = bench({"missing.glb", "builtin:cornell", "--frames", "1", "--modes", "single"});
  EXPECT_EQ(result.exit, 5);
  EXPECT_TRUE(says(result.err, "missing.glb")) << result.err;
  const json document = report();
  ASSERT_EQ(document["scenes"].size(), 2u);
  EXPECT_FALSE(document["scenes"][0]["failure"].is_null());
  EXPECT_EQ(document["scenes"][1]["modes"][0]["runs"].size(), 2u);
}

TEST_F(Bench, AloneItIsTheError) {
  expectError(run({"bench", "missing.glb", "--modes", "single"}), 3, {"missing.glb"});
  EXPECT_TRUE(allFiles().empty());
}

TEST_F(Bench, APassThatIsNotThereIsRefusedWithThoseThatAre) {
  const ProgramResult result = bench({"builtin:cornell", "--modes", "single", "--slow-pass", "nothing=1"});
  EXPECT_EQ(result.exit, 2);
  EXPECT_TRUE(says(result.err, "no pass is called 'nothing': path_trace, ")) << result.err;
}

TEST_F(Bench, InterruptedItReportsWhatItHas) {
  const RunOptions options{.meanwhile = [](pid_t child) {
    // Once it has its handlers; the frames asked for would take hours.
    waitFor([&] {
      std::ifstream status("/proc/" + std::to_string(child) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
      }
      return false;
    });
    std::this_thread::sleep_for(std::chrono::seconds(3));
    ::kill(child, SIGINT);
  }};
  const ProgramResult result = bench({"builtin:cornell", "--frames", "1000000", "--modes", "single,sfr"}, options);
  EXPECT_EQ(result.exit, 130) << result.err;
  EXPECT_FALSE(result.killed);
  EXPECT_TRUE(says(result.err, "interrupted")) << result.err;
  EXPECT_TRUE(says(result.out, "interrupted")) << result.out;
  const json document = report();
  EXPECT_EQ(document["partial"], true);
  EXPECT_EQ(document["interruptedBy"], SIGINT);
  for (const json& one : document["scenes"][0]["modes"][0]["runs"]) {
    EXPECT_EQ(one["complete"], false);
    EXPECT_GT(one["frameMs"].size(), 0u);
  }
}

TEST_F(Bench, NoFrameIsRenderedForAReportThatCannotBeWritten) {
  fs::create_directory(path("folder"));
  expectError(run({"bench", "builtin:cornell", "--json", "folder"}), 2, {"folder"});
}

TEST_F(Bench, ValuesThatCannotBeMeant) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases = {
      {{"--modes", "dual"}, {"--modes dual", "single, pipelined, sfr, afr"}},
      {{"--modes", "single,single"}, {"--modes single,single", "twice"}},
      {{"--modes", "single,"}, {"--modes"}},
      {{"--modes", "auto"}, {"--modes auto"}},
      {{"--frames", "0"}, {"--frames 0", "from 1"}},
      {{"--frames", "1-4"}, {"--frames 1-4", "whole number"}},
      {{"--seconds", "0"}, {"--seconds 0", "above 0"}},
      {{"--seconds", "nan"}, {"--seconds nan"}},
      {{"--frames", "4", "--seconds", "1"}, {"--frames and --seconds"}},
      {{"--repeat", "0"}, {"--repeat 0", "from 1"}},
      {{"--readback", "yes"}, {"--readback yes", "on, off"}},
      {{"--size", "64"}, {"--size 64", "WIDTHxHEIGHT"}},
      {{"--samples", ""}, {"--samples", "empty"}},
      {{"--link", "wire"}, {"--link wire", "host-import"}},
      {{"--gpus", "nothing like it"}, {"--gpus nothing like it", "no such GPU"}},
      {{"--topology", "single", "--modes", "single,pipelined"}, {"--topology single", "--modes single,pipelined"}},
      {{"-v", "-q"}, {"-v and -q"}},
      {{"--sampling", "maybe"}, {"--sampling maybe", "on, off"}},
      {{"--minutes", "0"}, {"--minutes 0", "above 0"}},
      {{"--price-per-hour", "3"}, {"--price-per-hour 3", "two prices"}},
      {{"--price-per-hour", "3,0"}, {"--price-per-hour 3,0", "above 0"}},
      {{"--slow-pass", "path_trace"}, {"--slow-pass path_trace", "milliseconds"}},
      {{"--suite", "quick"}, {"--suite", "builtin:cornell"}},
      {{"--overwrite"}, {"--overwrite", "tandem bench --help"}},
  };
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> line{"bench", "builtin:cornell", "--json", "f"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    SCOPED_TRACE(arguments[0] + " " + (arguments.size() > 1 ? arguments[1] : ""));
    expectError(run(line), 2, words);
    EXPECT_TRUE(allFiles().empty());
  }
}

TEST_F(Bench, HelpNamesEveryOption) {
  const ProgramResult result = run({"bench", "--help"});
  EXPECT_EQ(result.exit, 0);
  for (const char* option :
       {"--modes",   "--frames",  "--seconds",       "--repeat",      "--readback",      "--json",    "--size",
        "--samples", "--bounces", "--seed",          "--environment", "--exposure",      "--tonemap", "--motion-blur",
        "--shutter", "--gpus",    "--simulate-dual", "--topology",    "--link",          "--tracer",  "--validation",
        "--verbose", "--quiet",   "--suite",         "--csv",         "--html",          "--compare", "--fail-above",
        "--resume",  "--minutes", "--sampling",      "--slow-pass",   "--price-per-hour"}) {
    EXPECT_TRUE(says(result.out, option)) << option;
  }
}

}  // namespace
}  // namespace tandem::cli
