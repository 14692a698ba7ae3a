// What `tandem bench` leaves behind: files that agree with each other and with their schema, suites that go on where
// they were left, and reports that find what was planted.
#include "cli/run_program.h"
#include "support/json_schema.h"

namespace tandem::cli {
namespace {

class BenchFiles : public Cli {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"bench", "--simulate-dual", "--bounces", "1"});
    return run(std::move(arguments));
  }
  json document(const std::string& name) const { return json::parse(read(name)); }
  /// What in the file is not as its schema says.
  std::vector<std::string> againstSchema(const std::string& name) const {
    std::ifstream schema(TANDEM_SOURCE_DIR "/assets/bench/schema-2.json");
    return jobs::test::JsonSchema(json::parse(schema)).faults(document(name));
  }
};

size_t linesOf(const std::string& text) { return static_cast<size_t>(std::ranges::count(text, '\n')); }

/// What the report says of a mode's limit.
std::string limitOf(const json& document, const std::string& label) {
  for (const json& mode : document["scenes"][0]["modes"]) {
    if (mode["label"] == label) return mode["summary"]["limit"];
  }
  return "no such mode";
}

TEST_F(BenchFiles, JsonCsvAndHtmlAreOneReport) {
  const ProgramResult result =
      bench({"builtin:cornell", "--size", "64x48", "--samples", "1", "--frames", "5", "--repeat", "2", "--json",
             "f.json", "--csv", "f.csv", "--html", "f.html", "--price-per-hour", "3,6"});
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(againstSchema("f.json"), std::vector<std::string>());
  EXPECT_EQ(linesOf(read("f.csv")), 1u + 4 * 2 * 5) << "a header, and a line a frame of four modes and two runs";
  EXPECT_TRUE(says(read("f.html"), document("f.json")["scenes"][0]["verdict"].get<std::string>().substr(0, 20)));
  for (const json& mode : document("f.json")["scenes"][0]["modes"]) {
    SCOPED_TRACE(mode["label"].get<std::string>());
    const json& summary = mode["summary"];
    double busyAndIdle = 0.0;
    for (const json& node : summary["nodes"]) {
      busyAndIdle = node["busyMs"].get<double>() + node["idleMs"].get<double>();
      const json& idle = node["idle"];
      EXPECT_NEAR(idle["link"].get<double>() + idle["otherNode"].get<double>() + idle["cpu"].get<double>(),
                  node["idleMs"].get<double>(), 1e-6);
      EXPECT_GT(node["copyGbps"].get<double>(), 0.0);
    }
    EXPECT_GT(busyAndIdle, 0.0);
    EXPECT_FALSE(mode["timeline"].empty());
    EXPECT_EQ(summary["links"].empty(), mode["links"].empty());
    EXPECT_GT(summary["framesPerDollar"].get<double>(), 0.0);
    EXPECT_TRUE(summary["onePercentLow"]["byP99"].is_null()) << "too few frames";
    EXPECT_TRUE(summary["power"].is_null()) << "a software device";
  }
  EXPECT_GE(document("f.json")["scenes"][0]["raysPerFrame"], 64 * 48);
}

TEST_F(BenchFiles, PagesAreMadeOfAReportLater) {
  ASSERT_EQ(bench({"builtin:cornell", "--size", "32x24", "--samples", "1", "--frames", "2", "--repeat", "1", "--modes",
                   "single", "--json", "f.json", "--csv", "f.csv", "--html", "f.html"})
                .exit,
            0);
  ASSERT_EQ(run({"bench", "--from", "f.json", "--csv", "g.csv", "--html", "g.html"}).exit, 0);
  EXPECT_EQ(read("g.csv"), read("f.csv"));
  EXPECT_EQ(read("g.html"), read("f.html"));
  write("no.json", "{}");
  expectError(run({"bench", "--from", "no.json", "--html", "h.html"}), 3, {"no.json"});
  expectError(run({"bench", "--from", "f.json"}), 2, {"--from f.json", "--html"});
}

TEST_F(BenchFiles, APlantedSlowPassIsFoundAndNamed) {
  const std::vector<std::string> tiny{"builtin:cornell", "--size", "48x32",   "--samples", "1", "--frames", "6",
                                      "--repeat",        "3",      "--modes", "single"};
  auto before = tiny, after = tiny;
  before.insert(before.end(), {"--json", "before.json"});
  after.insert(after.end(), {"--json", "after.json", "--slow-pass", "motion_blur=60"});
  ASSERT_EQ(bench(before).exit, 0);
  ASSERT_EQ(bench(after).exit, 0);
  const ProgramResult compared = run({"bench", "--compare", "before.json", "after.json"});
  EXPECT_EQ(compared.exit, 1) << compared.out << compared.err;
  EXPECT_TRUE(says(compared.out, "motion_blur")) << compared.out;
  const ProgramResult same = run({"bench", "--compare", "before.json", "before.json"});
  EXPECT_EQ(same.exit, 0) << same.out << same.err;
  expectError(run({"bench", "--compare", "before.json", "nothing.json"}), 3, {"nothing.json"});
  expectError(run({"bench", "--compare", "before.json", "after.json", "--fail-above", "x"}), 2, {"--fail-above x"});
}

TEST_F(BenchFiles, AThrottledLinkIsNamed) {
  ASSERT_EQ(bench({"builtin:cornell", "--size", "96x64", "--samples", "1", "--frames", "6", "--repeat", "2", "--modes",
                   "single,pipelined", "--link-gbps", "0.0005", "--json", "f.json"})
                .exit,
            0);
  const std::string limit = limitOf(document("f.json"), "pipelined");
  EXPECT_TRUE(says(limit, "the link 0 -> 1 is busy")) << limit;
  EXPECT_TRUE(says(limit, "throttled")) << limit;
}

TEST_F(BenchFiles, ANodeWithTooFewRowsIsNamed) {
  ASSERT_EQ(bench({"builtin:cornell", "--size", "192x128", "--samples", "16", "--frames", "3", "--repeat", "2",
                   "--modes", "single,sfr", "--rows-share", "94,6", "--json", "f.json"})
                .exit,
            0);
  const std::string limit = limitOf(document("f.json"), "sfr");
  // Which of the two waits more is the machine's affair where other work shares its cores; unit.BenchVerdict holds the
  // words to the times.
  EXPECT_TRUE(says(limit, "waits")) << limit;
  EXPECT_TRUE(says(limit, "node 0 traces 9")) << limit;
}

TEST_F(BenchFiles, ASuiteGoesOnWhereItWasLeft) {
  fs::create_directory(path("bench"));
  write("bench/mine.json", R"({"name": "mine", "description": "two", "repeats": 2, "frames": 2, "cases": [
    {"name": "first", "scene": "builtin:cornell", "size": [32, 24], "samples": 1, "modes": ["single"]},
    {"name": "second", "scene": "builtin:cornell", "size": [48, 24], "samples": 1, "modes": ["single"]}]})");
  const std::vector<std::string> line{"--suite", "bench/mine.json", "--json", "f.json", "--resume"};
  auto shortLine = line;
  shortLine.insert(shortLine.end(), {"--minutes", "0.0001"});
  ASSERT_EQ(bench(shortLine).exit, 0);
  ASSERT_EQ(document("f.json")["scenes"].size(), 1u) << "at least one scene, and no other is begun";
  EXPECT_EQ(document("f.json")["partial"], true);
  const json first = document("f.json")["scenes"][0];
  ASSERT_EQ(bench(line).exit, 0);
  const json both = document("f.json");
  ASSERT_EQ(both["scenes"].size(), 2u);
  EXPECT_EQ(both["partial"], false);
  EXPECT_EQ(both["scenes"][0], first) << "kept as it was";
  EXPECT_EQ(both["scenes"][1]["name"], "second");
  EXPECT_EQ(both["scenes"][1]["size"], json({48, 24}));
  EXPECT_EQ(againstSchema("f.json"), std::vector<std::string>());
  auto other = line;
  other.insert(other.end(), {"--seed", "9"});
  expectError(bench(other), 2, {"--resume", "/settings/seed", "0", "9"});
  EXPECT_EQ(document("f.json"), both) << "nothing is lost";
}

TEST_F(BenchFiles, ASceneOfASuiteThatCannotBeLoadedDoesNotStopTheRest) {
  fs::create_directory(path("bench"));
  write("bench/mine.json", R"({"name": "mine", "description": "one is missing", "repeats": 1, "frames": 1, "cases": [
    {"name": "gone", "scene": "scenes/gone.glb", "modes": ["single"]},
    {"name": "there", "scene": "builtin:cornell", "size": [32, 24], "samples": 1, "modes": ["single"]}]})");
  EXPECT_EQ(bench({"--suite", "bench/mine.json", "--json", "f.json"}).exit, 5);
  const json scenes = document("f.json")["scenes"];
  EXPECT_TRUE(says(scenes[0]["failure"].get<std::string>(), "gone.glb"));
  EXPECT_EQ(scenes[1]["modes"][0]["runs"].size(), 1u);
  EXPECT_EQ(againstSchema("f.json"), std::vector<std::string>());
  expectError(bench({"--suite", "fast"}), 2, {"fast", "quick"});
}

}  // namespace
}  // namespace tandem::cli
